"""Demand order: each op stands where it is first needed.

One idea: walk the effects in program order and, before each, emit what it needs that is not there
yet, operands in the order value, pointer, mask of a store, and as they stand elsewhere. So the text
reads as the kernel's effects with their reasons before them, however the kernel's author happened
to arrange the lines; what nothing needs is gone. A load that precedes a write in the program
precedes it here too.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.effects import Effects, uses
from ..ir.nodes import Function, Op, Region, Value
from ..ir.ops import Effect
from .rebuild import Copies


def order(function: Function) -> Function:
    """The function in demand order, in every region."""
    orders, copies = _Orders(), Copies()

    def arrange(region: Region) -> Region:
        return copies.region(region, [copies.op(op, arrange) for op in orders.ops(region)])

    return copies.function(function, arrange(function.body))


class _Orders:
    """The order of each region's ops, those of inner regions first, since they demand in it."""

    def __init__(self) -> None:
        self.effects = Effects()
        self.known: dict[Region, list[Op]] = {}
        self.outer: dict[Region, list[Value]] = {}

    def ops(self, region: Region) -> list[Op]:
        if region not in self.known:
            self.known[region] = _Schedule(region, self).run()
        return self.known[region]

    def demanded(self, op: Op) -> Iterator[Value]:
        """The values that an op needs, then those that its regions take from outside, in order."""
        places = op.row.evaluation_order
        operands = [op.operands[place] for place in places] if places else op.operands
        yield from (operand for operand in operands if isinstance(operand, Value))
        for region in op.regions:
            yield from self.free(region)

    def free(self, region: Region) -> list[Value]:
        """The values that a region takes from outside, in order of demand."""
        if region not in self.outer:
            ops = self.ops(region)
            used = dict.fromkeys(value for op in ops for value in self.demanded(op))
            inside = set(ops)
            self.outer[region] = [value for value in used if value.op not in inside]
        return self.outer[region]


class _Schedule:
    """The order of one region's ops; `done` grows in it."""

    def __init__(self, region: Region, orders: _Orders) -> None:
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
        if not reads:
            return []
        used = uses(self.region)
        return [read for read in reads if not used.isdisjoint(read.results)]

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
