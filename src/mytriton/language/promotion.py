"""The types that operands meet in, and what they are as operands of one type.

Loose outside, strict inside: whatever a kernel writes (`i32_block / 2`, a row times a column)
becomes operands of one element type and one rank here, every conversion an explicit `cast`. The
rules are those of "Types and promotion" in docs/semantics.md.

    promote(i32 block, f16 block)    → f16, f16      the higher kind wins
    promote(f16 block, 2.0)          → f16, f16      a Python number never widens
    promote(u8 block, 300)           → CompileValueError: 300 does not fit uint8
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TypeAlias

from ..errors import CompileTypeError, CompileValueError
from ..ir import build
from ..ir.build import current
from ..ir.fold import constant
from ..ir.nodes import Const, Operand, Param, Value
from ..ir.types import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    U32,
    U64,
    Element,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)
from .portable import check_shape

Number: TypeAlias = bool | int | float
"""A weak number: Python's."""
Handle: TypeAlias = Value | Param | Const
"""An operand that is there."""
Given: TypeAlias = Handle | Number
"""One side of an operator."""

_KIND = {"b": 0, "u": 1, "i": 1, "f": 2}
_LEAST_NORMAL = 2.0**-126
"""The least positive normal number of f32."""


def emit(name: str, *operands: Operand, **attrs: object) -> Handle:
    """Emits an op of one result."""
    result = build.emit(name, *operands, **attrs)
    assert result is not None
    check_shape(result)
    return result


# -- numbers


def natural(number: Number) -> ScalarType:
    """The type of a number that is an argument of a kernel: bool, f32, or the first of i32, i64,
    u64 that holds it. Raises CompileValueError for an int of more than 64 bits."""
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, float):
        return F32
    return _first_that_holds(number, (I32, I64, U64))


def number_type(number: Number) -> ScalarType:
    """The type of a number inside a kernel: bool; of an int the first of i32, u32, i64, u64 that
    holds it; of a float f32, or f64 where it is finite and not a normal number of f32.

    Raises CompileValueError for an int of more than 64 bits.
    """
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, float):
        size = abs(number)
        wide = 0 < size < _LEAST_NORMAL or F32.max_finite < size < math.inf
        return F64 if wide else F32
    return _first_that_holds(number, (I32, U32, I64, U64))


def _first_that_holds(number: int, types: Sequence[ScalarType]) -> ScalarType:
    for candidate in types:
        if candidate.min_int <= number <= candidate.max_int:
            return candidate
    raise CompileValueError(f"{number} does not fit 64 bits")


def number_as(number: Number, element: Element) -> Const:
    """A constant of the type. Raises CompileValueError if an int is out of the type's range."""
    if isinstance(element, PointerType):
        raise CompileTypeError(f"{number!r} is not a pointer; a {element} is needed")
    if element.kind in "iu" and not element.min_int <= number <= element.max_int:
        allowed = f"{element.min_int} to {element.max_int}"
        raise CompileValueError(
            f"{number} does not fit {element.name} ({allowed}); cast the tensor first"
        )
    return constant(number, element)


def convert_number(number: Number, element: ScalarType) -> Const:
    """An explicit conversion of a Python number: wraps, rounds, truncates."""
    whole = element.kind in "iu" and isinstance(number, float)
    if whole and not math.isfinite(number):
        raise CompileValueError(f"{number} cannot become {element.name}")
    return constant(number, element)


def known(value: Given) -> Number | None:
    """The number a scalar is known to be while the kernel is compiled, else None."""
    return value if isinstance(value, (bool, int, float)) else current().known(value)


# -- types


def common(left: ScalarType, right: ScalarType, division: bool = False) -> ScalarType:
    """The element type two tensors meet in. `division`: for `/`, `//` and `%`, where floats below
    32 bits go to f32 and ints of different signedness are refused.

    f16 wins over everything below f32. bf16 stays only beside itself: with ints and fp8s it is
    f32. Two different fp8s meet in f16.
    """
    if left.kind != "f" and right.kind != "f":
        return _common_int(left, right, division)
    floats = {t for t in (left, right) if t.kind == "f"}
    if F64 in floats:
        return F64
    if division or F32 in floats:
        return F32
    if F16 in floats:
        return F16
    if BF16 in floats:
        return BF16 if left == right else F32
    return floats.pop() if len(floats) == 1 else F16


def _common_int(left: ScalarType, right: ScalarType, division: bool) -> ScalarType:
    if _KIND[left.kind] != _KIND[right.kind]:
        return left if _KIND[left.kind] > _KIND[right.kind] else right
    if division and left.kind != right.kind:
        raise CompileTypeError(
            f"Cannot use /, //, or % with {left.name} and {right.name} because they have different"
            " signedness; cast one of them"
        )
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return left if left.kind == "u" else right


