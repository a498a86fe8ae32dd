"""A formula over `Expr` as a NumPy function: the meaning of functions that NumPy does not have.

One idea: the formula is traced once and its ops are then evaluated in order by
their own rows' meanings; so a rare function is written once, as its expansion.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .build import Builder, using
from .expr import Expr
from .fold import evaluate
from .nodes import Const, Function, Op, Operand, Param
from .numeric import Array, bitcast, convert, held_dtype
from .types import F32, F64, ScalarType, element_of

Formula = Callable[..., Any]


def meaning(formula: Formula, arity: int, wide: bool = True) -> Callable[..., Array]:
    """The formula as a function of float32 or float64 arrays; `wide`: computed in float64 for both
    and rounded once."""

    def numpy(*arrays: Array) -> Array:
        given = arrays[0].dtype
        double = wide or given == np.float64
        held = [array.astype(np.float64 if double else np.float32) for array in arrays]
        return run(_traced(formula, arity, F64 if double else F32), held).astype(given)

    return numpy


@cache
def _traced(formula: Formula, arity: int, element: ScalarType) -> Function:
    params = [Param(f"x{i}", element) for i in range(arity)]
    with using(Builder(where=())) as builder:
        builder.emit("print", [formula(*map(Expr, params)).value])
        return builder.function("formula", params)


def run(function: Function, arrays: list[Array]) -> Array:
    """What the last op of a function without control flow is given, on these arguments."""
    values: dict[Any, Array] = dict(zip(function.params, arrays))

    def get(operand: Operand) -> Array:
        if isinstance(operand, Const):
            return np.array(operand.value, held_dtype(operand.ty))
        return values[operand]

    *ops, end = function.body.ops[:-1]
    with np.errstate(all="ignore"):
        for op in ops:
            values[op.results[0]] = _result(op, [get(operand) for operand in op.operands])
    return get(end.operands[0])


def _result(op: Op, arrays: list[Array]) -> Array:
    source: Any = element_of(op.operands[0].ty)  # type: ignore[union-attr]
    target: Any = element_of(op.types[0])
    row = op.row.element
    if row is not None:
        return evaluate(row, target, arrays)
    if op.name == "select":
        return np.where(*arrays)
    return {"cast": convert, "bitcast": bitcast}[op.name](source, target, arrays[0])
