"""The standard library: functions written in the language itself.

Nothing here knows an op. What a reduction combines, how softmax is computed and what a
swizzle does is ordinary kernel code, inlined where it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..ir.types import BF16, F32, I32, U32, Element, ScalarType
from .arguments import (
    ConstBool,
    ConstInt,
    DTypeLike,
    TensorLike,
    axis_argument,
    constant_int,
)
from .constexpr import builtin
from .creation import arange, cast
from .dtypes import as_dtype
from .math import exp, fdiv, maximum, minimum, where
from .reductions import associative_scan, reduce, reduce_with_indices, sorted_along
from .shapes import along_axis, broadcast_to
from .tensor import tensor, to_tensor

__all__ = [
    "_log2",
    "argmax",
    "argmin",
    "argsort",
    "bitonic_merge",
    "cdiv",
    "cumprod",
    "cumsum",
    "max",
    "min",
    "reduce_or",
    "sigmoid",
    "softmax",
    "sort",
    "sort_impl",
    "sum",
    "swizzle2d",
    "topk",
    "xor_sum",
]

Axis: TypeAlias = ConstInt | None
"""One axis, or None for all."""


def _add(x: Any, y: Any) -> Any:
    return x + y


def _multiply(x: Any, y: Any) -> Any:
    return x * y


def _xor(x: Any, y: Any) -> Any:
    return x ^ y


def _or(x: Any, y: Any) -> Any:
    return x | y


# -- numbers


@builtin
def cdiv(x: Any, div: Any) -> Any:
    """x / div rounded up, of ints: (x + div - 1) // div. Plain ints give a plain int."""
    return (x + (div - 1)) // div


@builtin
def sigmoid(x: TensorLike) -> tensor:
    """1 / (1 + exp(-x)), of floats, element by element; in f32 for floats below 32 bits."""
    value = to_tensor(x)
    return 1 / (1 + exp(-value))


@builtin
def softmax(
    x: tensor,
    dim: Axis = None,
    keep_dims: ConstBool | None = None,
    ieee_rounding: ConstBool = False,
) -> tensor:
    """exp(x - max) / sum of the same along `dim` (the first axis when None); the shape of x."""
    axis = axis_argument(0 if dim is None else dim, len(x.shape), "dim")
    numerator = exp(x - max(x, axis, keep_dims=True))
    return fdiv(numerator, sum(numerator, axis, keep_dims=True), ieee_rounding)


@builtin
def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Any, Any]:
    """Row-major indices (i, j) of a size_i × size_j grid, visited column by column within groups of
    size_g rows (the last group may have fewer)."""
    place = i * size_j + j
    group = place // (size_g * size_j)
    first = group * size_g
    rows = minimum(size_i - first, size_g)
    inside = place % (size_g * size_j)
    return first + inside % rows, inside // rows


# -- reductions


def sum_type(element: Element, dtype: DTypeLike | None) -> ScalarType | None:
    """The type a sum is given in: bools and ints below 32 bits grow to 32; None keeps."""
    if dtype is not None:
        chosen = as_dtype(dtype)
        assert isinstance(chosen, ScalarType)
        return chosen
    if element.kind in "biu" and element.bits < 32:
        return I32 if element.kind == "i" else U32
    return None


def _accumulated(value: tensor, along: Callable[[tensor], tensor]) -> tensor:
    """A sum or product of small floats is run in f32 and rounded once."""
    element = value.dtype
    if element.kind == "f" and element.bits < 32:
        return cast(along(cast(value, F32)), element)
    return along(value)


@builtin
def sum(
    input: TensorLike,
    axis: Axis = None,
    keep_dims: ConstBool = False,
    dtype: DTypeLike | None = None,
) -> tensor:
    """The sum along an axis, or of everything when None.

    Of ints narrower than 32 bits in i32 or u32, of bools in u32; of floats below 32 bits
    accumulated in f32 and rounded once to their type. dtype: the type to sum in, instead.
    """
    value = to_tensor(input)
    target = sum_type(value.dtype, dtype)
    value = value if target is None else cast(value, target)
    return _accumulated(value, lambda v: reduce(v, axis, _add, keep_dims))


@builtin
def xor_sum(input: TensorLike, axis: Axis = None, keep_dims: ConstBool = False) -> tensor:
    """The exclusive or along an axis, or of everything when None; ints and bools."""
    return reduce(to_tensor(input), axis, _xor, keep_dims)  # type: ignore[no-any-return]


@builtin
def reduce_or(input: TensorLike, axis: Axis, keep_dims: ConstBool = False) -> tensor:
    """The bitwise or along an axis, or of everything when None; ints and bools."""
    return reduce(to_tensor(input), axis, _or, keep_dims)  # type: ignore[no-any-return]


def _pair_order(wins: Callable[[Any, Any], Any], tie_break_left: bool) -> Callable[..., Any]:
    """The combine function on (value, index) pairs: NaN loses; ties go to the lower index."""

    def combine(left: Any, i: Any, right: Any, j: Any) -> Any:
        left_wins = wins(left, right)
        if tie_break_left:
            left_wins = left_wins | ((left == right) & (i < j))
        if left.dtype.is_floating():
            left_wins = left_wins | (right != right)
        return where(left_wins, left, right), where(left_wins, i, j)

    return combine


def _greater(x: Any, y: Any) -> Any:
    return x > y


def _less(x: Any, y: Any) -> Any:
    return x < y


