"""Which memory an op touches, and whether two ops may touch the same.

One idea: an address comes from some of the kernel's pointer parameters (its roots). Where the
launch proved that distinct arguments do not overlap, accesses with disjoint roots are independent;
an address out of memory or from an int may be anywhere. An atomic that acquires or releases orders
all memory around it: what another program sees after it is what this one wrote before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from ...ir.nodes import Op, Operand, Param, Value, walk
from ...ir.ops import Effect
from ...ir.types import PointerType, element_of, shape_of
from .operands import type_of

Roots = frozenset[Param] | None
"""Parameters; None: any address."""


@dataclass(frozen=True, eq=False)
class Access:
    """What one op reads or writes; `pointer` is its address where it is a single load or store.

    `shows`: it prints or asserts, so it keeps its place among those that do and among all writes.
    `orders`: it acquires or releases, so it keeps its place among all accesses of memory.
    """

    roots: Roots
    writes: bool
    pointer: Operand = None
    scalar: bool = False
    shows: bool = False
    orders: bool = False

    @property
    def touches(self) -> bool:
        """Whether memory is read or written, rather than only something shown."""
        return self.roots is None or bool(self.roots)


NOWHERE: Roots = frozenset()
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
            roots, orders = self.roots(op.operands[0]), is_ordering(op)
            return Access(roots, ADDRESSED[op.name], op.operands[0], scalar, orders=orders)
        if op.name in TALKING:
            return Access(NOWHERE, True, scalar=scalar, shows=True)
        if op.name == "assume":
            return None
        return Access(None, True) if op.row.effect is Effect.WRITE else None

    def _of_regions(self, op: Op) -> Access | None:
        inner = [self.of(o) for region in op.regions for o in walk(region) if not o.regions]
        found = [access for access in inner if access is not None]
        if not found:
            return None
        return Access(
            united(access.roots for access in found),
            any(access.writes for access in found),
            shows=any(access.shows for access in found),
            orders=any(access.orders for access in found),
        )

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
            return united((self.roots(op.operands[1]), self.roots(op.operands[2])))
        return None

    def clash(self, one: Access | None, two: Access | None) -> bool:
        """Whether the order of two accesses matters."""
        if one is None or two is None or not (one.writes or two.writes):
            return False
        if (one.shows and two.writes) or (two.shows and one.writes):
            return True  # a store after a failed assert must not happen
        if (one.orders and two.touches) or (two.orders and one.touches):
            return True
        if one.roots is None or two.roots is None or self.overlap:
            return True
        return bool(one.roots & two.roots)


def united(several: Iterable[Roots]) -> Roots:
    """All the parameters; None as soon as one may be any address."""
    union: frozenset[Param] = frozenset()
    for roots in several:
        if roots is None:
            return None
        union |= roots
    return union


def is_ordering(op: Op) -> bool:
    """Whether an op is an atomic that acquires or releases (all but relaxed ones do)."""
    return op.name in ("atomic", "atomic_cas") and op.attribute("sem") != "relaxed"


def same_place(one: Access | None, two: Access | None, shape: tuple[int, ...]) -> bool:
    """Whether two accesses of a loop over a shape touch one place at an index, and no index touches
    another's.
    """
    if one is None or two is None or one.pointer is None or one.pointer is not two.pointer:
        return False
    return shape_of(one.pointer.ty) == shape and distinct(one.pointer)


def distinct(pointer: Operand) -> bool:
    """Whether it is certain that a block of pointers (of one axis that matters) never repeats an
    address: it is an arange of that axis's extent plus scalars, in ints that tell so many apart.
    """
    extents = [extent for extent in shape_of(pointer.ty) if extent > 1] if pointer else []
    if len(extents) != 1 or not isinstance(pointer, Value):
        return False
    return pointer.op.name == "addptr" and _aranges(pointer, extents[0]) == 1


def _aranges(operand: Operand, extent: int) -> int:
    """How many aranges of this extent are added up in an expression of sums; 2 where it is not
    such a sum.

    Modulo 2**bits of the narrowest int on the way the sum is i + scalar, whatever wraps, so its
    elements differ if that int has `extent` values or more.
    """
    if not isinstance(operand, Value) or prod(shape_of(operand.ty)) == 1:
        return 0
    op, element = operand.op, element_of(operand.ty)
    if op.name == "arange":
        return 1
    if element.kind not in ("i", "u", "p") or 1 << element.bits < extent:
        return 2
    if op.name in ("addptr", "add"):
        return min(2, sum(_aranges(part, extent) for part in op.operands))
    if op.name in ("broadcast", "reshape", "hint", "cast"):
        return _aranges(op.operands[0], extent)
    return 2
