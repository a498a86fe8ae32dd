"""Reductions, scans, maps, sorts and histograms: the ops along an axis.

A combine function is ordinary language code; it is called once with scalars and what it emits
becomes the op's region. Which functions are worth a shuffle or a SIMD loop is decided by targets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import CompileTypeError, CompileValueError
from ..ir.build import current
from ..ir.nodes import Param, Region
from ..ir.ops import RegionKind
from ..ir.types import Element, element_of
from . import promotion
from .arguments import (
    ConstBool,
    ConstInt,
    TensorLike,
    axis_argument,
    constant_int,
)
from .constexpr import builtin
from .creation import arange
from .portable import check_histogram
from .promotion import Handle, common_shape, emit, operand, truth
from .shapes import along_axis, expand_dims, ravel, reshape
from .tensor import given, tensor, to_tensor, wrap

__all__ = ["associative_scan", "histogram", "map_elementwise", "reduce"]

Combine = Callable[..., Any]


def _listed(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (tuple, list)) else [results]


def _region(function: Combine, params: Sequence[Param], elements: Sequence[Any]) -> Region:
    """The region of a scalar function; numbers it returns take the element types expected."""

    def body(*scalars: Param) -> list[Handle]:
        results = _listed(function(*map(tensor, scalars)))
        if elements and len(results) != len(elements):
            raise CompileTypeError(
                f"the function must return {len(elements)} values, returned {len(results)}"
            )
        wanted = elements or [None] * len(results)
        return [_returned(result, element) for result, element in zip(results, wanted)]

    return current().region(RegionKind.FUNCTION, params, body)


def _returned(result: Any, element: Element | None) -> Handle:
    value = given(result)
    return operand(value, element if isinstance(value, (bool, int, float)) else None)


def _combiner(combine_fn: Combine, operands: Sequence[Handle]) -> Region:
    elements = [element_of(value.ty) for value in operands]
    sides = [(side, i, e) for side in "xy" for i, e in enumerate(elements)]
    return _region(combine_fn, [Param(f"{side}{i}", e) for side, i, e in sides], elements)


def broadcast_all(inputs: Sequence[TensorLike]) -> list[tensor]:
    """The inputs as blocks of their common shape."""
    values = [to_tensor(value) for value in inputs]
    shape = common_shape([value.shape for value in values])
    return [tensor(promotion.broadcast_to(value.handle, shape)) for value in values]


@builtin
def reduce(
    input: TensorLike | Sequence[TensorLike],
    axis: ConstInt | None,
    combine_fn: Combine,
    keep_dims: ConstBool = False,
) -> Any:
    """The elements along an axis combined into one, in order.

    input: a block, or a tuple of blocks of one shape. combine_fn takes as many scalars for each of
    two elements and returns as many; it must be associative, not commutative. axis None: all axes,
    in row-major order. keep_dims keeps the axis with extent 1. Raises CompileTypeError if
    combine_fn does not return the inputs' types.
    """
    values = broadcast_all(_listed(input))
    shape = values[0].shape
    if not shape:
        return input
    place = 0 if axis is None else axis_argument(axis, len(shape))
    if axis is None:
        values = [ravel(value) for value in values]
    operands = [value.handle for value in values]
    region = _combiner(combine_fn, operands)
    results = [tensor(v) for v in current().emit("reduce", operands, {"axis": place}, (region,))]
    if keep_dims:
        kept = (1,) * len(shape) if axis is None else (*shape[:place], 1, *shape[place + 1 :])
        results = [tensor(promotion.reshape(value.handle, kept)) for value in results]
    return tuple(results) if isinstance(input, (tuple, list)) else results[0]


def reduce_with_indices(
    input: tensor, axis: ConstInt | None, combine_fn: Combine, keep_dims: ConstBool
) -> Any:
    """The reduction of (element, its index along the axis) pairs."""
    value = ravel(input) if axis is None else input
    place = 0 if axis is None else axis_argument(axis, len(value.shape))
    index = along_axis(arange(0, value.shape[place]), place, len(value.shape))
    pair = reduce((value, index), place, combine_fn, keep_dims)
    if axis is None and keep_dims:
        kept = (1,) * len(input.shape)
        pair = tuple(reshape(part, kept) for part in pair)
    return pair


@builtin
def associative_scan(
    input: TensorLike | Sequence[TensorLike],
    axis: ConstInt,
    combine_fn: Combine,
    reverse: ConstBool = False,
) -> Any:
    """The running combinations along an axis: element i is that of elements 0 … i, or of the last
    down to i with reverse. See `reduce` for input and combine_fn."""
    values = broadcast_all(_listed(input))
    if not values[0].shape:
        return input
    place = axis_argument(axis, len(values[0].shape))
    operands = [value.handle for value in values]
    attrs = {"axis": place, "reverse": bool(reverse)}
    results = current().emit("scan", operands, attrs, (_combiner(combine_fn, operands),))
    many = isinstance(input, (tuple, list))
    return tuple(map(tensor, results)) if many else tensor(results[0])


@builtin
def map_elementwise(scalar_fn: Combine, *args: TensorLike, pack: ConstInt = 1) -> Any:
    """A function of scalars applied to every element of blocks, which broadcast.

    scalar_fn may branch and loop on its scalars. With pack > 1 it takes that many elements of each
    argument at a time, in order, and returns as many for each result; the number of elements must
    divide by it. Gives one block, or a tuple if scalar_fn returns several.
    """
    count = constant_int(pack, "pack")
    if count > 1:
        return _map_packed(scalar_fn, args, count)
    operands = promotion.align([operand(given(value)) for value in args], "map_elementwise")
    params = [Param(f"x{i}", element_of(v.ty)) for i, v in enumerate(operands)]
    region = _region(scalar_fn, params, [])
    return wrap(current().emit("map", operands, {}, (region,)))


def _map_packed(scalar_fn: Combine, args: Sequence[TensorLike], pack: int) -> Any:
    """Splits each block into `pack` strided ones, maps, and puts the results back in turn."""
    values = broadcast_all(args)
    shape = values[0].shape
    if not shape or values[0].numel % pack:
        raise CompileValueError(f"pack={pack} does not divide the elements of shape {shape}")
    rows = [reshape(value, (values[0].numel // pack, pack)) for value in values]
    parts = [row[:, i] for row in rows for i in range(pack)]
    results = _listed(map_elementwise(scalar_fn, *parts))
    groups = [results[i : i + pack] for i in range(0, len(results), pack)]
    whole = [reshape(stack(group), shape) for group in groups]
    return whole[0] if len(whole) == 1 else tuple(whole)


def stack(parts: Sequence[tensor]) -> tensor:
    """Blocks of one shape along a new last axis."""
    columns = [expand_dims(part, -1) for part in parts]
    whole = columns[0].handle
    for column in columns[1:]:
        whole = emit("cat", whole, column.handle, axis=len(columns[0].shape) - 1)
    return tensor(whole)


def sorted_along(
    values: Sequence[tensor], dim: ConstInt | None, descending: ConstBool
) -> tuple[tensor, ...]:
    """The blocks sorted stably along an axis (None: the last) by the first of them."""
    axis = axis_argument(-1 if dim is None else dim, len(values[0].shape), "dim")
    operands = [value.handle for value in values]
    attrs = {"axis": axis, "descending": bool(descending)}
    return tuple(map(tensor, current().emit("sort", operands, attrs)))


@builtin
def histogram(input: TensorLike, num_bins: ConstInt, mask: TensorLike | None = None) -> tensor:
    """How many elements of a 1-D int block equal 0, 1, …, num_bins-1: an i32 block.

    Elements outside, and those where the mask is false, are not counted.
    """
    value = to_tensor(input)
    check_histogram(value.dtype)
    guard = None
    if mask is not None:
        guard = promotion.fit(truth(given(mask)), value.shape, "the mask")
    bins = constant_int(num_bins, "num_bins")
    return tensor(emit("histogram", value.handle, guard, bins=bins))
