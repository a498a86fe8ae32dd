"""Rearranging blocks: new axes, reshapes, transposes, joins, slices along an axis.

One idea: each is one structural op on a row-major block; no element changes its value.
"""

from __future__ import annotations

import math
from typing import Any

from ..errors import CompileValueError
from ..ir.build import current, emit
from . import semantics
from .blocks import arange, axis_argument, constant_int, shape_argument, to_tensor
from .constexpr import builtin, unwrap
from .tensor import member, tensor, wrap


@member
@builtin
def expand_dims(input: Any, axis: Any) -> tensor:
    """The input with new axes of extent 1 at `axis` (an int or a tuple, of the result's axes)."""
    value = to_tensor(input)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(value.shape) + len(axes)
    places = [axis_argument(a, rank) for a in axes]
    if len(set(places)) != len(places):
        raise CompileValueError(f"expand_dims: the axes {tuple(axes)} repeat")
    extents = iter(value.shape)
    shape = tuple(1 if place in places else next(extents) for place in range(rank))
    return tensor(semantics.reshape(value.handle, shape))


@member
@builtin
def reshape(input: Any, *shape: Any, can_reorder: bool = False) -> tensor:
    """The same elements in row-major order under another shape, given as a tuple or as ints.

    The order is kept whatever can_reorder says. Raises CompileValueError unless the number of
    elements is the same.
    """
    value, extents = to_tensor(input), shape_argument(shape) if unwrap(shape) != ((),) else ()
    if math.prod(extents) != value.numel:
        raise CompileValueError(
            f"reshape: shape {extents} has {math.prod(extents)} elements, the tensor of shape"
            f" {value.shape} has {value.numel}"
        )
    return tensor(semantics.reshape(value.handle, extents))


@member
@builtin
def view(input: Any, *shape: Any) -> tensor:
    """`reshape` under its old name."""
    return reshape(input, *shape)


@member
@builtin
def ravel(x: Any, can_reorder: bool = False) -> tensor:
    """The elements of x in row-major order as a 1-D block."""
    value = to_tensor(x)
    return tensor(semantics.reshape(value.handle, (value.numel,)))


@member
@builtin
def item(x: Any) -> tensor:
    """The one element of a block as a scalar. Raises CompileValueError for more elements."""
    value = to_tensor(x)
    if value.numel != 1:
        raise CompileValueError(f"item: one element is needed, got shape {value.shape}")
    return tensor(semantics.reshape(value.handle, ()))


@builtin
def squeeze(x: Any, dim: Any) -> tensor:
    """x without axis `dim`, whose extent must be 1."""
    axis = axis_argument(dim, len(x.shape), "dim")
    if x.shape[axis] != 1:
        raise CompileValueError(f"squeeze: axis {axis} of shape {x.shape} has not extent 1")
    return tensor(semantics.reshape(x.handle, x.shape[:axis] + x.shape[axis + 1 :]))


@builtin
def unsqueeze(x: Any, dim: Any) -> tensor:
    """x with a new axis of extent 1 at `dim`."""
    return expand_dims(x, dim)


@member
@builtin
def trans(input: Any, *dims: Any) -> tensor:
    """Axis i of the result is axis dims[i] of the input; without dims the last two swap."""
    return permute(input, *dims) if dims else to_tensor(input).T


@member
@builtin
def permute(input: Any, *dims: Any) -> tensor:
    """Axis i of the result is axis dims[i] of the input; dims as a tuple or as ints."""
    value = to_tensor(input)
    listed = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    order = tuple(axis_argument(axis, len(value.shape), "dims") for axis in listed)
    if sorted(order) != list(range(len(value.shape))):
        raise CompileValueError(
            f"permute: {tuple(listed)} is not an order of the {len(value.shape)} axes of shape"
            f" {value.shape}"
        )
    return tensor(emit("trans", value.handle, order=order))


@builtin
def join(a: Any, b: Any) -> tensor:
    """Both values, promoted and broadcast, along a new last axis of extent 2."""
    left, right = semantics.promote(a, b, symbol="join")
    shape = semantics.common_shape([tensor(left).shape, tensor(right).shape], "join")
    pair = (semantics.broadcast_to(value, shape) for value in (left, right))
    return tensor(emit("join", *pair))


@member
@builtin
def split(a: Any) -> tuple[tensor, tensor]:
    """The two halves of a last axis of extent 2, which goes; undoes join."""
    return wrap(current().emit("split", [to_tensor(a).handle]))  # type: ignore[no-any-return]


@builtin
def interleave(a: Any, b: Any) -> tensor:
    """The elements of a and b in turn along the last axis: a0 b0 a1 b1 …; of scalars a pair."""
    both = join(a, b)
    if len(both.shape) == 1:
        return both
    return reshape(both, (*both.shape[:-2], both.shape[-2] * 2))


@builtin
def cat(input: Any, other: Any, can_reorder: bool = False, dim: Any = 0) -> tensor:
    """Both blocks one after the other along `dim`, in order whatever can_reorder says.

    The other extents must be equal; dtypes promote.
    """
    left, right = semantics.promote(input, other, symbol="cat")
    axis = axis_argument(dim, len(tensor(left).shape), "dim")
    return tensor(emit("cat", left, right, axis=axis))


@member
@builtin
def gather(src: Any, index: Any, axis: Any) -> tensor:
    """Along `axis`, the elements of src that index names; the result has the index's shape.

    index: an int block, of src's shape but for `axis`; each from 0 to the extent less one.
    """
    place = axis_argument(axis, len(src.shape))
    return tensor(emit("gather", src.handle, index.handle, axis=place))


def laid_along(value: tensor, axis: int, rank: int) -> tensor:
    """A 1-D block along one axis of a block of that rank; the other extents are 1."""
    return reshape(value, tuple(value.numel if i == axis else 1 for i in range(rank)))


@member
@builtin
def flip(x: Any, dim: Any = None) -> tensor:
    """x backwards along `dim` (the last axis when None)."""
    rank = len(x.shape)
    axis = axis_argument(-1 if dim is None else dim, rank, "dim")
    extent = x.shape[axis]
    backwards = laid_along((extent - 1) - arange(0, extent), axis, rank)
    index = semantics.broadcast_to(backwards.handle, x.shape)
    return tensor(emit("gather", x.handle, index, axis=axis))


@builtin
def extract_slice(ful: Any, offsets: Any, sizes: Any, strides: Any) -> tensor:
    """The part of a block at constant offsets; strides must be 1."""
    if any(constant_int(stride, "a stride") != 1 for stride in strides):
        raise CompileValueError("extract_slice: strides other than 1 are not supported")
    starts = tuple(constant_int(offset, "an offset") for offset in offsets)
    return tensor(emit("slice", ful.handle, starts=starts, shape=shape_argument(sizes)))
