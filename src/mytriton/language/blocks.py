"""Making and choosing values: program ids, ranges, constants, casts, where, minimum and maximum.

One idea: each function checks its constant arguments, hands its tensors to `semantics`, and wraps
the operand that comes back.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Sequence
from typing import Any

from ..errors import CompileTypeError, CompileValueError
from ..ir.build import emit
from ..ir.types import Element, PointerType, ScalarType, element_of
from . import semantics
from .constexpr import builtin, unwrap
from .dtypes import as_dtype
from .tensor import member, tensor

TRITON_MAX_TENSOR_NUMEL = 1048576


class PropagateNan(enum.Enum):
    """What minimum, maximum and clamp do with a NaN operand."""

    NONE = 0
    """The result is the other operand."""
    ALL = 0xFFFF
    """The result is NaN."""


# -- constant arguments


def constant_int(value: Any, what: str) -> int:
    """An int known while the kernel is compiled. Raises CompileTypeError otherwise."""
    value = unwrap(value)
    found: Any = semantics.known(value) if isinstance(value, tensor) else value
    if isinstance(found, float) or not hasattr(found, "__index__"):
        runtime = isinstance(value, tensor) and found is None
        given = f"a value of type {value.type}, known only at run time" if runtime else repr(found)
        raise CompileTypeError(
            f"{what} must be an int known when the kernel is compiled (a tl.constexpr), got {given}"
        )
    return operator.index(found)


def shape_argument(shape: Sequence[Any] | Any) -> tuple[int, ...]:
    """A shape from `(M, N)`, `[M, N]`, `M, N` or `M`. Raises CompileValueError unless positive."""
    shape = unwrap(shape)
    if isinstance(shape, (tuple, list)) and len(shape) == 1:
        inner = unwrap(shape[0])
        shape = inner if isinstance(inner, (tuple, list)) else shape
    listed = shape if isinstance(shape, (tuple, list)) else (shape,)
    extents = tuple(constant_int(extent, "a shape's extent") for extent in listed)
    if any(extent < 1 for extent in extents):
        raise CompileValueError(f"extents must be positive, got shape {extents}")
    return extents


def axis_argument(axis: Any, rank: int, what: str = "axis") -> int:
    """An axis counted from the front. Raises CompileValueError if there is no such axis."""
    given = constant_int(axis, what)
    if not -rank <= given < rank:
        raise CompileValueError(f"{what} {given} is out of range for a tensor of rank {rank}")
    return given % rank


# -- the grid


@builtin
def program_id(axis: Any) -> tensor:
    """The index of this program along grid axis 0, 1 or 2: an i32 scalar."""
    return tensor(emit("program_id", axis=constant_int(axis, "axis")))


@builtin
def num_programs(axis: Any) -> tensor:
    """The extent of the grid along axis 0, 1 or 2: an i32 scalar."""
    return tensor(emit("num_programs", axis=constant_int(axis, "axis")))


# -- blocks of constants


@builtin
def arange(start: Any, end: Any) -> tensor:
    """The i32 block start, start+1, …, end-1; both known when the kernel is compiled, end > start.

    Any positive length is allowed, not only powers of two. Raises CompileTypeError otherwise.
    """
    low, high = constant_int(start, "arange's start"), constant_int(end, "arange's end")
    return tensor(emit("arange", start=low, end=high))


@builtin
def full(shape: Any, value: Any, dtype: Any = None) -> tensor:
    """A block of this shape filled with a number or scalar tensor, converted to dtype.

    Raises CompileValueError if value is a block.
    """
    given = semantics.plain(value)
    extents = shape_argument(shape) if unwrap(shape) not in ((), []) else ()
    if semantics.is_number(given):
        element = semantics.number_type(given) if dtype is None else as_dtype(dtype)
        if isinstance(element, PointerType):
            raise CompileTypeError("full: a block of pointers is made by tl.broadcast_to(ptr, …)")
        scalar: Any = semantics.convert_number(given, element)
    else:
        if semantics.ty(given).is_block():
            raise CompileValueError(f"full: the value must be a scalar, got {given.ty}")
        scalar = given if dtype is None else semantics.cast(given, as_dtype(dtype))
    return tensor(emit("broadcast", scalar, shape=extents) if extents else scalar)


@builtin
def zeros(shape: Any, dtype: Any) -> tensor:
    """A block of zeros of this shape and dtype."""
    return full(shape, 0, dtype)


@builtin
def zeros_like(input: Any) -> tensor:
    """Zeros of the input's shape and dtype."""
    value = to_tensor(input)
    return full(value.shape, 0, value.dtype)


@builtin
def to_tensor(x: Any) -> tensor:
    """The value itself, or a scalar tensor of a Python number (i32, i64, u64, f32 or bool)."""
    return x if isinstance(x, tensor) else tensor(semantics.operand(x))


# -- casts


