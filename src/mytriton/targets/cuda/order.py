"""Where the lane rule needs a barrier: block semantics say that one statement's accesses come
before the next one's.

One idea: threads run at their own pace, so an access that may touch what *another* lane touched in
an earlier statement, one of the two writing, waits for all (`__syncthreads()`). Nothing is due
where each lane keeps to its own element.

    v = load(x + offsets); store(x + offsets, v + 1)   # each lane its own element: nothing
    store(x + offsets, v); load(x + (N - offsets))     # lane i reads what lane j wrote: a barrier

Different pointer parameters are taken not to overlap, or to overlap only lane by lane, as
everywhere in CUDA and Triton.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from ...ir.effects import touches
from ...ir.nodes import Const, Op, Operand, Param, Region, Value, walk
from ...ir.types import VectorType, element_of, shape_of

Roots = frozenset[Param] | None
"""The pointer parameters that an address may be based on; None: it may be any address."""


@dataclass(frozen=True)
class Access:
    """One access: the parameters its address may be based on, what else makes up the address,
    whether no two lanes share an element, and whether it writes."""

    roots: Roots
    place: tuple[Operand, ...]
    own: bool
    writes: bool

    def clashes(self, other: Access, variant: Set[Value | Param] = frozenset()) -> bool:
        """Whether the two may touch one element from two lanes; values in `variant` differ between
        the two."""
        if not (self.writes or other.writes):
            return False
        if self.roots is not None and other.roots is not None and not self.roots & other.roots:
            return False
        same = self.roots == other.roots and self.place == other.place
        steady = not any(v in variant for v in self.place if isinstance(v, (Value, Param)))
        return not (same and self.own and other.own and steady)


class Order:
    """The accesses that no barrier has yet put behind, in the order of emission."""

    def __init__(self, params: Sequence[Param], threads: int) -> None:
        self.alone = threads == 1
        self.pending: tuple[Access, ...] = ()
        self.roots: dict[Param, Roots] = {p: frozenset({p}) for p in params}

    def before(self, pointer: Operand, writes: bool) -> bool:
        """Records an access; whether a barrier must stand before it."""
        if self.alone:
            return False
        access = self.access(pointer, writes)
        due = any(access.clashes(earlier) for earlier in self.pending)
        self.pending = (access,) if due else (*self.pending, access)
        return due

    def clear(self) -> None:
        """A barrier was emitted."""
        self.pending = ()

    def again(self, regions: Sequence[Region]) -> bool:
        """Whether the next turn of a loop must wait for the one just emitted: what is pending
        clashes with a turn's accesses."""
        ops = [op for region in regions for op in walk(region)]
        inner = [*regions, *(region for op in ops for region in op.regions)]
        variant: set[Value | Param] = {param for region in inner for param in region.params}
        variant.update(value for op in ops for value in op.results)
        turn = [self.access(op.operands[0], writes=op.name != "load") for op in ops if touches(op)]
        due = any(late.clashes(early, variant) for late in self.pending for early in turn)
        if due:
            self.clear()
        return due

    # -- addresses

    def access(self, pointer: Operand, writes: bool) -> Access:
        roots, place = self.address(pointer)
        lanes = [offset for offset in place if not is_uniform(offset)]
        own = len(lanes) == 1 and is_injective(lanes[0])
        return Access(roots, place, own, writes)

    def address(self, pointer: Operand) -> tuple[Roots, tuple[Operand, ...]]:
        """The parameters that an address may be based on, and what else it is made of."""
        if isinstance(pointer, Param):
            return self.roots.get(pointer), (pointer,)
        op = pointer.op if isinstance(pointer, Value) else None
        if op is not None and op.name == "addptr":
            roots, place = self.address(op.operands[0])
            return roots, (*place, op.operands[1])
        if op is not None and op.name in SAME:
            return self.address(op.operands[0])
        return self._mixed(pointer), (pointer,)

    def _mixed(self, pointer: Operand) -> Roots:
        """The roots of an address that is not a sum: those of all the addresses it may be."""
        if not isinstance(pointer, Value) or pointer.op.name not in SOURCES:
            return None
        sources = SOURCES[pointer.op.name](pointer.op, pointer.index)
        return united([self.address(source)[0] for source in sources])

    def carry(
        self, names: Sequence[Sequence[Param]], initial: Sequence[Operand], last: Sequence[Operand]
    ) -> None:
        """A carried pointer, under each of its names, keeps to the roots it starts with where every
        turn of the loop does."""
        for first, final, *params in zip(initial, last, *names):
            roots = self.address(first)[0]
            self.roots.update(dict.fromkeys(params, roots))
            later = self.address(final)[0]
            if later is None or roots is None or not later <= roots:
                self.roots.update(dict.fromkeys(params, None))


def united(several: Sequence[Roots]) -> Roots:
    """All the roots; None as soon as one of them is."""
    union: frozenset[Param] = frozenset()
    for roots in several:
        if roots is None:
            return None
        union |= roots
    return union


SAME = ("broadcast", "reshape", "hint")
"""Ops that leave each lane with the value it has."""
SOURCES: dict[str, Callable[[Op, int], Sequence[Operand]]] = {
    "select": lambda op, index: op.operands[1:],
    "cast": lambda op, index: op.operands,
    "bitcast": lambda op, index: op.operands,
    "if": lambda op, index: [region.results[index] for region in op.regions],
    "for": lambda op, index: [op.regions[0].params[index + 1]],
    "while": lambda op, index: [op.regions[0].params[index]],
}
"""What the address that an op gives as result number `index` may be."""


def is_uniform(value: Operand) -> bool:
    """Whether all lanes hold the same."""
    if value is None or isinstance(value, Const) or shape_of(value.ty) in ((), (1,)):
        return True
    broadcast = isinstance(value, Value) and value.op.name == "broadcast"
    return broadcast and isinstance(value, Value) and is_uniform(value.op.operands[0])


def is_injective(value: Operand) -> bool:
    """Whether no two lanes hold the same: a range, moved or scaled alike for all lanes."""
    if not isinstance(value, Value) or not isinstance(value.ty, VectorType):
        return False
    op = value.op
    if op.name == "arange":
        return True
    if op.name not in INJECTIVE or element_of(value.ty).bits < 32:
        return False
    varying = [operand for operand in op.operands if not is_uniform(operand)]
    return len(varying) == 1 and is_injective(varying[0])


INJECTIVE = frozenset(("add", "sub", "mul", "cast", "hint", "reshape"))
"""Ops that keep lanes apart when all other operands are the same in every lane and not zero."""
