"""Which accesses of a function may stand in one loop, and which must keep their order.

The order comes from `passes.dependence`. Two accesses that clash may still be made by one loop
where both touch the same place at the same index, and no index touches another's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....ir.effects import accesses_memory, must_see_memory
from ....ir.nodes import Function, Op, Operand, Param, Region, walk
from ....ir.types import shape_of
from ....passes.address_ranges import AddressRange, AddressRanges
from ....passes.dependence import Dependence, MemoryEffect
from ....passes.injectivity import LaneForms, injectivity
from ..lowering import Lowerings


@dataclass(frozen=True, eq=False)
class Access:
    """What one op does to memory; `pointer` is its address where it is a single access."""

    effect: MemoryEffect
    pointer: Operand = None

    @property
    def writes(self) -> bool:
        """Whether a load must not pass it unseen: a write, or what is ordered like one."""
        effect = self.effect
        return bool(effect.writes) or effect.synchronises or effect.visible


class Aliases:
    """Answers for one function; `overlap`: distinct parameters may share memory."""

    def __init__(self, function: Function, overlap: bool, lowerings: Lowerings) -> None:
        self.function = function
        self.overlap = overlap
        self.lowerings = lowerings
        self.dependence = Dependence(function, overlap)
        self._ranges = AddressRanges()
        self._found: dict[Op, Access | None] = {}

    @cached_property
    def forms(self) -> LaneForms:
        return injectivity(self.function)

    @cached_property
    def writes(self) -> tuple[Access, ...]:
        """Every access of the function that writes, or is ordered like one."""
        found = (self.of(op) for op in walk(self.function.body))
        return tuple(access for access in found if access is not None and access.writes)

    def is_constant(self, load: Op) -> bool:
        """Whether no op of the function may write what a load reads, in any program."""
        access = self.of(load)
        follows = self.dependence.must_follow
        return access is not None and not any(
            follows(access.effect, write.effect) or follows(write.effect, access.effect)
            for write in (access, *self.writes)
            if write.writes
        )

    @cached_property
    def loops(self) -> dict[Region, Op]:
        """The `for` that each body belongs to."""
        return {op.regions[0]: op for op in walk(self.function.body) if op.name == "for"}

    @cached_property
    def owners(self) -> dict[Param, Op]:
        """The loop that each param of a region belongs to."""
        loops = [op for op in walk(self.function.body) if op.row.is_loop]
        return {param: op for op in loops for region in op.regions for param in region.params}

    def of(self, op: Op) -> Access | None:
        """The access of an op, regions included; None for an op that touches nothing."""
        if op not in self._found:
            effect = self.dependence.of(op)
            single = accesses_memory(op) and not must_see_memory(op)
            pointer = op.operands[0] if single else None
            self._found[op] = Access(effect, pointer) if effect else None
        return self._found[op]

    def must_follow(self, first: Access, second: Access) -> bool:
        """Whether the later of two accesses of the program must not come before the first: by what
        they do, unless they certainly touch different elements.
        """
        if not self.dependence.must_follow(first.effect, second.effect):
            return False
        if first.effect.synchronises or second.effect.synchronises:
            return True
        one, two = self.range_of(first), self.range_of(second)
        return one is None or two is None or not one.apart(two)

    def range_of(self, access: Access) -> AddressRange | None:
        """The elements past a base that a single access touches."""
        return self._ranges.of(access.pointer) if access.pointer is not None else None

    def same_place(self, one: Access | None, two: Access | None, shape: tuple[int, ...]) -> bool:
        """Whether two accesses of a loop over a shape touch one place at an index, and no index
        touches another's."""
        if one is None or two is None or one.pointer is None or one.pointer is not two.pointer:
            return False
        return shape_of(one.pointer.ty) == shape and self.forms.distinct_addresses(one.pointer)
