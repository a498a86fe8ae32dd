"""Making IR: each op is typed, folded, value-numbered and hoisted as it is emitted.

There is one way to make an op: a `Builder`. The tracer calls it while it runs a kernel, passes call
it when they rebuild a function, and expansions call it through `Expr`; so none of them can make an
op that is not typed, that repeats an available one (common-subexpression elimination by value
numbering, as in Cocke & Schwartz, 1970), or that stands deeper in a loop than its operands need
(loop-invariant code motion).
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
from .ops import REQUIRED, TABLE, Effect, Mismatch, RegionKind, Row, Types
from .regions import YIELD

Key = tuple[Any, ...]


@dataclass
class Scope:
    """A region under construction: its ops so far, and the value numbers of those that later ops
    may reuse."""

    kind: RegionKind
    params: tuple[Param, ...]
    pure: bool
    """Whether it is, or is inside, the function of a reduction, scan or map."""
    ops: list[Op] = field(default_factory=list)
    available: dict[Key, Op] = field(default_factory=dict)


class Builder:
    """Emits ops into the innermost open region.

    The open regions have levels: 0 is the function's body. `where` is the source of the ops to
    come; None reads it off the Python stack (tracing).
    """

    eager = False
    """Whether values are known at once (the interpreter's eager driver) rather than when the kernel
    runs."""
    program_id: tuple[int, int, int] | None = None
    """The program that runs, where values are known at once."""

    def value_text(self, operand: Operand, hexadecimal: bool = False) -> str:
        """The operand as a print in a kernel shows it: its type, where its value is not known."""
        assert operand is not None
        return str(operand.ty)

    def __init__(self, where: Where | None = None) -> None:
        self.where = where
        self._scopes: list[Scope] = [Scope(RegionKind.BRANCH, (), False)]
        self._level_of: dict[Value | Param, int] = {}
        self._available: dict[Key, Op] = {}
        """The ops of all open regions by value number."""

    # -- regions

    @property
    def level(self) -> int:
        """The level of the innermost open region."""
        return len(self._scopes) - 1

    @property
    def ops(self) -> Sequence[Op]:
        """The ops of the innermost open region so far."""
        return self._scopes[-1].ops

    def kind(self, level: int) -> RegionKind:
        """The kind of the open region of that level."""
        return self._scopes[level].kind

    def level_of(self, operands: Sequence[Operand]) -> int:
        """The outermost level at which all these values are defined."""
        levels = self._level_of
        return max((levels.get(v, 0) for v in operands if isinstance(v, (Value, Param))), default=0)

    def open(self, kind: RegionKind, params: Sequence[Param] = ()) -> None:
        """Opens a region inside the current one; ops go there until it ends, by `close`, `discard`,
        `commit` or `set_aside`."""
        pure = self._scopes[-1].pure or kind is RegionKind.FUNCTION
        self._scopes.append(Scope(kind, tuple(params), pure))
        self._level_of.update((param, self.level) for param in params)

    def close(self, results: Sequence[Operand] = (), scope: Scope | None = None) -> Region:
        """Ends the innermost region, or one that was set aside, with a yield of the results."""
        scope = scope or self.discard()
        end = Op(YIELD, tuple(results), where=self.source())
        return Region(scope.params, (*scope.ops, end))

    def discard(self) -> Scope:
        """Ends the innermost region without a trace."""
        scope = self._scopes.pop()
        for key, op in scope.available.items():
            if self._available.get(key) is op:
                del self._available[key]
        return scope

    set_aside = discard
    """Ends the innermost region, to be closed later: `close(results, scope)`."""

    def commit(self) -> None:
        """Ends the innermost region; its ops become those of the region around it."""
        scope, outer = self._scopes.pop(), self._scopes[-1]
        outer.ops += scope.ops
        outer.available.update(scope.available)
        level = self.level
        self._level_of.update((value, level) for op in scope.ops for value in op.results)

    @contextmanager
    def at_level(self, level: int) -> Iterator[None]:
        """Emits into the open region of that level, for the extent of a `with`."""
        inner = self._scopes[level + 1 :]
        del self._scopes[level + 1 :]
        try:
            yield
        finally:
            self._scopes += inner

    def region(
        self, kind: RegionKind, params: Sequence[Param], body: Callable[..., Sequence[Operand]]
    ) -> Region:
        """The region that `body`, called with the params, emits and returns the results of."""
        level = self.level
        self.open(kind, params)
        try:
            return self.close(body(*params))
        finally:
            while self.level > level:
                self.discard()

    def function(self, name: str, params: Sequence[Param]) -> Function:
        """The function of all that was emitted at top level."""
        assert self.level == 0, "a region is still open"
        return Function(name, tuple(params), Region((), (*self.ops, Op(YIELD, ()))))

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
        return self.make(TABLE[name], operands, attrs or {}, regions)

    def make(
        self,
        row: Row,
        operands: Sequence[Operand],
        attrs: Mapping[str, Any],
        regions: tuple[Region, ...] = (),
    ) -> tuple[Operand, ...]:
        """`emit`, of an op of the row."""
        full = {**row.attrs, **attrs} if attrs else row.attrs
        assert full.keys() == row.attrs.keys(), (
            f"{row.name}: unknown attributes {full.keys() - row.attrs.keys()}"
        )
        assert REQUIRED not in full.values(), f"{row.name}: attribute missing of {sorted(full)}"
        try:
            given = [None if v is None else v.ty for v in operands]
            types = row.result_types(given, full, regions)
        except Mismatch as mismatch:
            raise CompileTypeError(f"{row.symbol or row.name}: {mismatch}", self.where) from None
        known = self._fold(row, operands, full, types)
        if known is not None:
            return (known,)
        self.check_effect_allowed(row)
        return self._place(row, tuple(operands), types, full, regions).results

    def _fold(
        self, row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], types: Types
    ) -> Operand:
        return fold(row, operands, attrs, types[0]) if types else None

    def check_effect_allowed(self, row: Row) -> None:
        """Raises CompileTypeError for an op with an effect, inside the function of a reduction,
        scan or map."""
        if row.effect is not Effect.PURE and self._scopes[-1].pure:
            raise CompileTypeError(
                f"`{row.name}` is not allowed in the function given to tl.reduce,"
                " tl.associative_scan or tl.map_elementwise: it is called for single elements in no"
                " fixed order and must be pure; load before and pass the values in",
                self.where,
            )

    def reuse(self, op: Op) -> tuple[Operand, ...]:
        """The results of an op that exists, numbered and placed as if it were emitted now."""
        return self._value_number(op.row, op.operands, op.attrs, lambda: op).results

    def _place(
        self,
        row: Row,
        operands: tuple[Operand, ...],
        types: Types,
        attrs: Mapping[str, Any],
        regions: tuple[Region, ...],
    ) -> Op:
        """The op, new unless one is available; defaulted attributes are not stored."""
        given = {key: value for key, value in attrs.items() if value != row.attrs[key]}
        return self._value_number(
            row,
            operands,
            given,
            lambda: Op(row, operands, types, given, regions, self.source()),
        )

    def _value_number(
        self,
        row: Row,
        operands: tuple[Operand, ...],
        given: Mapping[str, Any],
        make: Callable[[], Op],
    ) -> Op:
        """The available op of the same value number, where it is pure; else a new one, as far out
        as its operands allow, where it may be done too often."""
        if row.effect is not Effect.PURE or row.region_names:
            return self._append(make(), self.level)
        level = self._hoist_level(operands) if row.speculatable else self.level
        key = (
            row.name,
            *(v.key if isinstance(v, Const) else v for v in operands),
            *sorted(given.items()),
        )
        found = self._available.get(key)
        if found is not None and self._level_of[found.results[0]] <= level:
            return found
        op = self._append(make(), level)
        self._available[key] = self._scopes[level].available[key] = op
        return op

    def _append(self, op: Op, level: int) -> Op:
        self._scopes[level].ops.append(op)
        self._level_of.update((value, level) for value in op.results)
        return op

    def _hoist_level(self, operands: tuple[Operand, ...]) -> int:
        """The outermost open region for an op on these operands, leaving only loops."""
        inner = self.level_of(operands)
        level = self.level
        while level > inner and self._scopes[level].kind is RegionKind.LOOP:
            level -= 1
        return level

    def known(self, operand: Operand) -> bool | int | float | None:
        """The value of a scalar that is known while tracing; None where only the run will tell."""
        return operand.value if isinstance(operand, Const) else None


class PlainBuilder(Builder):
    """Makes each op where it is asked for, without folding, value numbering or hoisting."""

    def _fold(
        self, row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], types: Types
    ) -> Operand:
        return None

    def _value_number(
        self,
        row: Row,
        operands: tuple[Operand, ...],
        given: Mapping[str, Any],
        make: Callable[[], Op],
    ) -> Op:
        return self._append(make(), self.level)


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
