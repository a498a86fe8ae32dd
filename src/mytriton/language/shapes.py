"""Rearranging blocks: new axes, reshapes, broadcasts, transposes, joins, slices along an axis.

Each is one structural op on a row-major block; no element changes its value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import CompileValueError
from ..ir.build import current
from . import promotion
from .arguments import (
    Axes,
    ConstBool,
    ConstInt,
    ShapeLike,
    TensorLike,
    axis_argument,
    constant_int,
    shape_argument,
)
from .constexpr import builtin
from .creation import arange
from .portable import check_same
from .promotion import common_shape, emit, promote
from .tensor import given, tensor, to_tensor

__all__ = [
    "broadcast",
    "broadcast_to",
    "cat",
    "expand_dims",
    "extract_slice",
    "flip",
    "gather",
    "interleave",
    "join",
    "permute",
    "ravel",
    "reshape",
    "split",
    "squeeze",
    "trans",
    "unsqueeze",
    "view",
]


@builtin
def broadcast(input: TensorLike, other: TensorLike) -> tuple[tensor, tensor]:
    """Both values stretched to their common shape. Raises CompileValueError if there is none."""
    left, right = to_tensor(input), to_tensor(other)
    shape = common_shape([left.shape, right.shape], "broadcast")
    return _stretched(left, shape), _stretched(right, shape)


@builtin
def broadcast_to(input: TensorLike, *shape: ShapeLike) -> tensor:
    """The input stretched to a shape: extents of 1, and missing leading axes, repeat.

    Raises CompileValueError if it does not fit.
    """
    return _stretched(to_tensor(input), shape_argument(shape))


def _stretched(value: tensor, shape: tuple[int, ...]) -> tensor:
    return tensor(promotion.broadcast_to(value.handle, shape))


@builtin
def expand_dims(input: TensorLike, axis: Axes) -> tensor:
    """The input with new axes of extent 1 at `axis` (an int or several, of the result's axes).

    Raises CompileValueError for an axis that repeats or does not exist.
    """
    value = to_tensor(input)
    axes: Sequence[ConstInt] = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(value.shape) + len(axes)
    places = [axis_argument(a, rank) for a in axes]
    if len(set(places)) != len(places):
        raise CompileValueError(f"expand_dims: the axes {tuple(axes)} repeat")
    extents = iter(value.shape)
    shape = tuple(1 if place in places else next(extents) for place in range(rank))
    return tensor(promotion.reshape(value.handle, shape))


@builtin
def reshape(input: TensorLike, *shape: ShapeLike, can_reorder: ConstBool = False) -> tensor:
    """The same elements in row-major order under another shape, given as a tuple or as ints.

    The order is kept whatever can_reorder says. Raises CompileValueError unless the number of
    elements is the same.
    """
    value, extents = to_tensor(input), shape_argument(shape)
    if math.prod(extents) != value.numel:
        raise CompileValueError(
            f"reshape: shape {extents} has {math.prod(extents)} elements, the tensor of shape"
            f" {value.shape} has {value.numel}"
        )
    return tensor(promotion.reshape(value.handle, extents))


@builtin
def view(input: TensorLike, *shape: ShapeLike) -> tensor:
    """`reshape` under its old name."""
    return reshape(input, *shape)


@builtin
def ravel(x: TensorLike, can_reorder: ConstBool = False) -> tensor:
    """The elements of x in row-major order as a 1-D block."""
    value = to_tensor(x)
    return tensor(promotion.reshape(value.handle, (value.numel,)))


@builtin
def item(x: TensorLike) -> tensor:
    """The one element of a block as a scalar. Raises CompileValueError for more elements."""
    value = to_tensor(x)
    if value.numel != 1:
        raise CompileValueError(f"item: one element is needed, got shape {value.shape}")
    return tensor(promotion.reshape(value.handle, ()))


@builtin
def squeeze(x: TensorLike, dim: ConstInt) -> tensor:
    """x without axis `dim`. Raises CompileValueError unless its extent is 1."""
    value = to_tensor(x)
    axis = axis_argument(dim, len(value.shape), "dim")
    extent = value.shape[axis]
    if extent != 1:
        raise CompileValueError(
            f"squeeze: axis {axis} of shape {value.shape} has extent {extent}, not 1"
        )
    return tensor(promotion.reshape(value.handle, value.shape[:axis] + value.shape[axis + 1 :]))


@builtin
def unsqueeze(x: TensorLike, dim: ConstInt) -> tensor:
    """x with a new axis of extent 1 at `dim`."""
    return expand_dims(x, dim)


@builtin
def trans(input: TensorLike, *dims: Axes) -> tensor:
    """Axis i of the result is axis dims[i] of the input; without dims the last two swap."""
    return permute(input, *dims) if dims else to_tensor(input).T


@builtin
def permute(input: TensorLike, *dims: Axes) -> tensor:
    """Axis i of the result is axis dims[i] of the input; dims as a tuple or as ints."""
    value = to_tensor(input)
    whole = len(dims) == 1 and isinstance(dims[0], (tuple, list))
    listed: Sequence[ConstInt] = dims[0] if whole else dims  # type: ignore[assignment]
    order = tuple(axis_argument(axis, len(value.shape), "dims") for axis in listed)
    if sorted(order) != list(range(len(value.shape))):
        raise CompileValueError(
            f"permute: {tuple(listed)} is not an order of the {len(value.shape)} axes of shape"
            f" {value.shape}"
        )
    return tensor(emit("trans", value.handle, order=order))


@builtin
def join(a: TensorLike, b: TensorLike) -> tensor:
    """Both values, promoted and broadcast, along a new last axis of extent 2."""
    check_same(to_tensor(a).dtype, to_tensor(b).dtype, "tl.join")
    left, right = map(tensor, promote(given(a), given(b), symbol="join"))
    shape = common_shape([left.shape, right.shape], "join")
    pair = (promotion.broadcast_to(value.handle, shape) for value in (left, right))
    return tensor(emit("join", *pair))


@builtin
def split(a: TensorLike) -> tuple[tensor, tensor]:
    """The two halves of a last axis of extent 2, which goes; undoes join."""
    left, right = current().emit("split", [to_tensor(a).handle])
    return tensor(left), tensor(right)


@builtin
def interleave(a: TensorLike, b: TensorLike) -> tensor:
    """The elements of a and b in turn along the last axis: a0 b0 a1 b1 …; of scalars a pair."""
    both = join(a, b)
    if len(both.shape) == 1:
        return both
    return reshape(both, (*both.shape[:-2], both.shape[-2] * 2))


@builtin
def cat(
    input: TensorLike, other: TensorLike, can_reorder: ConstBool = False, dim: ConstInt = 0
) -> tensor:
    """Both blocks one after the other along `dim`, in order whatever can_reorder says.

    The other extents must be equal; dtypes promote.
    """
    check_same(to_tensor(input).dtype, to_tensor(other).dtype, "tl.cat")
    left, right = promote(given(input), given(other), symbol="cat")
    axis = axis_argument(dim, len(tensor(left).shape), "dim")
    return tensor(emit("cat", left, right, axis=axis))


@builtin
def gather(src: tensor, index: tensor, axis: ConstInt) -> tensor:
    """Along `axis`, the elements of src that index names; the result has the index's shape.

    index: an int block, of src's shape but for `axis`; each from 0 to the extent less one.
    """
    place = axis_argument(axis, len(src.shape))
    return tensor(emit("gather", src.handle, index.handle, axis=place))


def along_axis(value: tensor, axis: int, rank: int) -> tensor:
    """A 1-D block along one axis of a block of that rank; the other extents are 1."""
    return reshape(value, tuple(value.numel if i == axis else 1 for i in range(rank)))


@builtin
def flip(x: tensor, dim: ConstInt | None = None) -> tensor:
    """x backwards along `dim` (the last axis when None)."""
    rank = len(x.shape)
    axis = axis_argument(-1 if dim is None else dim, rank, "dim")
    extent = x.shape[axis]
    backwards = along_axis((extent - 1) - arange(0, extent), axis, rank)
    index = promotion.broadcast_to(backwards.handle, x.shape)
    return tensor(emit("gather", x.handle, index, axis=axis))


@builtin
def extract_slice(
    ful: tensor, offsets: Sequence[ConstInt], sizes: ShapeLike, strides: Sequence[ConstInt]
) -> tensor:
    """The part of a block at constant offsets; strides must be 1."""
    if any(constant_int(stride, "a stride") != 1 for stride in strides):
        raise CompileValueError("extract_slice: strides other than 1 are not supported")
    starts = tuple(constant_int(offset, "an offset") for offset in offsets)
    return tensor(emit("slice", ful.handle, starts=starts, shape=shape_argument(sizes)))
