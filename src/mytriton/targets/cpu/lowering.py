"""What this target says of a structural op, in one row: how it enters the schedule, how its result
follows from its operands, and how it is emitted.

The rows are in `table.py`. An element-wise op needs none: it is a function of its index, emitted
from its row in the op table, and only the comparisons and `and` add what they are as parts of a
mask. The planner reads a row's facts, the emitter calls its functions; both get the table as an
argument, so this file depends on neither.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ir.nodes import Op, Operand, Value
from ...ir.types import shape_of

if TYPE_CHECKING:
    from .code import Code, Reg
    from .nest import Form, Nest
    from .region import FunctionEmitter
    from .schedule.plan import Root

Index = tuple[Any, ...]
"""One form of i64 per axis."""
Wants = list[tuple[Operand, Index]]
"""Operands, and the index at which each is wanted."""


class Role(enum.Enum):
    """How an op on blocks enters the schedule. An op on scalars alone is always a scalar op."""

    POINTWISE = "a function of its index, evaluated wherever it is needed"
    ROOT = "done at each index of a loop nest"
    LANE_BY_LANE = "done one index after the other, in a nest of its own"
    REDUCTION = "a root where its combination may be reordered, else opaque"
    PARTS = "writes each operand to its part of one buffer"
    ACCUMULATE = "adds to its last operand, copied into the result's buffer before"
    LOOP = "carries blocks in the buffers of its regions' params"
    OPAQUE = "a step of its own, over operands in buffers"
    SCALAR = "on scalars only"


@dataclass(frozen=True)
class RootEmission:
    """What a root does at an index: `prepare` evaluates all it needs, `perform` writes."""

    prepare: Callable[[Nest, Root, Index], list[Any]]
    perform: Callable[[Nest, Root, Index, list[Any]], None]


def _nowhere(op: Op) -> Iterable[int]:
    return ()


@dataclass(frozen=True)
class Lowering:
    """One structural op on this target."""

    role: Role
    cost: int = 0
    """Instructions at each index, roughly; what is expensive is not evaluated twice."""
    reads_elsewhere: Callable[[Op], Iterable[int]] = _nowhere
    """Of a pointwise op: the operands that it reads at indices of which one loop nest does not know
    that it has them, so that they must lie in a buffer.
    """
    moves: bool = False
    """Of a pointwise op: its index differs from its operand's."""
    forwards_address: bool = False
    """The result's addresses are among those of its first operand."""
    index_map: Callable[[Nest, Value, Index], Wants] | None = None
    """Of a pointwise op: which operands at which indices make the result; None: its own index."""
    value: Callable[[Nest, Value, Index, list[Any]], Form] | None = None
    """Of a pointwise op: the result from the forms that `index_map` asks for."""
    mask_part: Callable[[Nest, Value, Index], Reg | None] | None = None
    """The op as part of a mask that a loop's main version takes to be true up to a bound."""
    scalar: Callable[[FunctionEmitter, Nest, Op], None] | None = None
    """The op on scalars, where it is more than a value."""
    root: RootEmission | None = None
    opaque: Callable[[FunctionEmitter, Code, Op], None] | None = None


class Lowerings:
    """The rows by name; the questions that planner and emitter ask of an op."""

    def __init__(self, rows: Mapping[str, Lowering]) -> None:
        self.rows = rows

    def get(self, op: Op) -> Lowering:
        """The op's row; that of a plain element-wise op where it has none."""
        return self.rows.get(op.name, PLAIN)

    def is_pointwise(self, op: Op) -> bool:
        """Whether the op's result is a function of its index."""
        return self.get(op).role is Role.POINTWISE

    def is_computed(self, value: Operand) -> bool:
        """Whether a value is a block that is a function of its index."""
        return isinstance(value, Value) and bool(shape_of(value.ty)) and self.is_pointwise(value.op)

    def read_operands(self, op: Op) -> tuple[Operand, ...]:
        """The operands that an opaque op reads where they are; an accumulator and the blocks that a
        loop starts with have been copied into buffers before.
        """
        role = self.get(op).role
        if role is Role.ACCUMULATE:
            return op.operands[:-1]
        return op.operands[: -len(op.results) or None] if role is Role.LOOP else op.operands

    def cost(self, op: Op) -> int:
        element = op.row.element
        return self.get(op).cost if element is None else element.cost


CALLBACKS = frozenset(("print", "check_access", "report"))
"""The ops that call back into Python with the values of their operands."""
PLAIN = Lowering(Role.POINTWISE)
"""What holds of an element-wise op."""


def is_scalar(op: Op) -> bool:
    """Whether the op works on scalars alone and needs no loop."""
    if op.regions or op.name in CALLBACKS:
        return False
    operands = [operand for operand in op.operands if operand is not None]
    return not any(shape_of(ty) for ty in (*op.types, *(operand.ty for operand in operands)))