def _scalar_type(element: Element, symbol: str) -> ScalarType:
    if isinstance(element, PointerType):
        raise CompileTypeError(
            f"{symbol}: numbers are needed, got {element}; did you forget tl.load?"
        )
    return element


def meeting(values: Sequence[Given], symbol: str, division: bool = False) -> ScalarType:
    """The element type of an operation: tensors meet in `common`, and a Python number counts only
    where its kind is higher than theirs."""
    numbers = [number_type(v) for v in values if isinstance(v, (bool, int, float))]
    tensors = [
        _scalar_type(element_of(v.ty), symbol)
        for v in values
        if not isinstance(v, (bool, int, float))
    ]
    meet = functools.partial(common, division=division)
    element = functools.reduce(meet, tensors or numbers)
    for number in numbers:
        if _KIND[number.kind] > _KIND[element.kind]:
            element = meet(element, number)
    return F32 if division and element.kind == "f" and element.bits < 32 else element


# -- operands


def operand(value: Given, element: Element | None = None) -> Handle:
    """The value as an operand, of the element type where one is given (explicit casts are made)."""
    if isinstance(value, (bool, int, float)):
        return number_as(value, number_type(value) if element is None else element)
    return value if element is None else cast(value, element)


def promote(*values: Given, symbol: str = "", division: bool = False) -> tuple[Handle, ...]:
    """The values as operands of one element type and rank.

    Raises CompileTypeError for pointers, CompileValueError for a number that does not fit.
    """
    element = meeting(values, symbol, division)
    return align([operand(value, element) for value in values], symbol)


def cast(value: Handle, element: Element, rounding: str = "rtne") -> Handle:
    """The conversion of docs/semantics.md; pointers go through 64-bit ints."""
    source = element_of(value.ty)
    if source == element:
        return value
    pointers = isinstance(source, PointerType) + isinstance(element, PointerType)
    if pointers == 1:
        other = element if isinstance(source, PointerType) else source
        if other.kind == "f":
            raise CompileTypeError(f"cannot cast {source} to {element}; go through int64")
        if other.bits != 64:
            value = emit("cast", value, to=I64)
            if element == BOOL:
                return emit("cmp_ne", value, constant(0, I64))
    return emit("cast", value, to=element, rounding=rounding)


def bitcast(value: Handle, element: Element) -> Handle:
    """The same bits as another type. Raises CompileTypeError if the widths differ."""
    source = element_of(value.ty)
    if isinstance(source, PointerType) or isinstance(element, PointerType):
        return cast(value, element)
    return emit("bitcast", value, to=element)


def truth(value: Given) -> Handle:
    """The value as bool: `!= 0` of numbers and pointers."""
    if isinstance(value, (bool, int, float)):
        return constant(bool(value), BOOL)
    return cast(value, BOOL)


# -- shapes


def reshape(value: Handle, shape: tuple[int, ...]) -> Handle:
    return emit("reshape", value, shape=shape)


def align(operands: Sequence[Handle], symbol: str = "") -> tuple[Handle, ...]:
    """Blocks brought to one rank by leading extents of 1; scalars stay. Raises CompileValueError
    where they do not broadcast."""
    shapes = [shape_of(value.ty) for value in operands]
    common_shape(shapes, symbol)
    rank = max(map(len, shapes))
    return tuple(
        value if len(shape) in (0, rank) else reshape(value, (1,) * (rank - len(shape)) + shape)
        for value, shape in zip(operands, shapes)
    )


def common_shape(shapes: Sequence[tuple[int, ...]], symbol: str = "") -> tuple[int, ...]:
    """The shape that all broadcast to, aligned at the last axis."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    result = []
    for extents in zip(*padded):
        wide = set(extents) - {1}
        if len(wide) > 1:
            listed = " and ".join(str(shape) for shape in shapes if shape)
            raise CompileValueError(
                f"{symbol + ': ' if symbol else ''}shapes {listed} do not broadcast: extents must"
                " be equal or 1, counted from the last axis"
            )
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def broadcast_to(value: Handle, shape: tuple[int, ...], what: str = "a value") -> Handle:
    """The value stretched to exactly this shape. Raises CompileValueError if it does not fit."""
    given = shape_of(value.ty)
    if given == shape:
        return value
    if len(given) > len(shape) or common_shape([given, shape], what) != shape:
        raise CompileValueError(f"{what} of shape {given} does not fit shape {shape}")
    if given and len(given) < len(shape):
        value = reshape(value, (1,) * (len(shape) - len(given)) + given)
    return emit("broadcast", value, shape=shape)


def fit(value: Handle, shape: tuple[int, ...], what: str) -> Handle:
    """The value at the rank of the shape, which it may not enlarge; the op does the stretching."""
    given = shape_of(value.ty)
    if len(given) > len(shape) or common_shape([given, shape], what) != shape:
        raise CompileValueError(f"{what} of shape {given} does not fit shape {shape}")
    rank = len(shape) - len(given)
    return reshape(value, (1,) * rank + given) if given and rank else value
