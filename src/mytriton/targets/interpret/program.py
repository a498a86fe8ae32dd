"""One program of a launch: the values it has computed, and how it runs a region.

Running is a dictionary look-up an op. An element-wise op's meaning is in its row; a structural op's
is the function of its name in `MEANINGS` or, of loops and branches, in `CONTROL`, which together
have a function for every such row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import Where
from ...ir.fold import evaluate
from ...ir.nodes import Const, Op, Operand, Param, Region, Value
from ...ir.numeric import Array
from ...ir.recursion import Walk, run
from ...ir.types import element_of
from . import blocks, combine, control, effects
from .blocks import Meaning, constant_array
from .control import CONTROL
from .memory import Index, Memory, Observer
from .turns import Turns

MEANINGS: dict[str, Meaning] = {
    **blocks.MEANINGS,
    **combine.MEANINGS,
    **effects.MEANINGS,
    **control.MEANINGS,
}


@dataclass
class Launch:
    """What the programs of a launch share."""

    grid: tuple[int, int, int]
    memory: Memory
    observer: Observer | None = None
    turns: Turns | None = None


class Program:
    """One program: its place in the grid and the array of every value it has computed so far."""

    def __init__(self, launch: Launch, index: Index, values: dict[Value | Param, Array]) -> None:
        self.launch = launch
        self.index = index
        self.values = values

    def value(self, operand: Operand) -> Any:
        """The operand's array; None of an absent operand."""
        if operand is None:
            return None
        if isinstance(operand, Const):
            return constant_array(operand.value, operand.ty)
        return self.values[operand]

    def run(self, region: Region, arguments: Sequence[Array]) -> Sequence[Array]:
        """The arrays that the region yields for these arguments."""
        return run(self.walk(region, arguments))

    def walk(self, region: Region, arguments: Sequence[Array]) -> Walk[Sequence[Array]]:
        """`run`, without Python's stack."""
        self.values.update(zip(region.params, arguments))
        results: Sequence[Array] = ()
        for op in region.ops:
            if op.row.has_control_flow:
                results = yield CONTROL[op.name](self, op, self.operands(op))
            else:
                results = self.perform(op)
            self.define(op, results)
        return results

    def define(self, op: Op, results: Sequence[Array]) -> None:
        """Records the arrays of the op's results."""
        if self.launch.observer is not None:
            self.launch.observer.performed(op, results)
        self.values.update(zip(op.results, results))

    def operands(self, op: Op) -> list[Any]:
        return [self.value(operand) for operand in op.operands]

    def perform(self, op: Op) -> Sequence[Array]:
        """The op's results, from its operands' arrays."""
        values = self.operands(op)
        if op.row.has_control_flow:
            return run(CONTROL[op.name](self, op, values))
        row = op.row.element
        if row is None:
            return MEANINGS[op.name](self, op, values)
        result: Any = element_of(op.types[0])
        return (evaluate(row, result, values),)

    def run_over(
        self, region: Region, arguments: Sequence[Array], shape: tuple[int, ...]
    ) -> list[Array]:
        """A region of scalars run for every element of arrays of one shape.

        All at once, or element by element where it branches, since each element may go its own way.
        """
        if any(op.regions for op in region.ops):
            return self._run_each(region, arguments, shape)
        return [np.broadcast_to(made, shape) for made in self.run(region, arguments)]

    def _run_each(
        self, region: Region, arguments: Sequence[Array], shape: tuple[int, ...]
    ) -> list[Array]:
        rows = [self.run(region, [a[place] for a in arguments]) for place in np.ndindex(shape)]
        return [np.reshape(np.stack(column), shape) for column in zip(*rows)]

    def pause(self, where: Where, same: bool) -> None:
        """Lets the other programs run; see `Turns.pause`."""
        if self.launch.turns is not None:
            self.launch.turns.pause(self.index, where, same)