@member
@builtin
def cast(
    input: Any, dtype: Any, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> tensor:
    """The input converted to a dtype, element by element.

    Ints wrap; floats round to nearest even, or toward zero with fp_downcast_rounding="rtz"; floats
    to ints go toward zero and saturate, NaN to 0; to bool is `!= 0`. bitcast=True reads the same
    bits as the other type, of the same width. Raises CompileTypeError for a cast that does not
    exist, CompileValueError for a rounding where nothing is rounded.
    """
    target = as_dtype(dtype)
    given = semantics.plain(input)
    if semantics.is_number(given) and isinstance(target, ScalarType) and not bitcast:
        return tensor(semantics.convert_number(given, target))
    value = semantics.operand(given)
    if bitcast:
        return tensor(semantics.bitcast(value, target))
    return tensor(semantics.cast(value, target, _rounding(fp_downcast_rounding, value, target)))


def _rounding(mode: str | None, value: Any, target: Element) -> str:
    if mode is None:
        return "rtne"
    if mode not in ("rtne", "rtz"):
        raise CompileValueError(f"fp_downcast_rounding must be 'rtne' or 'rtz', got {mode!r}")
    source = element_of(semantics.ty(value))
    if target is source:
        return "rtne"
    if source.kind != "f" or target.kind != "f" or target.bits >= source.bits:
        raise CompileValueError(
            "fp_downcast_rounding should be set only for truncating fp conversions, got"
            f" {source.name} to {target.name}"
        )
    return mode


@member
def to(
    self: Any,
    dtype: Any,
    fp_downcast_rounding: str | None = None,
    bitcast: bool = False,
    _semantic: Any = None,
) -> tensor:
    """`x.to(dtype)`: see `cast`."""
    return cast(self, dtype, fp_downcast_rounding, bitcast)


# -- broadcasting


@builtin
def broadcast(input: Any, other: Any) -> tuple[tensor, tensor]:
    """Both values stretched to their common shape."""
    left, right = semantics.operand(input), semantics.operand(other)
    shape = semantics.common_shape([t.shape for t in (tensor(left), tensor(right))], "broadcast")
    return tensor(semantics.broadcast_to(left, shape)), tensor(semantics.broadcast_to(right, shape))


@member
@builtin
def broadcast_to(input: Any, *shape: Any) -> tensor:
    """The input stretched to a shape: extents of 1, and missing leading axes, repeat.

    Raises CompileValueError if it does not fit.
    """
    return tensor(semantics.broadcast_to(semantics.operand(input), shape_argument(shape)))


# -- choosing


@builtin
def where(condition: Any, x: Any, y: Any) -> tensor:
    """x where the condition is true, else y; all three broadcast, x and y promote.

    Both sides are computed; a load guarded by where still happens (give the load a mask).
    """
    return tensor(semantics.select(condition, x, y))


def _extreme(name: str, x: Any, y: Any, propagate_nan: Any) -> tensor:
    if not isinstance(propagate_nan, PropagateNan):
        raise CompileTypeError(f"propagate_nan must be a tl.PropagateNan, got {propagate_nan!r}")
    suffix = "_nan" if propagate_nan is PropagateNan.ALL else ""
    return tensor(semantics.binary(name + suffix, name, x, y))


@builtin
def minimum(x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """The smaller of x and y, element by element; -0.0 < 0.0. Of a number and NaN the number, or
    NaN with propagate_nan=tl.PropagateNan.ALL."""
    return _extreme("minimum", x, y, propagate_nan)


@builtin
def maximum(x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """The larger of x and y, element by element; -0.0 < 0.0. Of a number and NaN the number, or
    NaN with propagate_nan=tl.PropagateNan.ALL."""
    return _extreme("maximum", x, y, propagate_nan)


@builtin
def clamp(x: Any, min: Any, max: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """x moved into [min, max]. x NaN gives min, or NaN with propagate_nan=tl.PropagateNan.ALL."""
    low, value, high = (tensor(v) for v in semantics.promote(min, x, max, symbol="clamp"))
    return minimum(maximum(value, low, propagate_nan), high, propagate_nan)


# -- operators as functions


@builtin
def add(x: Any, y: Any, sanitize_overflow: bool = True) -> tensor:
    """x + y. Ints wrap whatever sanitize_overflow says."""
    return tensor(semantics.add(x, y))


@builtin
def sub(x: Any, y: Any, sanitize_overflow: bool = True) -> tensor:
    """x - y. Ints wrap whatever sanitize_overflow says."""
    return tensor(semantics.subtract(x, y))


@builtin
def mul(x: Any, y: Any, sanitize_overflow: bool = True) -> tensor:
    """x * y. Ints wrap whatever sanitize_overflow says."""
    return tensor(semantics.binary("mul", "*", x, y))


@builtin
def fdiv(x: Any, y: Any, ieee_rounding: bool = False, approx: bool = False) -> tensor:
    """x / y of floats; always correctly rounded here. Raises CompileTypeError for ints."""
    left, right = semantics.promote(x, y, symbol="fdiv", division=True)
    if semantics.ty(left).is_int():
        raise CompileTypeError(f"fdiv: floats are needed, got {semantics.ty(left)}")
    return tensor(emit("div", left, right))


@builtin
def div_rn(x: Any, y: Any) -> tensor:
    """x / y rounded to nearest even, of floats (numbers and ints are taken as f32)."""
    return tensor(semantics.true_divide(x, y))
