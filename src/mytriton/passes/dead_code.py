"""Dead-code elimination: only what some effect needs is left, down to single carried values.

Being needed spreads from the writes: to operands, through a loop's or branch's result to
what may become it, and round the loop. What it does not reach is left out; a sum that only feeds
itself is not reached.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.build import PlainBuilder
from ..ir.effects import Effects
from ..ir.nodes import Function, Op, Operand, Param, Region, Value, walk
from ..ir.ops import Effect
from ..ir.recursion import Walk
from .loop_values import controls, incoming, iter_args, keep
from .rebuild import Rebuild


def drop_dead(function: Function) -> Function:
    """The function without what no effect needs. Loops without effects are taken to end."""
    return _DropDead(_Needed(function)).function(function)


class _DropDead(Rebuild):
    def __init__(self, needed: _Needed) -> None:
        super().__init__({}, PlainBuilder(where=()))
        self.needed = needed

    def chosen(self, region: Region) -> Sequence[Op]:
        return [op for op in region.ops[:-1] if op in self.needed.live]

    def with_regions(self, op: Op) -> Walk[Sequence[Operand]]:
        kept = self.needed.kept(op)
        if len(kept) == len(op.types):
            same: Sequence[Operand] = yield super().with_regions(op)
            return same
        fewer = keep(op, kept)
        made = dict(zip(kept, (yield self.keep_regions(fewer, self.operands(fewer)))))
        return [made.get(k) for k in range(len(op.types))]


class _Needed:
    """The ops and values that the writes of a function need."""

    def __init__(self, function: Function) -> None:
        self.live: set[Op | Value | Param] = set()
        self.owner: dict[Param, tuple[Op, int]] = {}
        self.waiting: list[Operand] = []
        effects = Effects()
        for op in walk(function.body):
            if op.row.has_control_flow:
                owned = {p: (op, k) for k in range(len(op.types)) for p in iter_args(op, k)}
                self.owner.update(owned)
            if effects[op] is Effect.WRITE:
                self.op(op)
        self.spread()

    def op(self, op: Op) -> None:
        if op not in self.live:
            self.live.add(op)
            self.waiting += controls(op) if op.row.has_control_flow else op.operands
            if not op.row.has_control_flow:
                self.waiting += (v for region in op.regions for v in region.results)

    def spread(self) -> None:
        while self.waiting:
            value = self.waiting.pop()
            if value in self.live or not isinstance(value, (Value, Param)):
                continue
            self.live.add(value)
            if isinstance(value, Value):
                self.op(value.op)
            if isinstance(value, Value) and value.op.row.has_control_flow:
                self.waiting += incoming(value.op, value.index)
            elif isinstance(value, Param) and value in self.owner:
                self.waiting += incoming(*self.owner[value])

    def kept(self, op: Op) -> list[int]:
        """The results that are needed, after the op or round the loop; all of an op that is no loop
        or branch."""
        if not op.row.has_control_flow:
            return list(range(len(op.types)))
        return [
            k
            for k in range(len(op.types))
            if op.results[k] in self.live or any(p in self.live for p in iter_args(op, k))
        ]
