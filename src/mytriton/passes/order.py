"""Demand order: each op stands where it is first needed.

One idea: walk the effects in program order and, before each, emit what it needs that is not there
yet, operands in the order value, pointer, mask of a store, and as they stand elsewhere. So the text
reads as the kernel's effects with their reasons before them, however the kernel's author happened
to arrange the lines; what nothing needs is gone. A load that precedes a write in the program
precedes it here too.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.effects import Effects, free_values, uses
from ..ir.nodes import Function, Op, Operand, Region, Value
from ..ir.ops import TABLE, Effect
from .rebuild import Copies


def order(function: Function) -> Function:
    """The function in demand order, in every region."""
    effects, copies = Effects(), Copies()

    def arrange(region: Region) -> Region:
        ops = _Schedule(region, effects).run()
        return copies.region(region, [copies.op(op, arrange) for op in ops])

    return copies.function(function, arrange(function.body))


class _Schedule:
    """The order of one region's ops; `done` grows in it."""

    def __init__(self, region: Region, effects: Effects) -> None:
        self.region = region
        self.effects = effects
        self.here = set(region.ops)
        self.needs: dict[Op, list[Op]] = {}
        self.done: dict[Op, None] = {}

    def run(self) -> list[Op]:
        reads: list[Op] = []
        for op in self.region.ops[:-1]:
            effect = self.effects[op]
            if effect is Effect.READ:
                reads.append(op)
            elif effect is Effect.WRITE:
                self.demand(self.needed(op))
                waiting = [read for read in reads if read not in self.done]
                self.demand(self.still_used(waiting))
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
            defining = (value.op for value in _demanded(op) if isinstance(value, Value))
            self.needs[op] = [other for other in defining if other in self.here]
        return self.needs[op]


def _demanded(op: Op) -> Iterator[Operand]:
    places = TABLE[op.name].demand
    yield from (op.operands[place] for place in places) if places else op.operands
    if op.regions:
        yield from free_values(op)
