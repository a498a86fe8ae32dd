"""Loop-invariant code motion of loads and reductions, which every iteration would repeat.

Pure ops without regions never stand deeper than they need, since the builder places them. This pass
moves what is left: an op on values from outside a loop leaves it, if the op is pure, or if it is a
load and nothing in the loop writes. A load that leaves a loop which may not run at all is masked by
the condition that it runs:

    for 0, n, 1 {                        %0 = cmp_lt 0, n
        %0 = load p, none, none    →     %1 = load p, %0, none
        …                                for 0, n, 1 { …

Loads stay inside a `while`: it may be waiting for another program to change what they read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir.build import emit
from ..ir.effects import free_values
from ..ir.nodes import Const, Function, Op, Operand, Region, walk
from ..ir.ops import Effect, RegionKind
from ..ir.recursion import Walk
from . import loop_values
from .rebuild import Rebuild, note
from .simplify import trips

Leave = Callable[[int], Sequence[Operand] | None]


def hoist(function: Function) -> Function:
    """The function with fewer ops inside its loops."""
    loops = any(op.row.is_loop for op in walk(function.body))
    return _Hoist().function(function) if loops else function


class _Hoist(Rebuild):
    """A rebuild in which ops may leave the loops that are open."""

    def __init__(self) -> None:
        super().__init__({})
        self.bounds: dict[int, tuple[Operand, ...]] = {}
        """The bounds of the open loops that loads may leave, by the level of their body."""

    def region(self, op: Op, region: Region) -> Walk[Region]:
        level = self.builder.level + 1
        around = self.bounds.pop(level, None)
        counted = loop_values.index(op) is not None and self.effects[op] is not Effect.WRITE
        if counted and _direction(self.operand(op.operands[2])):
            self.bounds[level] = self.operands(op)[:3]
        made: Region = yield super().region(op, region)
        self.bounds.pop(level, None)
        if around is not None:  # a loop that is open, while the op stands outside it
            self.bounds[level] = around
        return made

    def op(self, op: Op) -> Sequence[Operand]:
        if op.name == "load" and self.effects[op] is Effect.READ:
            return self.load(op, self.operands(op))
        return super().op(op)

    def with_regions(self, op: Op) -> Walk[Sequence[Operand]]:
        """A reduction, scan or map of values from outside leaves every loop, unless it loops itself
        and so may take long where the program as written may not run it."""
        if self.effects[op] is not Effect.PURE or _loops(op):
            results: Sequence[Operand] = yield super().with_regions(op)
            return results
        operands = self.operands(op)
        used = (*operands, *map(self.operand, free_values(op)))
        level = self.level(used, self.any_loop)
        if level < self.builder.level:
            note("hoisted reduction", op)
        with self.builder.at_level(level):
            results = yield self.keep_regions(op, operands)
        return results

    def load(self, op: Op, operands: tuple[Operand, ...]) -> Sequence[Operand]:
        here = self.builder.level
        level = self.level(operands, self.bounds.get)
        if level == here:
            return self.keep(op, operands)
        note("hoisted load", op)
        pointer, mask, other = operands
        with self.builder.at_level(level):
            for left in range(level + 1, here + 1):
                mask = _both(mask, _runs(self.bounds[left]))
            return self.builder.make(op.row, (pointer, mask, other), op.attrs)

    def any_loop(self, level: int) -> Sequence[Operand] | None:
        """Pure ops may leave any loop without extra operands (the empty tuple) and no other region
        (None)."""
        return () if self.builder.kind(level) is RegionKind.LOOP else None

    def level(self, used: Sequence[Operand], leave: Leave) -> int:
        """The outermost level the op can move to: all its operands, and what each loop left on the
        way requires (`leave`), must be defined there."""
        level, inner = self.builder.level, self.builder.level_of(used)
        while level > inner and (needed := leave(level)) is not None:
            inner = max(inner, self.builder.level_of(needed))
            level -= 1
        return level


def _loops(op: Op) -> bool:
    """Whether the op may take long, or for ever, where the program as written may not run it."""
    inside = (inner for region in op.regions for inner in walk(region))
    return op.row.is_loop or any(inner.row.is_loop for inner in inside)


def _direction(step: Operand) -> int:
    """1 or -1 for a constant step; 0 where it is not known."""
    return (step.value > 0) - (step.value < 0) if isinstance(step, Const) else 0


def _runs(bounds: tuple[Operand, ...]) -> Operand:
    """Whether a loop of these bounds runs at all; None: it does."""
    if trips(bounds):
        return None
    low, high, step = bounds
    return emit("cmp_lt" if _direction(step) > 0 else "cmp_gt", low, high)


def _both(mask: Operand, condition: Operand) -> Operand:
    if mask is None or condition is None:
        return condition if mask is None else mask
    return emit("and", mask, condition)
