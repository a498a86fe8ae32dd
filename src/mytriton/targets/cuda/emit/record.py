"""Where the values of a printed kernel are, and how they moved: what a person may want to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....errors import Where
from ....ir.nodes import Op, Operand, Param, Value
from ....layouts.convert import Plan
from ....layouts.linear import Layout
from .distribution import Distribution


@dataclass(frozen=True)
class Move:
    """A value that changed its layout, for the op at `where`. width: bytes of an element."""

    value: Operand
    source: Layout
    target: Layout
    plan: Plan
    width: int
    where: Where


@dataclass(frozen=True)
class Record:
    """The layouts that each value was computed in, in the order of the text, and the moves between
    them; and of each access to memory its layout and how many elements a thread moves at once.
    """

    distribution: Distribution
    values: tuple[tuple[Value | Param, Layout], ...]
    moves: tuple[Move, ...]
    numbers: Mapping[Value | Param, int]

    def access(self, op: Op) -> tuple[Layout, int]:
        """The layout in which an op accesses memory, and its elements a thread and access."""
        return self.distribution.access(op), self.distribution.vectors.get(op, 1)
