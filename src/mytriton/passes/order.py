"""Scheduling in demand order: each op stands where it is first needed.

Walk the effects in program order and, before each, emit what it needs that is not there
yet, operands in the order value, pointer, mask of a store, and as they stand elsewhere. So the text
reads as the kernel's effects with their reasons before them, however the kernel's author happened
to arrange the lines; what nothing needs is gone. A load that precedes a write in the program
precedes it here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ..ir.build import PlainBuilder
from ..ir.effects import uses
from ..ir.nodes import Function, Op, Param, Region, Value
from ..ir.ops import Effect
from ..ir.recursion import Walk, run
from .rebuild import Rebuild


def order(function: Function) -> Function:
    """The function in demand order, in every region."""
    return _Reorder().function(function)


class _Reorder(Rebuild):
    """A rebuild in which each region's ops are emitted in demand order, those of inner regions
    first, since what they use from outside is demanded too."""

    def __init__(self) -> None:
        super().__init__({}, PlainBuilder(where=()))
        self.ordered: dict[Region, list[Op]] = {}
        self.outer: dict[Region, list[Value]] = {}

    def function(self, function: Function) -> Function:
        run(self.decide(function.body))
        return super().function(function)

    def chosen(self, region: Region) -> Sequence[Op]:
        return self.ordered[region][:-1]

    def decide(self, region: Region) -> Walk[None]:
        """Orders the region, after those inside."""
        for op in region.ops:
            for inner in op.regions:
                yield self.decide(inner)
        ops = self.ordered[region] = _Schedule(region, self).run()
        used = dict.fromkeys(value for op in ops for value in self.demanded(op))
        inside = set(ops)
        self.outer[region] = [value for value in used if value.op not in inside]

    def demanded(self, op: Op) -> Iterator[Value]:
        """The values that an op needs, then those that its regions take from outside, in order."""
        places = op.row.evaluation_order
        operands = [op.operands[place] for place in places] if places else op.operands
        yield from (operand for operand in operands if isinstance(operand, Value))
        for region in op.regions:
            yield from self.outer[region]


class _Schedule:
    """The order of one region's ops; `done` grows in it."""

    def __init__(self, region: Region, orders: _Reorder) -> None:
        self.region = region
        self.orders = orders
        self.here = set(region.ops)
        self.needs: dict[Op, list[Op]] = {}
        self.done: dict[Op, None] = {}

    def run(self) -> list[Op]:
        reads: list[Op] = []
        for op in self.region.ops[:-1]:
            effect = self.orders.effects[op]
            if effect is Effect.READ:
                reads.append(op)
            elif effect is Effect.WRITE:
                self.demand(self.needed(op))
                self.demand(self.still_used([read for read in reads if read not in self.done]))
                reads.clear()
                self.done[op] = None
        self.demand([self.region.ops[-1]])
        return list(self.done)

    def still_used(self, reads: list[Op]) -> list[Op]:
        """Those whose results some op uses; there is rarely one to ask about."""
        return [read for read in reads if not self.used.isdisjoint(read.results)]

    @cached_property
    def used(self) -> set[Value | Param]:
        return uses(self.region)

    def demand(self, roots: list[Op]) -> None:
        """Emits the ops, each after what it needs (on a stack of its own: chains may be long)."""
        stack = roots[::-1]
        while stack:
            op = stack[-1]
            missing = [] if op in self.done else [n for n in self.needed(op) if n not in self.done]
            if missing:
                stack += missing[::-1]
            else:
                self.done[op] = None
                stack.pop()

    def needed(self, op: Op) -> list[Op]:
        """The ops of this region that define what the op and its regions use, in demand order."""
        if op not in self.needs:
            defining = (value.op for value in self.orders.demanded(op))
            self.needs[op] = [other for other in defining if other in self.here]
        return self.needs[op]
