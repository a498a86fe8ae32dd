"""What a root evaluates: the pointwise values under its operands, down to scalars and buffers.

A value is entered unless it lies in a buffer. `ready` is the first step that may evaluate a value:
after the steps that make its scalars and buffers, and after the writes that its loads must see.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from ....ir.effects import free_values
from ....ir.nodes import Op, Operand, Param, Region, Value
from ....ir.types import shape_of
from ..lowering import Lowerings
from .plan import Named

EXPENSIVE = 8
"""A value of this cost or more is materialised rather than evaluated in two nests."""


class Expressions:
    """Walks of one region's values; `buffers` says after which step a value lies in a buffer (-1:
    before the region).
    """

    def __init__(self, lowerings: Lowerings, available: Iterable[Named]) -> None:
        self.lowerings = lowerings
        self.buffers: dict[Named, int] = dict.fromkeys(available, -1)
        self.scalars: dict[Named, int] = {}
        """The first step that may use a scalar of this region."""
        self.after_writes: dict[Op, int] = {}
        """The first step where a load sees all the writes before it."""
        self._ready: dict[Value, int] = {}

    def materialised(self, value: Named, step: int) -> None:
        """From the step after `step` on the value is read from its buffer."""
        self.buffers[value] = step
        self._ready.clear()

    def parts(self, operand: Operand, done: Container[Operand] = ()) -> list[Value]:
        """The pointwise values under an operand, operands first; those in buffers, or `done`, are
        not entered.
        """
        found: dict[Value, None] = {}
        stack: list[tuple[Operand, bool]] = [(operand, False)]
        while stack:
            value, below = stack.pop()
            if not isinstance(value, Value) or value in found or value in self.buffers:
                continue
            if value in done or not self.lowerings.is_computed(value):
                continue
            if below:
                found[value] = None
                continue
            stack.append((value, True))
            stack.extend((operand, False) for operand in reversed(value.op.operands))
        return list(found)

    def loads(self, operands: Iterable[Operand]) -> list[Value]:
        """The loads that evaluating the operands performs."""
        parts = (part for operand in operands for part in self.parts(operand))
        return [part for part in parts if part.op.name == "load"]

    def leaves(self, operands: Iterable[Operand]) -> Iterator[Named]:
        """What the expressions under the operands start from: scalars, and blocks in buffers."""
        for operand in operands:
            inside = dict.fromkeys(self.parts(operand))
            for used in (operand, *(used for part in inside for used in part.op.operands)):
                if isinstance(used, (Value, Param)) and used not in inside:
                    yield used

    def ready(self, operands: Iterable[Operand]) -> int:
        """The first step whose nest may evaluate the operands."""
        first = 0
        for operand in operands:
            for part in self.parts(operand, self._ready):
                own = self.after_writes.get(part.op, 0)
                self._ready[part] = max((own, *map(self._ready_leaf, part.op.operands)))
            first = max(first, self._ready_leaf(operand))
        return first

    def _ready_leaf(self, operand: Operand) -> int:
        if not isinstance(operand, (Value, Param)):
            return 0
        if operand in self.buffers:
            return self.buffers[operand] + 1
        if isinstance(operand, Value) and operand in self._ready:
            return self._ready[operand]
        return self.scalars.get(operand, 0)

    def is_expensive(self, value: Value) -> bool:
        """Whether the value takes many instructions at each index; looks no further than needed.
        What costs nothing itself, such as a stretched or reshaped block, is not: its operand is.
        """
        if not self.lowerings.cost(value.op):
            return False
        seen: set[Operand] = set()
        stack, cost = [value], 0
        while stack and cost < EXPENSIVE:
            part = stack.pop()
            if part in seen or part in self.buffers or not self.lowerings.is_computed(part):
                continue
            seen.add(part)
            cost += self.lowerings.cost(part.op)
            stack.extend(used for used in part.op.operands if isinstance(used, Value))
        return cost >= EXPENSIVE


def last_uses(region: Region, lowerings: Lowerings) -> dict[Named, int]:
    """The position of the last op that evaluates each value: a scalar, root or opaque op that
    reaches it through pointwise ones; the end of the region for its results.
    """
    found: dict[Named, int] = {}

    def use(operand: Operand, position: int) -> None:
        if isinstance(operand, (Value, Param)) and found.get(operand, -1) < position:
            found[operand] = position

    for result in region.results:
        use(result, len(region.ops))
    for position in range(len(region.ops) - 2, -1, -1):
        op = region.ops[position]
        if op.results and all(map(lowerings.is_computed, op.results)):
            position = max(found.get(result, -1) for result in op.results)
        for operand in (*op.operands, *(free_values(op) if op.regions else ())):
            use(operand, position)
    return found


def block_operands(op: Op) -> list[Value | Param]:
    """The operands that are blocks."""
    named = (operand for operand in op.operands if isinstance(operand, (Value, Param)))
    return [operand for operand in named if shape_of(operand.ty)]
