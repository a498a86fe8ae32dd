"""What is asked of an op's operands all over this target: their types, elements and shapes.

An operand may be absent in some ops (`None`), so whoever knows that it is there says so
by asking here.
"""

from __future__ import annotations

from ...ir.nodes import Const, Op, Operand, Param, Value
from ...ir.types import ScalarType, Type, element_of, shape_of


def present(operand: Operand) -> Value | Param | Const:
    """The operand, which is there."""
    assert operand is not None
    return operand


def named(operand: Operand) -> Value | Param:
    """The operand, which is neither absent nor a constant."""
    assert isinstance(operand, (Value, Param))
    return operand


def type_of(op: Op, index: int) -> Type:
    """The type of an operand."""
    return present(op.operands[index]).ty


def shape_at(op: Op, index: int) -> tuple[int, ...]:
    """The shape of an operand."""
    return shape_of(type_of(op, index))


def scalar_at(op: Op, index: int) -> ScalarType:
    """The element type of an operand that is no pointer."""
    element = element_of(type_of(op, index))
    assert isinstance(element, ScalarType)
    return element