def _extremum(
    input: TensorLike,
    axis: Axis,
    return_indices: ConstBool,
    tie_break_left: ConstBool,
    keep_dims: ConstBool,
    pick: Callable[[Any, Any], Any],
    wins: Callable[[Any, Any], Any],
) -> Any:
    value = to_tensor(input)
    if value.dtype == BF16:
        value = cast(value, F32)
    if return_indices:
        return reduce_with_indices(value, axis, _pair_order(wins, bool(tie_break_left)), keep_dims)
    if value.dtype.bits < 32:
        value = cast(value, F32 if value.dtype.is_floating() else I32)
    return reduce(value, axis, pick, keep_dims)


@builtin
def max(
    input: TensorLike,
    axis: Axis = None,
    return_indices: ConstBool = False,
    return_indices_tie_break_left: ConstBool = True,
    keep_dims: ConstBool = False,
) -> Any:
    """The greatest element along an axis, or of everything when None; NaN only where all are NaN.

    Types below 32 bits give f32 or i32. return_indices: the pair (greatest, its i32 index), the
    first of equals unless return_indices_tie_break_left is False; bf16 gives f32.
    """
    ties = return_indices_tie_break_left
    return _extremum(input, axis, return_indices, ties, keep_dims, maximum, _greater)


@builtin
def min(
    input: TensorLike,
    axis: Axis = None,
    return_indices: ConstBool = False,
    return_indices_tie_break_left: ConstBool = True,
    keep_dims: ConstBool = False,
) -> Any:
    """The least element along an axis, or of everything when None; NaN only where all are NaN.

    Types below 32 bits give f32 or i32. return_indices: the pair (least, its i32 index), the first
    of equals unless return_indices_tie_break_left is False; bf16 gives f32.
    """
    ties = return_indices_tie_break_left
    return _extremum(input, axis, return_indices, ties, keep_dims, minimum, _less)


@builtin
def argmax(
    input: TensorLike, axis: Axis, tie_break_left: ConstBool = True, keep_dims: ConstBool = False
) -> tensor:
    """The i32 index of the greatest element along an axis, NaN skipped; the first of equals unless
    tie_break_left is False. A row of only NaN gives some index inside it."""
    return max(input, axis, True, tie_break_left, keep_dims)[1]  # type: ignore[no-any-return]


@builtin
def argmin(
    input: TensorLike, axis: Axis, tie_break_left: ConstBool = True, keep_dims: ConstBool = False
) -> tensor:
    """The i32 index of the least element along an axis, NaN skipped; the first of equals unless
    tie_break_left is False. A row of only NaN gives some index inside it."""
    return min(input, axis, True, tie_break_left, keep_dims)[1]  # type: ignore[no-any-return]


# -- scans


def _scan(
    input: TensorLike,
    axis: ConstInt,
    reverse: ConstBool,
    dtype: DTypeLike | None,
    combine: Callable[..., Any],
) -> tensor:
    value = to_tensor(input)
    target = sum_type(value.dtype, dtype)
    value = value if target is None else cast(value, target)
    return _accumulated(value, lambda v: associative_scan(v, axis, combine, reverse))


@builtin
def cumsum(
    input: TensorLike,
    axis: ConstInt = 0,
    reverse: ConstBool = False,
    dtype: DTypeLike | None = None,
) -> tensor:
    """The running sum along an axis, from the end with reverse; types as for `sum`."""
    return _scan(input, axis, reverse, dtype, _add)


@builtin
def cumprod(
    input: TensorLike,
    axis: ConstInt = 0,
    reverse: ConstBool = False,
    dtype: DTypeLike | None = None,
) -> tensor:
    """The running product along an axis, from the end with reverse; types as for `sum`."""
    return _scan(input, axis, reverse, dtype, _multiply)


# -- order


@builtin
def sort(x: tensor, dim: Axis = None, descending: ConstBool = False) -> tensor:
    """x sorted along `dim` (the last when None), ascending unless descending; floats as numbers,
    NaN last, whichever the direction."""
    return sorted_along([x], dim, descending)[0]


@builtin
def argsort(x: tensor, dim: Axis = None, descending: ConstBool = False) -> tensor:
    """The i32 indices that sort x along `dim` (the last when None), stably."""
    axis = axis_argument(-1 if dim is None else dim, len(x.shape), "dim")
    return sorted_along([x, _index_along(x, axis)], axis, descending)[1]


def _index_along(x: tensor, axis: int) -> tensor:
    index = along_axis(arange(0, x.shape[axis]), axis, len(x.shape))
    return broadcast_to(index, x.shape)


@builtin
def topk(x: tensor, k: ConstInt, dim: Axis = None, descending: ConstBool = True) -> tensor:
    """The k greatest elements along `dim` (the last when None), greatest first; with
    descending=False the k least, least first."""
    axis = axis_argument(-1 if dim is None else dim, len(x.shape), "dim")
    count = constant_int(k, "k")
    ordered = sorted_along([x], axis, descending)[0]
    return ordered[(slice(None),) * axis + (slice(0, count),)]


@builtin
def bitonic_merge(x: tensor, dim: Axis = None, descending: ConstBool = False) -> tensor:
    """x sorted along `dim`, for x that rises and then falls, or falls and then rises, along it."""
    return sorted_along([x], dim, descending)[0]


@builtin
def sort_impl(
    x: tensor, k: ConstInt | None = None, dim: Axis = None, descending: ConstBool = False
) -> tensor:
    """`sort`, or `topk` where k is given."""
    return sort(x, dim, descending) if k is None else topk(x, k, dim, descending)


def _log2(i: ConstInt) -> int:
    """The whole part of the base-2 logarithm of a positive constant."""
    return constant_int(i, "_log2's argument").bit_length() - 1
