"""Matrix products: `dot`, and `dot_scaled` written with it.

The op is strict (one operand type, an accumulator always); the many ways to ask for a
product (acc or not, out_dtype, allow_tf32, mixed fp8) are settled here. Precision not asked for is
"ieee" in the IR.
"""

from __future__ import annotations

import math
from typing import Any

from ..errors import CompileTypeError, CompileValueError
from ..ir.fold import constant
from ..ir.structural import PRECISIONS
from ..ir.types import (
    BF16,
    F8E4M3FN,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    U8,
    Element,
    ScalarType,
    element_of,
    shape_of,
)
from . import promotion
from .arguments import ConstBool, ConstInt, ConstStr, DTypeLike, TensorLike
from .constexpr import builtin
from .creation import cast, full
from .dtypes import as_dtype
from .math import where
from .portable import check_dot
from .promotion import Handle, emit
from .shapes import expand_dims, interleave, reshape
from .tensor import given, tensor, to_tensor

__all__ = ["dot", "dot_scaled"]


@builtin
def dot(
    input: TensorLike,
    other: TensorLike,
    acc: TensorLike | None = None,
    input_precision: ConstStr | None = None,
    allow_tf32: ConstBool | None = None,
    max_num_imprecise_acc: ConstInt | None = None,
    out_dtype: DTypeLike | None = None,
) -> tensor:
    """The matrix product of (…, M, K) and (…, K, N) blocks, plus acc; leading axes are a batch.

    Operands have one dtype (two fp8 or two 8-bit int types mix). Ints accumulate, and result, in
    i32 whatever out_dtype says; f64 in f64; other floats accumulate in f32, and the result has
    acc's dtype, else out_dtype, else f32. Any M, N, K ≥ 1. input_precision of f32: "ieee" (the
    default but on a GPU), "tf32" (the default there; also allow_tf32=True), "tf32x3", "bf16x3",
    "bf16x6"; MYTRITON_F32_DOT sets the default. Raises CompileTypeError
    for dtypes and CompileValueError for shapes that do not fit.
    """
    left, right = _operands(to_tensor(input), to_tensor(other))
    shape = _product_shape(left, right)
    check_dot(left.shape[-2], left.shape[-1], right.shape[-1], left.dtype)
    precision = _precision(input_precision, allow_tf32, left.dtype)
    start = _accumulator(acc, out_dtype, left.dtype, shape)
    operands = [left.handle, right.handle, start]
    if len(shape) > 3:
        operands = [_one_batch(operand) for operand in operands]
    product = emit("dot", *operands, precision=precision)
    return tensor(promotion.reshape(product, shape))


def _one_batch(operand: Handle) -> Handle:
    """The block with its leading axes made one."""
    *batch, rows, columns = shape_of(operand.ty)
    return promotion.reshape(operand, (math.prod(batch), rows, columns))


def _operands(left: tensor, right: tensor) -> tuple[tensor, tensor]:
    """Operands of one type: fp8s meet in f16 and 8-bit ints in i16, where both are exact."""
    a, b = left.dtype, right.dtype
    for element in (a, b):
        if element.kind not in "iuf":
            raise CompileTypeError(f"dot: numbers are needed, got {element.name}")
    if a == b:
        return left, right
    if a.kind == b.kind == "f" and a.bits == b.bits == 8:
        return cast(left, F16), cast(right, F16)
    if {a, b} == {I8, U8}:
        return cast(left, I16), cast(right, I16)
    raise CompileTypeError(
        f"dot: both operands must have one dtype, got {a.name} and {b.name}; cast one with .to()"
    )


def _product_shape(left: tensor, right: tensor) -> tuple[int, ...]:
    a, b = left.shape, right.shape
    if len(a) != len(b) or len(a) < 2:
        raise CompileValueError(f"dot needs two blocks of one rank, 2 or more, got {a} and {b}")
    if a[-1] != b[-2] or a[:-2] != b[:-2]:
        raise CompileValueError(f"dot needs shapes (…, M, K) and (…, K, N), got {a} and {b}")
    return (*a[:-1], b[-1])


def _precision(asked: Any, allow_tf32: ConstBool | None, element: Element) -> str:
    if asked is not None and allow_tf32 is not None:
        raise CompileValueError("dot: give input_precision or allow_tf32, not both")
    if element != F32 or (asked is None and allow_tf32 is None):
        return "default"
    if asked is None:
        asked = "tf32" if allow_tf32 else "ieee"
    name = str(asked).lower()
    if name not in PRECISIONS:
        allowed = ", ".join(map(repr, PRECISIONS))
        raise CompileValueError(f"dot: input_precision must be one of {allowed}, got {asked!r}")
    return name


def _accumulator(
    acc: TensorLike | None, out_dtype: DTypeLike | None, element: Element, shape: tuple[int, ...]
) -> Handle:
    whole = element.kind in "iu"
    wanted = None if whole or out_dtype is None else as_dtype(out_dtype)
    start = 0 if acc is None else given(acc)
    if isinstance(start, Handle):
        have = element_of(start.ty)
        if wanted not in (None, have):
            raise CompileTypeError(f"dot: acc is {have.name}, out_dtype is {wanted}; make them one")
        return promotion.broadcast_to(start, shape, "dot: acc")
    target = I32 if whole else F64 if element == F64 else wanted or F32
    assert isinstance(target, ScalarType)
    return emit("broadcast", constant(start, target), shape=shape)


