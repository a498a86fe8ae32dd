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

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ...ir.effects import accesses_memory
from ...ir.nodes import Function, Operand, Param, Region, Value, walk
from ...passes.dataflow import Analysis
from ...passes.injectivity import LaneForms, injectivity
from ...passes.provenance import Provenance, provenance


@dataclass(frozen=True)
class Access:
    """One access: the parameters its address may be based on, what else makes up the address,
    whether no two lanes share an element, and whether it writes."""

    roots: Provenance
    place: tuple[Operand, ...]
    own: bool
    writes: bool

    def clashes(self, other: Access, variant: Set[Value | Param] = frozenset()) -> bool:
        """Whether the two may touch one element from two lanes; values in `variant` differ between
        the two."""
        if not (self.writes or other.writes):
            return False
        if not self.roots.may_alias(other.roots):
            return False
        same = self.place == other.place
        steady = not any(v in variant for v in self.place if isinstance(v, (Value, Param)))
        return not (same and self.own and other.own and steady)


class Order:
    """The accesses that no barrier has yet put behind, in the order of emission."""

    def __init__(self, function: Function, threads: int) -> None:
        self.alone = threads == 1
        self.pending: tuple[Access, ...] = ()
        self.function = function

    @cached_property
    def provenance(self) -> Analysis[Provenance]:
        return provenance(self.function)

    @cached_property
    def forms(self) -> LaneForms:
        return injectivity(self.function)

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
        turn = [
            self.access(op.operands[0], writes=op.name != "load")
            for op in ops
            if accesses_memory(op)
        ]
        due = any(late.clashes(early, variant) for late in self.pending for early in turn)
        if due:
            self.clear()
        return due

    # -- addresses

    def access(self, pointer: Operand, writes: bool) -> Access:
        spread = not self.forms.is_uniform(pointer)
        own = spread and self.forms.distinct_addresses(pointer)
        return Access(self.provenance.of(pointer), address(pointer), own, writes)


def address(pointer: Operand) -> tuple[Operand, ...]:
    """What an address is made of: a base, and the offsets added to it."""
    op = pointer.op if isinstance(pointer, Value) else None
    if op is not None and op.name == "addptr":
        return (*address(op.operands[0]), op.operands[1])
    return address(op.operands[0]) if op is not None and op.name in SAME else (pointer,)


SAME = ("broadcast", "reshape", "hint")
"""Ops that leave each lane with the value it has."""
