"""How a function's blocks are spread over threads: by the lane rule, or tiled.

Both say for each shape a default layout and for each value its *home*, the layout in which it is
computed. A value without a home is computed again in whatever layout it is asked for, as index
arithmetic is. Under the lane rule lane i of every block is thread i: the identity layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....errors import CompileValueError
from ....ir.nodes import Function, Op, Param, Value, walk
from ....ir.types import VectorType, shape_of
from ....layouts.linear import Layout, Shape, padded
from ....layouts.shapes import blocked, identity, scalar

if TYPE_CHECKING:
    from ..pipeline import Pipeline

TILED = "num_warps= selects the tiled lowering, which can"
MOST_THREADS = 1024


@dataclass(frozen=True)
class Distribution:
    """threads: how many a program has; width: their number padded to a power of two."""

    threads: int
    lane_rule: bool
    homes: Mapping[Value | Param, Layout] = field(default_factory=dict)
    accesses: Mapping[Op, Layout] = field(default_factory=dict)
    """The layout in which each access to memory is made."""
    vectors: Mapping[Op, int] = field(default_factory=dict)
    """How many neighbouring registers one access moves, where that is more than one."""
    dots: Mapping[Op, tuple[int, int]] = field(default_factory=dict)
    """The warps along rows and columns of each product that tensor cores make."""
    raw: frozenset[Value | Param] = frozenset()
    """Blocks of small floats that only products read: held as memory holds them."""
    ruled: frozenset[Op] = frozenset()
    """Ops that are printed by their rule although they can be remade: a reshape that moves data."""
    pipelines: Mapping[Op, Pipeline] = field(default_factory=dict)
    """The loops whose loads are copied some turns ahead."""

    @property
    def width(self) -> int:
        return max(32, 1 << (self.threads - 1).bit_length())

    def layout(self, shape: Shape) -> Layout:
        """The default layout of a shape."""
        if self.lane_rule:
            return identity(padded(shape)[0], self.width) if shape else self.scalar
        return blocked(padded(shape), self.threads // 32)

    def access(self, op: Op) -> Layout:
        """The layout in which an op reads or writes memory."""
        (pointer, *_) = op.operands
        assert pointer is not None
        return self.accesses.get(op) or self.layout(shape_of(pointer.ty))

    @property
    def scalar(self) -> Layout:
        """That of a scalar, which every thread holds."""
        return scalar(self.width // 32)


def lane_rule(function: Function) -> Distribution:
    """The distribution with one register a thread. Raises CompileValueError where there are two
    widths, or where an op moves values between lanes."""
    threads = threads_per_block(function)
    for op in walk(function.body):
        if op.name in MOVING:
            moves = f"`{op.name}` moves values between lanes"
            message = f"{moves}, and the lane rule keeps each in its thread; {TILED}"
            raise CompileValueError(message, op.where)
    return Distribution(threads, lane_rule=True)


MOVING = frozenset(
    [
        "cat",
        "dot",
        "gather",
        "histogram",
        "join",
        "reduce",
        "scan",
        "slice",
        "sort",
        "split",
        "trans",
    ]
)
"""Ops whose result in one lane is made of other lanes' operands."""


def threads_per_block(function: Function) -> int:
    """The one width of the function's blocks; 1 where there is none.

    A block of one element is held by every thread alike, like a scalar, so it goes with any width.
    """
    widths: dict[int, Op] = {}
    for op in walk(function.body):
        for ty in op.types:
            if isinstance(ty, VectorType):
                if len(ty.shape) > 1:
                    message = f"the lane rule has one axis, got a block of type {ty}; {TILED}"
                    raise CompileValueError(message, op.where)
                widths.setdefault(ty.size, op)
    wide = sorted(width for width in widths if width > 1)
    if len(wide) > 1:
        rendered = ", ".join(map(str, wide))
        message = f"CUDA lowering requires one vector width, got: {rendered}; {TILED}"
        raise CompileValueError(message, list(widths.values())[-1].where)
    threads = wide[0] if wide else 1
    if threads > MOST_THREADS:
        message = (
            f"CUDA lowering allows 1 to {MOST_THREADS} threads a block, got: {threads}; {TILED}"
        )
        raise CompileValueError(message, widths[threads].where)
    return threads