# -- scaled products

_FORMATS = {"e2m1": U8, "e4m3": U8, "e5m2": U8, "bf16": BF16, "fp16": F16}
"""The dtype in which elements of each format arrive (fp8 also as themselves)."""


@builtin
def dot_scaled(
    lhs: TensorLike,
    lhs_scale: TensorLike | None,
    lhs_format: ConstStr,
    rhs: TensorLike,
    rhs_scale: TensorLike | None,
    rhs_format: ConstStr,
    acc: TensorLike | None = None,
    fast_math: ConstBool = False,
    lhs_k_pack: ConstBool = True,
    rhs_k_pack: ConstBool = True,
    out_dtype: DTypeLike = F32,
) -> tensor:
    """The product of an (M, K) and a (K, N) block whose groups along K share a scale, plus acc.

    Formats: "e2m1" (two 4-bit floats a byte, the low one first, packed along K, or along M / N
    where k_pack is False), "e4m3", "e5m2" (bytes or fp8), "bf16", "fp16". Scales, or None: (M, K/G)
    and (N, K/G), of uint8 as e8m0 (2**(s-127), 255 is NaN) or of fp8e4nv as themselves; G is 32, or
    16. The result is out_dtype.
    """
    left = _decode(to_tensor(lhs), lhs_format, 1 if lhs_k_pack else 0)
    right = _decode(to_tensor(rhs), rhs_format, 0 if rhs_k_pack else 1)
    left = _scaled(left, lhs_scale, "lhs_scale")
    right = _scaled(right.T, rhs_scale, "rhs_scale").T
    exact = {left.dtype, right.dtype} == {BF16}
    if not exact:
        left, right = cast(left, F32), cast(right, F32)
    return dot(left, right, acc=acc, input_precision="ieee", out_dtype=out_dtype)


def _decode(value: tensor, form: ConstStr, axis: int) -> tensor:
    """The elements as floats; packed ones unpacked along an axis."""
    name = str(form).lower()
    if name not in _FORMATS:
        allowed = ", ".join(map(repr, _FORMATS))
        raise CompileValueError(f"dot_scaled: a format must be one of {allowed}, got {form!r}")
    if name == "e2m1":
        return _unpack(value, axis)
    if name in ("e4m3", "e5m2") and value.dtype.kind == "u":
        return cast(value, {"e4m3": "fp8e4nv", "e5m2": "fp8e5"}[name], bitcast=True)
    return value


def _unpack(value: tensor, axis: int) -> tensor:
    """Bytes of two e2m1 floats as twice as many bf16 along the axis: sign, 2 exponent bits, 1."""
    if value.dtype not in (U8, I8):
        raise CompileTypeError(f"dot_scaled: e2m1 comes in bytes (uint8), got {value.dtype.name}")
    byte = cast(value, U8, bitcast=True)
    along = byte if axis == 1 else byte.T
    nibble = interleave(along & 0xF, along >> 4)
    nibble = nibble if axis == 1 else nibble.T
    magnitude = cast(nibble & 7, I32)
    bits = where(magnitude > 1, (magnitude << 6) + (126 << 7), where(magnitude > 0, 126 << 7, 0))
    signed = cast(bits, I16) | (cast(nibble & 8, I16) << 12)
    return cast(signed, BF16, bitcast=True)


def _scaled(value: tensor, factor: TensorLike | None, what: str) -> tensor:
    """Rows (R, K) times scales (R, K/G); values below 16 bits become bf16, exactly."""
    if value.dtype.bits == 8:
        value = cast(value, BF16)
    if factor is None or (isinstance(factor, (bool, int, float)) and not factor):
        return value
    scale = to_tensor(factor)
    rows, k = value.shape
    if len(scale.shape) != 2 or scale.shape[0] != rows or k % scale.shape[1]:
        raise CompileValueError(
            f"dot_scaled: {what} of shape {scale.shape} does not divide ({rows}, {k}) into groups"
            " along K"
        )
    power = _scale_factor(scale)
    exact = value.dtype == BF16 and scale.dtype != F8E4M3FN
    group = k // scale.shape[1]
    parts = reshape(cast(value, F32), (rows, scale.shape[1], group))
    product = reshape(parts * expand_dims(power, 2), (rows, k))
    return cast(product, BF16) if exact else product


def _scale_factor(scale: tensor) -> tensor:
    if scale.dtype == F8E4M3FN:
        return cast(scale, F32)
    if scale.dtype not in (U8, I8):
        raise CompileTypeError(
            f"dot_scaled: scales are uint8 (e8m0) or fp8e4nv, got {scale.dtype.name}"
        )
    exponent = cast(cast(scale, U8, bitcast=True), I32)
    power = cast(where(exponent == 0, 1 << 22, exponent << 23), F32, bitcast=True)
    return where(exponent == 255, full((), float("nan"), F32), power)
