"""Making values: program ids, ranges, blocks of constants, and casts."""

from __future__ import annotations

from ..errors import CompileTypeError, CompileValueError
from ..ir.types import Element, PointerType, ScalarType, VectorType, element_of
from .arguments import (
    ConstBool,
    ConstInt,
    ConstStr,
    DTypeLike,
    ShapeLike,
    TensorLike,
    constant_int,
    shape_argument,
)
from .constexpr import builtin, unwrap
from .dtypes import as_dtype
from .portable import check_cast
from .promotion import bitcast as bits_as
from .promotion import cast as converted
from .promotion import convert_number, emit, number_type, operand
from .tensor import given, tensor, to_tensor

__all__ = [
    "TRITON_MAX_TENSOR_NUMEL",
    "arange",
    "cast",
    "full",
    "num_programs",
    "program_id",
    "to_tensor",
    "zeros",
    "zeros_like",
]

TRITON_MAX_TENSOR_NUMEL = 1048576


# -- the grid


@builtin
def program_id(axis: ConstInt) -> tensor:
    """The index of this program along grid axis 0, 1 or 2: an i32 scalar."""
    return tensor(emit("program_id", axis=constant_int(axis, "axis")))


@builtin
def num_programs(axis: ConstInt) -> tensor:
    """The extent of the grid along axis 0, 1 or 2: an i32 scalar."""
    return tensor(emit("num_programs", axis=constant_int(axis, "axis")))


# -- blocks of constants


@builtin
def arange(start: ConstInt, end: ConstInt) -> tensor:
    """The i32 block start, start+1, …, end-1; both known when the kernel is compiled, end > start.

    Any positive length is allowed, not only powers of two. Raises CompileTypeError otherwise.
    """
    low, high = constant_int(start, "arange's start"), constant_int(end, "arange's end")
    return tensor(emit("arange", start=low, end=high))


@builtin
def full(shape: ShapeLike, value: TensorLike, dtype: DTypeLike | None = None) -> tensor:
    """A block of this shape filled with a number or scalar tensor, converted to dtype.

    Raises CompileValueError if value is a block.
    """
    fill, extents = given(value), shape_argument(shape)
    if isinstance(fill, (bool, int, float)):
        element = number_type(fill) if dtype is None else as_dtype(dtype)
        if isinstance(element, PointerType):
            raise CompileTypeError("full: a block of pointers is made by tl.broadcast_to(ptr, …)")
        scalar = operand(convert_number(fill, element))
    elif isinstance(fill.ty, VectorType):
        raise CompileValueError(f"full: the value must be a scalar, got {fill.ty}")
    else:
        scalar = fill if dtype is None else converted(fill, as_dtype(dtype))
    return tensor(emit("broadcast", scalar, shape=extents) if extents else scalar)


@builtin
def zeros(shape: ShapeLike, dtype: DTypeLike) -> tensor:
    """A block of zeros of this shape and dtype."""
    return full(shape, 0, dtype)


@builtin
def zeros_like(input: TensorLike) -> tensor:
    """Zeros of the input's shape and dtype."""
    value = to_tensor(input)
    return full(value.shape, 0, value.dtype)


# -- casts


@builtin
def cast(
    input: TensorLike,
    dtype: DTypeLike,
    fp_downcast_rounding: ConstStr | None = None,
    bitcast: ConstBool = False,
) -> tensor:
    """The input converted to a dtype, element by element; the shape stays.

    Ints wrap; floats round to nearest even, or toward zero with fp_downcast_rounding="rtz"; floats
    to ints go toward zero and saturate, NaN to 0; to bool is `!= 0`. bitcast=True reads the same
    bits as the other type, of the same width. Raises CompileTypeError for a cast that does not
    exist, CompileValueError for a rounding where nothing is rounded.
    """
    target, source = as_dtype(dtype), given(input)
    if isinstance(source, (bool, int, float)) and isinstance(target, ScalarType) and not bitcast:
        return tensor(convert_number(source, target))
    value = operand(source)
    if bitcast:
        return tensor(bits_as(value, target))
    check_cast(element_of(value.ty), target)
    rounding = _rounding(unwrap(fp_downcast_rounding), element_of(value.ty), target)
    return tensor(converted(value, target, rounding))


def _rounding(mode: str | None, source: Element, target: Element) -> str:
    if mode is None:
        return "rtne"
    if mode not in ("rtne", "rtz"):
        raise CompileValueError(f"fp_downcast_rounding must be 'rtne' or 'rtz', got {mode!r}")
    if target is source:
        return "rtne"
    if source.kind != "f" or target.kind != "f" or target.bits >= source.bits:
        raise CompileValueError(
            "fp_downcast_rounding should be set only for truncating fp conversions, got"
            f" {source.name} to {target.name}"
        )
    return mode
