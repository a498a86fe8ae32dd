"""An `if` whose condition only the run will tell.

One idea: both blocks run once, each into a region, from the same values; where they leave a name
different, the two values become what the regions yield. A block that jumped away never reaches
what follows, so what it leaves unbound is filled with zeros instead of being an error.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..errors import CompileError
from ..ir.build import Scope, current
from ..ir.nodes import Const, Operand, Region
from ..ir.ops import RegionKind
from ..language import semantics
from ..language.scalars import assigned
from ..language.tensor import tensor
from .jumps import RESULT, RETURNED
from .pytree import (
    UNBOUND,
    Tree,
    Undefined,
    conflict,
    handle,
    handle_like,
    is_dynamic,
    is_known,
    same,
    tree,
    type_name,
    zero_like,
)

if TYPE_CHECKING:
    from .rewrite import Site


class Branches:
    """The state of one such `if`, from its condition to the join; of a conditional expression
    (`first`, `second`), which has no names."""

    then = orelse = symbolic = True

    def __init__(self, site: Site, condition: Operand, frame: FrameType | None) -> None:
        self.site, self.condition = site, condition
        self.saved = snapshot(frame, site.names)
        self.builder = current()
        self.builder.open(RegionKind.BRANCH)
        self.left: dict[str, Tree] = {}
        self.left_exit: frozenset[str] = frozenset()
        self.scope: Scope | None = None
        self.pairs: tuple[list[Operand], list[Operand]] = ([], [])

    def other(self) -> tuple[Any, ...]:
        """Ends the first block: its values are kept, and the names as before the `if`."""
        frame = sys._getframe(1)
        self.left = snapshot(frame, self.site.names)
        self.left_exit = self.taken(frame)
        self.swap()
        return tuple(self.saved[name].copy() for name in self.site.names)

    def swap(self) -> None:
        self.scope = self.builder.set_aside()
        self.builder.open(RegionKind.BRANCH)

    def taken(self, frame: FrameType) -> frozenset[str]:
        """The jumps that a block surely took."""
        values = frame.f_locals
        return frozenset(flag for flag in self.site.flags if values.get(flag) is True)

    def join(self) -> tuple[Any, ...]:
        """Ends the second block; the values of the names after the `if`."""
        frame = sys._getframe(1)
        right = snapshot(frame, self.site.names)
        right_exit = self.taken(frame)
        if self.site.guard:
            right_exit |= {RETURNED} if self.site.guard == (RETURNED,) else {"guard"}
        if len(self.site.guard) == 1:
            right[self.site.guard[0]] = tree(True)
        plans = [
            self.merge(name, self.left[name], right[name], self.left_exit, right_exit)
            for name in self.site.names
        ]
        results = self.finish()
        return tuple(plan(results) for plan in plans)

    # -- conditional expressions

    def first(self, value: Any) -> None:
        self.left = {"": tree(value)}
        self.swap()

    def second(self, value: Any) -> Any:
        plan = self.merge("", self.left[""], tree(value), frozenset(), frozenset())
        return plan(self.finish())

    # -- the join

    def finish(self) -> tuple[Operand, ...]:
        """Closes both regions and emits the op, unless it would do nothing."""
        builder, (left, right) = self.builder, self.pairs
        other = builder.close(right)
        assert self.scope is not None
        then = builder.close(left, self.scope)
        if not left and _empty(then) and _empty(other):
            return ()
        return builder.emit("if", [self.condition], {}, (then, other))

    def merge(
        self,
        name: str,
        left: Tree,
        right: Tree,
        left_exit: frozenset[str],
        right_exit: frozenset[str],
    ) -> Any:
        """What makes the name's value of the op's results."""
        if name and name not in self.site.merged:
            return _constantly(UNBOUND)
        if not left.bound or not right.bound:
            if not left.bound and not right.bound:
                return _constantly(left.value if left.value is not UNBOUND else right.value)
            exited = right_exit if left.bound else left_exit
            if not exited and name != RESULT:
                return _constantly(self.undefined(name, left))
            zeros = self.zeros(left if left.bound else right)
            left, right = (left, zeros) if left.bound else (zeros, right)
        if left.shape != right.shape:
            if name == RESULT or not _gone(left_exit, right_exit):
                raise self.differ(name, repr(left.value), repr(right.value))
            gone = RETURNED in left_exit
            left, right = (self.zeros(right), right) if gone else (left, self.zeros(left))
        slots = [
            self.leaf(name, a, b, left_exit, right_exit) for a, b in zip(left.leaves, right.leaves)
        ]
        return lambda results: left.rebuild([slot(results) for slot in slots])

    def leaf(
        self, name: str, a: Any, b: Any, left_exit: frozenset[str], right_exit: frozenset[str]
    ) -> Any:
        if same(a, b):
            return _constantly(assigned(a, alias=True) if name in ("", RESULT) else a)
        if (chosen := _known_bool(a)) is not None and _known_bool(b) is not None:
            condition = tensor(self.condition)
            return (lambda _: condition) if chosen else (lambda _: condition.logical_not())
        if not is_dynamic(a) or not is_dynamic(b):
            raise self.differ(name, type_name(a), type_name(b))
        left, right = self.operands(a, b)
        if left.ty != right.ty:  # type: ignore[union-attr]
            if not _gone(left_exit, right_exit) or name == RESULT:
                raise self.differ(name, type_name(a), type_name(b))
            if RETURNED in left_exit:
                left = self.outside(b)
            else:
                right = self.outside(a)
        self.pairs[0].append(left)
        self.pairs[1].append(right)
        position = len(self.pairs[0]) - 1
        return lambda results: tensor(results[position])

    def operands(self, a: Any, b: Any) -> tuple[Operand, Operand]:
        left, right = handle(a), handle(b)
        if left.ty != right.ty and is_known(b):  # type: ignore[union-attr]
            right = handle_like(b, left.ty)  # type: ignore[union-attr]
        if left.ty != right.ty and is_known(a):  # type: ignore[union-attr]
            left = handle_like(a, right.ty)  # type: ignore[union-attr]
        return left, right

    def zeros(self, of: Tree) -> Tree:
        leaves = (tensor(self.outside(leaf)) if is_dynamic(leaf) else leaf for leaf in of.leaves)
        return Tree(of.value, of.shape, tuple(leaves))

    def outside(self, leaf: Any) -> Operand:
        """Zeros of the leaf's type, made before the `if`, where both regions can yield them."""
        with self.builder.at_level(self.builder.level - 1):
            return semantics.operand(zero_like(leaf))

    # -- errors

    def differ(self, name: str, left: str, right: str) -> CompileError:
        first, second = self.line(name, 0), self.line(name, 1)
        if not name:
            return conflict(
                name or "the conditional expression",
                "has two types",
                left,
                right,
                "make both of one type with .to(…)",
            )
        return conflict(
            name,
            "differs after the `if`",
            f"{left} when the condition holds (line {first})",
            f"{right} when not (line {second})",
            "give it one type in both, for example with .to(…)",
        )

    def line(self, name: str, branch: int) -> int:
        site = self.site
        lines = (site.first, site.second)[branch]
        return lines.get(name, site.before.get(name, site.line))

    def undefined(self, name: str, left: Tree) -> Undefined:
        bound_in = 0 if left.bound else 1
        words = ("when the condition holds", "when it does not")
        return Undefined(
            f"`{name}` is bound in one branch only of the `if` at line {self.site.line}: at line"
            f" {self.line(name, bound_in)} {words[bound_in]}; bind it before the `if` or in both"
            " branches"
        )


def snapshot(frame: FrameType | None, names: tuple[str, ...]) -> dict[str, Tree]:
    """The values of names in a frame, taken apart."""
    if not names or frame is None:
        return {}
    values = frame.f_locals
    return {name: tree(values.get(name, UNBOUND)) for name in names}


def _known_bool(leaf: Any) -> bool | None:
    constant = leaf.handle if isinstance(leaf, tensor) else None
    value = constant.value if isinstance(constant, Const) else leaf
    return value if isinstance(value, bool) else None


def _constantly(value: Any) -> Any:
    return lambda results: value


def _gone(left_exit: frozenset[str], right_exit: frozenset[str]) -> bool:
    """Whether one side returned from the function, so that its values are never read again."""
    return RETURNED in left_exit or RETURNED in right_exit


def _empty(region: Region) -> bool:
    return len(region.ops) == 1
