"""Which memory an op touches, and whether two ops may touch the same.

One idea: an address comes from some of the kernel's pointer parameters (its roots). Where the
launch proved that distinct arguments do not overlap, accesses with disjoint roots are independent;
an address out of memory or from an int may be anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...ir.nodes import Const, Op, Operand, Param, Value, walk
from ...ir.ops import Effect
from ...ir.types import PointerType, element_of, shape_of
from .operands import type_of

Roots = frozenset[object] | None
"""Parameters; None: anything. The string "io" stands for what is shown or reported."""


@dataclass(frozen=True, eq=False)
class Access:
    """What one op reads or writes; `pointer` is its address where it is a single load or store."""

    roots: Roots
    writes: bool
    pointer: Operand = None
    scalar: bool = False


INPUT_OUTPUT: Roots = frozenset(("io",))
ADDRESSED = {"load": False, "store": True, "atomic": True, "atomic_cas": True}
"""The ops whose first operand is the address they touch, and whether they write there."""
TALKING = ("print", "assert")
MOVING = (
    "addptr",
    "broadcast",
    "reshape",
    "trans",
    "slice",
    "split",
    "hint",
    "gather",
    "join",
    "cat",
)


class Aliases:
    """Answers for one function; `overlap`: distinct parameters may share memory."""

    def __init__(self, params: Iterable[Param], overlap: bool) -> None:
        self.params = set(params)
        self.overlap = overlap
        self._found: dict[tuple[Op, bool], Access | None] = {}
        self._roots: dict[Value, Roots] = {}

    def of(self, op: Op, scalar: bool = False) -> Access | None:
        """The access of an op, regions included; None for an op that touches nothing."""
        key = (op, scalar)
        if key not in self._found:
            self._found[key] = self._access(op, scalar)
        return self._found[key]

    def _access(self, op: Op, scalar: bool) -> Access | None:
        if op.regions:
            return self._of_regions(op)
        if op.name == "load" and op.attribute("volatile"):
            return Access(None, True)
        if op.name in ADDRESSED:
            return Access(self.roots(op.operands[0]), ADDRESSED[op.name], op.operands[0], scalar)
        if op.name in TALKING:
            return Access(INPUT_OUTPUT, True, scalar=scalar)
        if op.name == "assume":
            return None
        return Access(None, True) if op.row.effect is Effect.WRITE else None

    def _of_regions(self, op: Op) -> Access | None:
        inner = [self.of(o) for region in op.regions for o in walk(region) if not o.regions]
        found = [access for access in inner if access is not None]
        if not found:
            return None
        roots: set[object] = set()
        for access in found:
            if access.roots is None:
                return Access(None, any(a.writes for a in found))
            roots |= access.roots
        return Access(frozenset(roots), any(access.writes for access in found))

    def roots(self, operand: Operand) -> Roots:
        """The parameters that an address may come from."""
        if isinstance(operand, Param):
            return frozenset((operand,)) if operand in self.params else None
        if not isinstance(operand, Value):
            return frozenset()
        if operand not in self._roots:
            self._roots[operand] = self._roots_of(operand.op)
        return self._roots[operand]

    def _roots_of(self, op: Op) -> Roots:
        if op.name in MOVING:
            return self.roots(op.operands[0])
        if op.name == "cast" and isinstance(element_of(type_of(op, 0)), PointerType):
            return self.roots(op.operands[0])
        if op.name == "select":
            left, right = self.roots(op.operands[1]), self.roots(op.operands[2])
            return None if left is None or right is None else left | right
        return None

    def clash(self, one: Access | None, two: Access | None) -> bool:
        """Whether the order of two accesses matters."""
        if one is None or two is None or not (one.writes or two.writes):
            return False
        if INPUT_OUTPUT in (one.roots, two.roots):  # what is stored after a failed assert is not
            return one.writes and two.writes
        if one.roots is None or two.roots is None or self.overlap:
            return True
        return bool(one.roots & two.roots)


def same_place(one: Access | None, two: Access | None, shape: tuple[int, ...]) -> bool:
    """Whether two accesses of a loop over a shape touch one place at an index, and no index touches
    another's.
    """
    if one is None or two is None or one.pointer is None or one.pointer is not two.pointer:
        return False
    return shape_of(one.pointer.ty) == shape and distinct(one.pointer)


def distinct(pointer: Operand) -> bool:
    """Whether it is certain that a block of pointers (of one axis that matters) never repeats an
    address.
    """
    if pointer is None or sum(extent > 1 for extent in shape_of(pointer.ty)) != 1:
        return False
    return isinstance(pointer, Value) and pointer.op.name == "addptr" and _steps(pointer) == 1


def _steps(operand: Operand) -> int:
    """How many aranges are added up in an expression of sums; 2 where it is not such a sum."""
    if not isinstance(operand, Value) or not shape_of(operand.ty):
        return 0
    op = operand.op
    if op.name == "arange":
        return 1
    if op.name in ("addptr", "add"):
        return min(2, sum(_steps(part) for part in op.operands))
    if op.name in ("broadcast", "reshape", "hint"):
        return _steps(op.operands[0])
    if op.name == "cast" and isinstance(op.operands[0], (Value, Const)):
        return _steps(op.operands[0])
    return 2
