"""Where a barrier is needed: block semantics say that one statement's accesses come before the next
one's.

Threads run at their own pace, so an access that may touch what *another* thread touched in an
earlier statement, one of the two writing, waits for all (`__syncthreads()`). Nothing is due where
each thread keeps to its own elements: the same place, no two elements at one address, and the same
layout.

    v = load(x + offsets); store(x + offsets, v + 1)   # each lane its own element: nothing
    store(x + offsets, v); load(x + (N - offsets))     # lane i reads what lane j wrote: a barrier

Different pointer parameters are taken not to overlap, unless `overlap` says that they may.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ....ir.effects import accesses_memory
from ....ir.nodes import Function, Operand, Param, Region, Value, walk
from ....layouts.linear import Layout
from ....passes.dataflow import Analysis
from ....passes.injectivity import LaneForms, injectivity
from ....passes.provenance import Provenance, provenance
from .distribution import Distribution


@dataclass(frozen=True)
class Access:
    """One access: the parameters its address may be based on, what else makes up the address,
    whether no two threads share an element, whether it writes, and in which layout it is made."""

    roots: Provenance
    place: tuple[Operand, ...]
    own: bool
    writes: bool
    layout: Layout

    def same_elements(self, other: Access, variant: Set[Value | Param]) -> bool:
        """Whether each thread touches the same elements in both, and no other thread does; values
        in `variant` differ between the two."""
        same = self.place == other.place and self.layout == other.layout
        steady = not any(v in variant for v in self.place if isinstance(v, (Value, Param)))
        return same and self.own and other.own and steady


class Order:
    """The accesses that no barrier has yet put behind, in the order of emission."""

    def __init__(
        self, function: Function, distribution: Distribution, overlap: bool = False
    ) -> None:
        self.function, self.distribution, self.overlap = function, distribution, overlap
        self.alone = distribution.threads == 1
        self.pending: tuple[Access, ...] = ()

    @cached_property
    def provenance(self) -> Analysis[Provenance]:
        return provenance(self.function)

    @cached_property
    def forms(self) -> LaneForms:
        return injectivity(self.function)

    def must_wait(self, access: Access) -> bool:
        """Whether a barrier must stand before the access."""
        return any(self.clash(access, earlier) for earlier in self.pending)

    def record(self, access: Access) -> None:
        """An access was emitted."""
        if not self.alone:
            self.pending = (*self.pending, access)

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
        turn = [
            self.access(op.operands[0], self.distribution.access(op), writes=op.name != "load")
            for op in ops
            if accesses_memory(op)
        ]
        return any(self.clash(late, early, variant) for late in self.pending for early in turn)

    def clash(self, one: Access, other: Access, variant: Set[Value | Param] = frozenset()) -> bool:
        """Whether the two may touch one element from two threads, and one of them writes."""
        if not (one.writes or other.writes):
            return False
        alias = one.roots.may_alias(other.roots) or (self.overlap and one.roots and other.roots)
        return bool(alias) and not one.same_elements(other, variant)

    # -- addresses

    def access(self, pointer: Operand, layout: Layout, writes: bool) -> Access:
        spread = not self.forms.is_uniform(pointer)
        held_once = self.distribution.lane_rule or not layout.copies
        own = spread and held_once and self.forms.distinct_addresses(pointer)
        return Access(self.provenance.of(pointer), address(pointer), own, writes, layout)


def address(pointer: Operand) -> tuple[Operand, ...]:
    """What an address is made of: a base, and the offsets added to it."""
    offsets: list[Operand] = []
    while isinstance(pointer, Value) and pointer.op.name in ("addptr", *SAME):
        if pointer.op.name == "addptr":
            offsets.append(pointer.op.operands[1])
        pointer = pointer.op.operands[0]
    return (pointer, *reversed(offsets))


SAME = ("broadcast", "reshape", "hint")
"""Ops that leave each lane with the value it has."""
