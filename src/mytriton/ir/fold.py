"""Folding: what is known of an op's result when it is made.

A fold may give an operand of the op, or a constant; it never emits an op. It must equal the op's
result for every input, to the bit (a NaN is like any other), and have its type. So the builder can
fold always and everywhere: while tracing, in passes, in expansions. What needs new ops is a rule of
`passes/algebra`.

Constants are computed by the row's own NumPy meaning, so a constant can never differ from what the
interpreter computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Fold:
    """One way to know an op's result when it is made. `rewrite` gets the row, the operands, the
    attributes and the result's type, and gives what equals the result, or None."""

    name: str
    law: str
    ops: tuple[str, ...]
    """The rows it is for; none: every element-wise row."""
    rewrite: Callable[[Row, Sequence[Operand], Mapping[str, Any], Type], Operand]


def fold(row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    """An operand or constant equal to the op's first result, of type `ty`; None where there is
    none."""
    for law in _ELEMENTWISE if row.element is not None else _BY_NAME.get(row.name, ()):
        known = law.rewrite(row, operands, attrs, ty)
        if known is not None:
            return known
    return None


def _constants(
    row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type
) -> Operand:
    element = element_of(ty)
    constants = [operand for operand in operands if isinstance(operand, Const)]
    if row.element is None or len(constants) < len(operands):
        return None
    assert isinstance(element, ScalarType)
    arrays = [np.array(c.value, held_dtype(c.ty)) for c in constants]
    return constant(evaluate(row.element, element, arrays)[()], element)


def _identity(row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    if row.element is None or not row.element.identity or len(operands) != 2:
        return None
    left, right = operands
    if _is_identity(row.element, right) and left is not None and left.ty == ty:
        return left
    commuted = row.element.commutes and _is_identity(row.element, left)
    return right if commuted and right is not None and right.ty == ty else None


def _is_identity(row: Elementwise, operand: Operand) -> bool:
    if not isinstance(operand, Const) or operand.ty.kind not in row.identity:
        return False
    return operand == Const(extreme(operand.ty, row.identity[operand.ty.kind]), operand.ty)


def _idempotent(
    row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type
) -> Operand:
    idempotent = row.element is not None and row.element.idempotent and len(operands) == 2
    return operands[0] if idempotent and operands[0] is operands[1] else None


def _cast(row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    (value,), target = operands, attrs["to"]
    if value is None or element_of(value.ty) == target or not isinstance(target, ScalarType):
        return value if value is not None and value.ty == ty else None
    if not isinstance(value, Const):
        return None
    held = np.array([value.value], held_dtype(value.ty))
    if row.name == "cast":
        return constant(convert(value.ty, target, held, attrs["rounding"] == "rtz")[0], target)
    is_nan = value.value != value.value  # whose bits the constant does not tell
    return None if is_nan else constant(bitcast(value.ty, target, held)[0], target)


def _unchanged(
    row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type
) -> Operand:
    order = attrs.get("order", ())
    moved = tuple(order) != tuple(range(len(order)))
    return operands[0] if operands[0] is not None and operands[0].ty == ty and not moved else None


def chosen(operands: Sequence[Operand]) -> Operand:
    """The side that a select always takes."""
    condition, left, right = operands
    if isinstance(condition, Const):
        return left if condition.value else right
    return left if left == right else None


def _select(row: Row, operands: Sequence[Operand], attrs: Mapping[str, Any], ty: Type) -> Operand:
    side = chosen(operands)
    return side if side is not None and side.ty == ty else None


_SHAPES = ("broadcast", "reshape", "slice", "trans")
FOLDS = (
    Fold("constants", "f(c, …) is what the row's NumPy meaning gives", (), _constants),
    Fold("identity", "f(x, e) = x, and f(e, x) = x where f commutes, e of the row", (), _identity),
    Fold("idempotent", "f(x, x) = x, where the row says so", (), _idempotent),
    Fold("same type", "a cast to the operand's type is it; of a constant, one", ("cast",), _cast),
    Fold("same bits", "a bitcast to the operand's type is it; so", ("bitcast",), _cast),
    Fold(
        "same shape", "a shape's own is it", ("broadcast", "reshape", "slice", "trans"), _unchanged
    ),
    Fold("choice", "select(true, x, y) = select(c, x, x) = x", ("select",), _select),
)
"""Tried in order."""
_ELEMENTWISE = tuple(law for law in FOLDS if not law.ops)
_BY_NAME = {name: tuple(f for f in FOLDS if name in f.ops) for law in FOLDS for name in law.ops}
