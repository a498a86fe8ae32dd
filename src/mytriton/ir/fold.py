"""What is known of an op's result when it is made: constant results, and the algebra its row
promises.

One idea: folding evaluates the row's own NumPy meaning, so a constant can never differ from what
the interpreter computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .nodes import Const, Operand
from .numeric import Array, bitcast, canonical, convert, held_dtype, round_to
from .ops import Elementwise, Row
from .types import ScalarType, Type, element_of


def evaluate(row: Elementwise, result: ScalarType, arrays: Sequence[Array]) -> Array:
    """The row's meaning on held arrays, as one of the result type; small floats are rounded
    once."""
    with np.errstate(all="ignore"):
        value = np.asarray(row.numpy(*arrays))
    if result.kind == "f" and result.bits < 32:
        return round_to(result, value)
    return value.astype(held_dtype(result), copy=False)


def extreme(element: ScalarType, name: Any) -> bool | int | float:
    """A row's identity as a number of the type: "max" and "min" are the type's ends."""
    if name not in ("max", "min"):
        return canonical(element, name)
    if element.kind == "f":
        return float("inf") if name == "max" else float("-inf")
    return canonical(element, element.max_int if name == "max" else element.min_int)


def constant(value: Any, element: ScalarType) -> Const:
    """A constant of the type from a NumPy or Python number."""
    return Const(canonical(element, value.item() if hasattr(value, "item") else value), element)


def fold(row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    """An operand or constant equal to the op's result; None where there is none."""
    if row.element is None:
        special = _STRUCTURAL.get(row.name)
        return special(operands, attrs, ty) if special else None
    constants = [operand for operand in operands if isinstance(operand, Const)]
    if len(constants) == len(operands):
        return _evaluate_constants(row.element, constants, element_of(ty))
    return (
        _algebra(row.element, operands, constants, ty)
        if constants
        else _same_twice(row.element, operands)
    )


def _evaluate_constants(row: Elementwise, constants: Sequence[Const], result: Any) -> Operand:
    arrays = [np.array(c.value, held_dtype(c.ty)) for c in constants]
    return constant(evaluate(row, result, arrays)[()], result)


def _same_twice(row: Elementwise, operands: Sequence[Operand]) -> Operand:
    both = row.idempotent and len(operands) == 2 and operands[0] is operands[1]
    return operands[0] if both else None


def _algebra(
    row: Elementwise, operands: Sequence[Operand], constants: Sequence[Const], ty: Type
) -> Operand:
    """f(x, e) = x, and f(e, x) = x where it commutes, if x already has the result's shape."""
    element = constants[0].ty
    if len(operands) != 2 or element.kind not in row.identity:
        return None
    identity = Const(extreme(element, row.identity[element.kind]), element)
    left, right = operands
    if right == identity and left is not None and left.ty == ty:
        return left
    if row.commutes and left == identity and right is not None and right.ty == ty:
        return right
    return None


def _cast(operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    (value,), target = operands, attrs["to"]
    assert value is not None
    if element_of(value.ty) == target:
        return value
    if isinstance(value, Const) and isinstance(target, ScalarType):
        held = np.array(value.value, held_dtype(value.ty))
        return constant(convert(value.ty, target, held, attrs["rounding"] == "rtz")[()], target)
    return None


def _bitcast(operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    (value,), target = operands, attrs["to"]
    assert value is not None
    if element_of(value.ty) == target:
        return value
    nan = isinstance(value, Const) and value.value != value.value
    if isinstance(value, Const) and isinstance(target, ScalarType) and not nan:
        held = np.array([value.value], held_dtype(value.ty))
        return constant(bitcast(value.ty, target, held)[0], target)
    return None


def _unchanged(operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    return operands[0] if operands[0] is not None and operands[0].ty == ty else None


def _trans(operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    return operands[0] if tuple(attrs["order"]) == tuple(range(len(attrs["order"]))) else None


def _select(operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    condition, left, right = operands
    if left == right:
        return left if left is not None and left.ty == ty else None
    if isinstance(condition, Const):
        chosen = left if condition.value else right
        return chosen if chosen is not None and chosen.ty == ty else None
    return None


_STRUCTURAL: dict[str, Callable[..., Operand]] = {
    "cast": _cast,
    "bitcast": _bitcast,
    "broadcast": _unchanged,
    "reshape": _unchanged,
    "slice": _unchanged,
    "trans": _trans,
    "select": _select,
}
