"""Making IR: the builder types, folds, shares and hoists each op as it is emitted.

One idea: there is one way to make an op, `Builder.emit`. The tracer calls it while it runs a
kernel, passes call it when they rebuild a function, and expansions call it through `Expr`; so none
of them can make an op that is not typed, that is already known, or that stands deeper in a loop
than its operands need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..errors import CompileError, CompileTypeError, Where, user_stack
from .fold import fold
from .nodes import Const, Function, Op, Operand, Param, Region, Value
from .ops import REQUIRED, TABLE, Effect, Mismatch, RegionKind, Row
from .regions import YIELD
from .types import Type


@dataclass
class Scope:
    """A region under construction; `shared` finds the op that already computes an expression."""

    kind: RegionKind
    params: tuple[Param, ...]
    ops: list[Op] = field(default_factory=list)
    shared: dict[Any, Op] = field(default_factory=dict)


class Builder:
    """Emits ops into the innermost open region.

    `where` is the source of the ops to come; None reads it off the Python stack (tracing).
    """

    eager = False
    """Whether values are known at once (the interpreter's eager driver) rather than when the kernel
    runs."""

    def __init__(self, where: Where | None = None) -> None:
        self.where = where
        self.scopes: list[Scope] = [Scope(RegionKind.BRANCH, ())]
        self.depth: dict[Value | Param, int] = {}

    # -- regions

    def open(self, kind: RegionKind, params: Sequence[Param] = ()) -> None:
        """Opens a region inside the current one; ops go there until it is closed."""
        self.scopes.append(Scope(kind, tuple(params)))
        for param in params:
            self.depth[param] = len(self.scopes) - 1

    def close(self, results: Sequence[Operand] = ()) -> Region:
        """Ends the innermost region with a yield of the results."""
        scope = self.scopes.pop()
        end = Op(YIELD, tuple(results), where=self.source())
        return Region(scope.params, (*scope.ops, end))

    def region(
        self, kind: RegionKind, params: Sequence[Param], body: Callable[..., Sequence[Operand]]
    ) -> Region:
        """The region that `body`, called with the params, emits and returns the results of."""
        depth = len(self.scopes)
        self.open(kind, params)
        try:
            return self.close(body(*params))
        finally:
            del self.scopes[depth:]

    def function(self, name: str, params: Sequence[Param]) -> Function:
        """The function of all that was emitted at top level."""
        assert len(self.scopes) == 1, "a region is still open"
        return Function(name, tuple(params), Region((), (*self.scopes[0].ops, Op(YIELD, ()))))

    # -- ops

    def source(self) -> Where:
        return user_stack() if self.where is None else self.where

    def emit(
        self,
        name: str,
        operands: Sequence[Operand],
        attrs: dict[str, Any] | None = None,
        regions: tuple[Region, ...] = (),
    ) -> tuple[Operand, ...]:
        """The results of an op, existing, folded or new.

        Raises CompileTypeError, at the kernel's line, where the row's type rule refuses the
        operands.
        """
        row = TABLE[name]
        full = {**row.attrs, **(attrs or {})}
        assert full.keys() == row.attrs.keys(), (
            f"{name}: unknown attributes {full.keys() - row.attrs.keys()}"
        )
        assert REQUIRED not in full.values(), f"{name}: attribute missing of {sorted(full)}"
        try:
            types = row.rule([None if v is None else v.ty for v in operands], full, regions)
        except Mismatch as mismatch:
            raise CompileTypeError(f"{row.symbol or name}: {mismatch}", self.where) from None
        known = fold(row, operands, full, types[0] if types else None)
        if known is not None:
            return (known,)
        self.permit(row)
        return self._place(row, tuple(operands), types, full, regions).results

    def permit(self, row: Row) -> None:
        """Raises CompileTypeError for an op that has an effect, inside a function of elements."""
        if row.effect is not Effect.PURE and any(
            s.kind is RegionKind.FUNCTION for s in self.scopes
        ):
            raise CompileTypeError(
                f"`{row.name}` cannot stand in a function of single elements, which is called in no"
                " fixed order; use it before or after, on blocks",
                self.where,
            )

    def adopt(self, op: Op) -> tuple[Operand, ...]:
        """The results of an op that exists, shared and placed as if it were emitted now."""
        return self._share(op.row, op.operands, op.attrs, lambda: op).results

    def _place(
        self,
        row: Row,
        operands: tuple[Operand, ...],
        types: tuple[Type, ...],
        attrs: dict[str, Any],
        regions: tuple[Region, ...],
    ) -> Op:
        """The op, new unless it can be shared; defaulted attributes are not stored."""
        given = {key: value for key, value in attrs.items() if value != row.attrs[key]}
        return self._share(
            row,
            operands,
            given,
            lambda: Op(row, operands, types, given, regions, self.source()),
        )

    def _share(
        self,
        row: Row,
        operands: tuple[Operand, ...],
        given: Mapping[str, Any],
        make: Callable[[], Op],
    ) -> Op:
        """Shares a pure op with an equal one in reach, else appends it as far out as its operands
        allow."""
        pure = row.effect is Effect.PURE and not row.region_names
        level = self._level(operands) if pure else len(self.scopes) - 1
        key = (
            row.name,
            *(v.key if isinstance(v, Const) else v for v in operands),
            *sorted(given.items()),
        )
        if pure:
            for scope in self.scopes[: level + 1]:
                if key in scope.shared:
                    return scope.shared[key]
        op = make()
        self.scopes[level].ops.append(op)
        if pure:
            self.scopes[level].shared[key] = op
        self.depth.update((value, level) for value in op.results)
        return op

    def _level(self, operands: tuple[Operand, ...]) -> int:
        """The outermost open region for an op on these operands, leaving only loops."""
        inner = max(
            (self.depth.get(v, 0) for v in operands if isinstance(v, (Value, Param))), default=0
        )
        level = len(self.scopes) - 1
        while level > inner and self.scopes[level].kind is RegionKind.LOOP:
            level -= 1
        return level

    def known(self, operand: Operand) -> bool | int | float | None:
        """The value of a scalar that is known while tracing; None where only the run will tell."""
        return operand.value if isinstance(operand, Const) else None


_builder: ContextVar[Builder | None] = ContextVar("builder", default=None)


def current() -> Builder:
    """The builder in use. Raises CompileError outside a kernel."""
    builder = _builder.get()
    if builder is None:
        raise CompileError(
            "this operation works only inside a kernel: call it from a @jit function"
        )
    return builder


def tracing() -> bool:
    """Whether a builder is in use, that is, whether kernel code is running."""
    return _builder.get() is not None


@contextmanager
def using(builder: Builder) -> Iterator[Builder]:
    """Makes a builder the current one for the extent of a `with`."""
    token = _builder.set(builder)
    try:
        yield builder
    finally:
        _builder.reset(token)


def emit(name: str, *operands: Operand, **attrs: Any) -> Operand:
    """Emits an op of one result with the current builder."""
    return current().emit(name, operands, attrs)[0]
