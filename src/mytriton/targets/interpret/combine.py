"""What the ops mean that combine many elements: reductions, scans, sorts, counts, products.

One idea: a combine function is run on whole arrays, so a reduction of n elements is log2(n) NumPy
steps. The order is fixed and never exchanges elements, so any associative function works, also one
that does not commute:

    reduce  x0 x1 x2 x3 x4  →  (x0·x1) (x2·x3) x4  →  ((x0·x1)·(x2·x3)) x4  →  ((x0·x1)·(x2·x3))·x4
    scan    distance 1, 2, 4, …: every element is combined with the one that far before it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.nodes import Op
from ...ir.numeric import Array, round_to
from ...ir.types import BF16, F32, ScalarType, element_of
from .blocks import Arrays, Meaning, operand_type

if TYPE_CHECKING:
    from .program import Program

Combine = Callable[[Sequence[Array], Sequence[Array]], Sequence[Array]]


def _combiner(program: Program, op: Op) -> Combine:
    def combine(left: Sequence[Array], right: Sequence[Array]) -> Sequence[Array]:
        return program.run_over(op.regions[0], (*left, *right), np.shape(left[0]))

    return combine


def _reduce(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    combine = _combiner(program, op)
    parts = [np.moveaxis(value, op.attrs["axis"], 0) for value in values]
    while (extent := len(parts[0])) > 1:
        pairs = extent // 2 * 2
        made = combine([p[0:pairs:2] for p in parts], [p[1:pairs:2] for p in parts])
        parts = [np.concatenate([new, old[pairs:]]) for new, old in zip(made, parts)]
    return tuple(np.asarray(part[0]) for part in parts)


def _scan(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """Reversed: flipped, scanned, flipped back; the last element is the first to be combined."""
    combine, axis = _combiner(program, op), op.attrs["axis"]
    step = -1 if op.attribute("reverse") else 1
    parts = [np.moveaxis(value, axis, 0)[::step] for value in values]
    distance = 1
    while distance < len(parts[0]):
        made = combine([p[:-distance] for p in parts], [p[distance:] for p in parts])
        parts = [np.concatenate([old[:distance], new]) for new, old in zip(made, parts)]
        distance *= 2
    return tuple(np.moveaxis(part[::step], 0, axis) for part in parts)


def _sort(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """Equal elements keep their order, and NaNs come last, in both directions."""
    axis = op.attrs["axis"]
    order = _stable_order(values[0], axis, op.attribute("descending"))
    return tuple(np.take_along_axis(value, order, axis) for value in values)


def _stable_order(key: Array, axis: int, descending: bool) -> Array:
    if not descending:
        return np.argsort(key, axis, kind="stable")
    if key.dtype.kind == "f":
        return np.argsort(-key, axis, kind="stable")
    backward = np.argsort(np.flip(key, axis), axis, kind="stable")
    return np.asarray(key.shape[axis] - 1 - np.flip(backward, axis))


def _histogram(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """Elements outside 0 … bins-1 are not counted."""
    value, mask = values
    bins = op.attrs["bins"]
    counted = (value >= 0) & (value < bins) & (True if mask is None else mask)
    counts = np.bincount(value[counted].astype(np.int64), minlength=bins)
    return (counts.astype(np.int32),)


_TF32 = ScalarType("tf32", "tf32", "f", 19, 8, 10, 127, "ieee")
PARTS = {"tf32": (_TF32, 1), "tf32x3": (_TF32, 2), "bf16x3": (BF16, 2), "bf16x6": (BF16, 3)}
"""How a precision cuts an f32 operand: the format of its parts and their number. Part i of the left
operand meets part j of the right where i + j is less than that number: 1, 3 or 6 products."""


def _dot(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    left, right, acc = values
    element, result = element_of(operand_type(op, 0)), element_of(operand_type(op, 2))
    if not isinstance(result, ScalarType) or result.kind != "f":
        with np.errstate(all="ignore"):
            return (np.asarray(acc + _whole_product(left, right).astype(acc.dtype)),)
    with np.errstate(all="ignore"):
        total = _real_product(left, right, element, op.attribute("precision")) + acc
        total = _signed_zeros(left, right, np.asarray(acc), total)
    return (round_to(result, total),)


def _signed_zeros(left: Array, right: Array, acc: Array, total: Array) -> Array:
    """-0.0 where the accumulator and all products are -0.0, as where they are added one by one."""
    zeros = (total == 0) & np.signbit(acc)
    if not zeros.any():
        return total
    minus, other = (np.signbit(part).astype(np.float64) for part in (left, right))
    positive = minus @ other + (1 - minus) @ (1 - other)
    return np.where(zeros & (positive == 0), -0.0, total)


def _whole_product(left: Array, right: Array) -> Array:
    """The exact product modulo 2**64; through float64 where that is exact, since it is fast."""
    if left.itemsize <= 2 and left.shape[-1] < 1 << 20:
        wide = left.astype(np.float64) @ right.astype(np.float64)
        return np.asarray(wide.astype(np.int64))
    return np.asarray(left.astype(np.int64) @ right.astype(np.int64))


def _real_product(left: Array, right: Array, element: Any, precision: str) -> Array:
    """The product in float64, of the operands or of the parts that the precision cuts them into."""
    if element != F32 or precision not in PARTS:
        return np.asarray(left.astype(np.float64) @ right.astype(np.float64))
    part, count = PARTS[precision]
    lefts, rights = _cut(part, count, left), _cut(part, count, right)
    first, *rest = (lefts[i] @ rights[j] for i in range(count) for j in range(count - i))
    # An infinity times a part that is zero says nothing: the first product has it right.
    return np.asarray(first + sum(np.where(np.isnan(product), 0.0, product) for product in rest))


def _cut(part: ScalarType, count: int, value: Array) -> list[Array]:
    """Numbers of the format, each the rest of the one before, that add up to about the value."""
    parts, rest = [], value.astype(np.float64)
    for _ in range(count):
        parts.append(round_to(part, rest).astype(np.float64))
        rest = np.where(np.isfinite(parts[-1]), rest - parts[-1], 0.0)
    return parts


def _map(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    shape = np.broadcast_shapes(*(np.shape(value) for value in values))
    stretched = [np.broadcast_to(value, shape) for value in values]
    return tuple(program.run_over(op.regions[0], stretched, shape))


MEANINGS: dict[str, Meaning] = {
    "reduce": _reduce,
    "scan": _scan,
    "sort": _sort,
    "histogram": _histogram,
    "dot": _dot,
    "map": _map,
}
