"""The meaning of Python expressions on IR operands: promotion, broadcasting, casts.

One idea: loose outside, strict inside. Whatever a kernel writes (`i32_block / 2`, a row times a
column) becomes strict ops here: operands of one element type and one rank, every conversion an
explicit `cast`. The rules are those of "Types and promotion" in docs/semantics.md.

    promote(i32 block, f16 block)    → f16, f16      the higher kind wins
    promote(f16 block, 2.0)          → f16, f16      a Python number never widens
    promote(u8 block, 300)           → CompileValueError: 300 does not fit uint8
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from ..errors import CompileTypeError, CompileValueError
from ..ir.build import current, emit
from ..ir.fold import constant
from ..ir.nodes import Const, Operand, Param, Value
from ..ir.types import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U32,
    U64,
    Element,
    PointerType,
    ScalarType,
    Type,
    element_of,
    shape_of,
)
from .constexpr import unwrap

_KIND = {"b": 0, "u": 1, "i": 1, "f": 2}
_LEAST_NORMAL = 2.0**-126
"""The least positive normal number of f32."""
_BOOL_OPS = {"add": "xor", "sub": "xor", "mul": "and", "minimum": "and", "maximum": "or"}
"""Arithmetic modulo 2, and false < true."""
_SIGNED = {8: I8, 16: I16, 32: I32, 64: I64}


def ty(operand: Operand) -> Type:
    """The type of an operand that is there."""
    assert operand is not None
    return operand.ty


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


def plain(value: Any) -> Any:
    """An operand, or a Python number, from a tensor, IR value, constexpr, Python or NumPy number.

    Raises CompileTypeError for anything else.
    """
    value = unwrap(value)
    if isinstance(value, (Value, Param, Const)) or is_number(value):
        return value
    handle = getattr(value, "handle", None)
    if isinstance(handle, (Value, Param, Const)):
        return handle
    if getattr(value, "shape", None) == () and is_number(number := value.item()):
        return number
    raise CompileTypeError(f"a tensor or a number is needed, got {value!r}")


def natural(number: bool | int | float) -> ScalarType:
    """The type of a number that is an argument of a kernel: bool, f32, or the first of i32, i64,
    u64 that holds it. Raises CompileValueError for an int of more than 64 bits."""
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, float):
        return F32
    return _first_that_holds(number, (I32, I64, U64))


def number_type(number: bool | int | float) -> ScalarType:
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


def number_as(number: bool | int | float, element: Element) -> Const:
    """A constant of the type. Raises CompileValueError if an int is out of the type's range."""
    if isinstance(element, PointerType):
        raise CompileTypeError(f"{number!r} is not a pointer; a {element} is needed")
    if element.kind in "iu" and not element.min_int <= number <= element.max_int:
        allowed = f"{element.min_int} to {element.max_int}"
        raise CompileValueError(
            f"{number} does not fit {element.name} ({allowed}); cast the tensor first"
        )
    return constant(number, element)


def convert_number(number: bool | int | float, element: ScalarType) -> Const:
    """An explicit conversion of a Python number: wraps, rounds, truncates."""
    whole = element.kind in "iu" and isinstance(number, float)
    if whole and not math.isfinite(number):
        raise CompileValueError(f"{number} cannot become {element.name}")
    return constant(number, element)


def operand(value: Any, element: Element | None = None) -> Operand:
    """The value as an operand, of the element type where one is given (explicit casts are made)."""
    value = plain(value)
    if is_number(value):
        return number_as(value, number_type(value) if element is None else element)
    return value if element is None else cast(value, element)


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


def _number_type(element: Element, symbol: str) -> ScalarType:
    if isinstance(element, PointerType):
        raise CompileTypeError(f"{symbol}: numbers are needed, got {element}")
    return element


def meeting(values: Sequence[Any], symbol: str, division: bool = False) -> ScalarType:
    """The element type of an operation on plain values: tensors meet in `common`, and a Python
    number counts only where its kind is higher than theirs."""
    numbers = [number_type(value) for value in values if is_number(value)]
    tensors = [
        _number_type(element_of(ty(value)), symbol) for value in values if not is_number(value)
    ]
    meet = functools.partial(common, division=division)
    element = functools.reduce(meet, tensors or numbers)
    for number in numbers:
        if _KIND[number.kind] > _KIND[element.kind]:
            element = meet(element, number)
    return F32 if division and element.kind == "f" and element.bits < 32 else element


def promote(*values: Any, symbol: str = "", division: bool = False) -> tuple[Operand, ...]:
    """The values as operands of one element type and rank.

    Raises CompileTypeError for pointers, CompileValueError for a number that does not fit.
    """
    given = [plain(value) for value in values]
    element = meeting(given, symbol, division)
    return align([operand(value, element) for value in given], symbol)


# -- shapes


def reshape(value: Operand, shape: tuple[int, ...]) -> Operand:
    return emit("reshape", value, shape=shape)


def align(operands: Sequence[Operand], symbol: str = "") -> tuple[Operand, ...]:
    """Blocks brought to one rank by leading extents of 1; scalars stay. Raises CompileValueError
    where they do not broadcast."""
    shapes = [shape_of(ty(value)) for value in operands]
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


def broadcast_to(value: Operand, shape: tuple[int, ...], what: str = "a value") -> Operand:
    """The value stretched to exactly this shape. Raises CompileValueError if it does not fit."""
    given = shape_of(ty(value))
    if given == shape:
        return value
    if len(given) > len(shape) or common_shape([given, shape], what) != shape:
        raise CompileValueError(f"{what} of shape {given} does not fit shape {shape}")
    if given and len(given) < len(shape):
        value = reshape(value, (1,) * (len(shape) - len(given)) + given)
    return emit("broadcast", value, shape=shape)


def fit(value: Operand, shape: tuple[int, ...], what: str) -> Operand:
    """The value at the rank of the shape, which it may not enlarge; the op does the stretching."""
    given = shape_of(ty(value))
    if len(given) > len(shape) or common_shape([given, shape], what) != shape:
        raise CompileValueError(f"{what} of shape {given} does not fit shape {shape}")
    rank = len(shape) - len(given)
    return reshape(value, (1,) * rank + given) if given and rank else value


# -- casts


def cast(value: Operand, element: Element, rounding: str = "rtne") -> Operand:
    """The conversion of SEMANTICS; pointers go through 64-bit ints."""
    source = element_of(ty(value))
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


def bitcast(value: Operand, element: Element) -> Operand:
    """The same bits as another type. Raises CompileTypeError if the widths differ."""
    source = element_of(ty(value))
    if isinstance(source, PointerType) or isinstance(element, PointerType):
        return cast(value, element)
    return emit("bitcast", value, to=element)


def truth(value: Any) -> Operand:
    """The value as bool: `!= 0` of numbers and pointers."""
    given = plain(value)
    if is_number(given):
        return constant(bool(given), BOOL)
    return cast(given, BOOL)


# -- operators


def binary(name: str, symbol: str, left: Any, right: Any) -> Operand:
    """An element-wise op on two promoted operands; bools add modulo 2."""
    a, b = promote(left, right, symbol=symbol)
    if element_of(ty(a)) == BOOL:
        name = _BOOL_OPS.get(name.removesuffix("_nan"), name)
    return emit(name, a, b)


def is_pointer(value: Any) -> bool:
    return not is_number(value) and isinstance(element_of(ty(value)), PointerType)


def add(left: Any, right: Any) -> Operand:
    """`+`: of a pointer and an int, the address that many elements on."""
    left, right = plain(left), plain(right)
    if is_pointer(left) and is_pointer(right):
        raise CompileTypeError(f"+: cannot add two pointers, got {ty(left)} and {ty(right)}")
    if is_pointer(right):
        left, right = right, left
    return _offset(left, right) if is_pointer(left) else binary("add", "+", left, right)


def subtract(left: Any, right: Any) -> Operand:
    """`-`: of a pointer and an int, the address that many elements before."""
    left, right = plain(left), plain(right)
    if not is_pointer(left):
        return binary("sub", "-", left, right)
    if is_number(right):
        return _offset(left, -right)
    if is_pointer(right):
        raise CompileTypeError("-: cannot subtract pointers; cast both to tl.int64")
    return _offset(left, emit("neg", _offset_int(right)))


def _offset_int(offset: Any) -> Operand:
    """An offset as an int operand; bools count as 0 and 1."""
    value = operand(offset)
    element = element_of(ty(value))
    if element.kind not in ("b", "i", "u"):
        raise CompileTypeError(f"+: a pointer takes an int offset, got {element.name}")
    return cast(value, I32) if element.kind == "b" else value


def _offset(pointer: Operand, offset: Any) -> Operand:
    base, index = align([pointer, _offset_int(offset)], "+")
    return emit("addptr", base, index)


def true_divide(left: Any, right: Any) -> Operand:
    """`/`: of ints in f32; of floats below 32 bits in f32 too."""
    left, right = plain(left), plain(right)
    element = F64 if meeting((left, right), "/") == F64 else F32
    return emit("div", *align([operand(left, element), operand(right, element)], "/"))


def _integers(values: Sequence[Operand], symbol: str) -> None:
    for value in values:
        if element_of(ty(value)).kind == "f":
            raise CompileTypeError(
                f"{symbol}: ints are needed, got {ty(value)}; use / and tl.floor for floats"
            )


def _whole_division(name: str, operands: Sequence[Operand]) -> Operand:
    """Division or remainder; of bools as that of 0 and 1, which is a bool again."""
    if element_of(ty(operands[0])) != BOOL:
        return emit(name, *operands)
    return cast(emit(name, *(cast(value, I32) for value in operands)), BOOL)


def floor_divide(left: Any, right: Any) -> Operand:
    """`//` of ints: C's, toward zero. Raises CompileTypeError for floats or mixed signedness."""
    values = promote(left, right, symbol="//", division=True)
    _integers(values, "//")
    return _whole_division("div", values)


def modulo(left: Any, right: Any) -> Operand:
    """`%`: of ints C's, with the sign of the left; of floats fmod, in f32 at least."""
    return _whole_division("mod", promote(left, right, symbol="%", division=True))


def bitwise(name: str, symbol: str, left: Any, right: Any) -> Operand:
    """`&`, `|`, `^` of ints and bools."""
    values = promote(left, right, symbol=symbol)
    for value in values:
        if element_of(ty(value)).kind == "f":
            raise CompileTypeError(
                f"{symbol}: ints or bools are needed, got {ty(value)}; see .to(…, bitcast=True)"
            )
    return emit(name, *values)


def shift(name: str, symbol: str, left: Any, right: Any) -> Operand:
    """`<<`, `>>` of ints, which promote. `>>` repeats the sign bit where the left operand was
    signed before it was promoted: i8(-2) >> u16(1) is u16(0xffff)."""
    given = plain(left)
    value, count = promote(given, right, symbol=symbol)
    _integers((value, count), symbol)
    element = element_of(ty(value))
    if element == BOOL:
        return emit("and", value, emit("not", count))
    signed = not is_number(given) and element_of(ty(given)).kind == "i"
    if name == "shr" and signed and element.kind == "u":
        same = _SIGNED[element.bits]
        # An unsigned count that does not fit the signed type becomes negative, which is also too
        # large: the targets read the count as unsigned.
        return cast(emit(name, cast(value, same), cast(count, same)), element)
    return emit(name, value, count)


def power(left: Any, right: Any) -> Operand:
    """`**`: of floats C's pow; a small constant exponent multiplies, which ints need."""
    left, right = plain(left), plain(right)
    count = known(right)
    if isinstance(count, int) and 1 <= count <= 8 and not is_number(left):
        result = left
        for _ in range(count - 1):
            result = binary("mul", "**", result, left)
        element = meeting((left, right), "**")
        return cast(result, element)
    base = known(left)
    if isinstance(base, int) and isinstance(count, int) and count >= 0:
        return constant(base**count, meeting((left, right), "**"))
    return binary("pow", "**", left, right)


def compare(name: str, symbol: str, left: Any, right: Any) -> Operand:
    """A comparison; two pointers compare as addresses.

    Raises CompileTypeError for a pointer and a number: a comparison of addresses with ints is
    hardly ever meant, and an array of one element that is passed as a number is a pointer.
    """
    left, right = plain(left), plain(right)
    if is_pointer(left) and is_pointer(right):
        left, right = (operand(v, U64) for v in (left, right))
    elif is_pointer(left) or is_pointer(right):
        given = " and ".join(str(v) if is_number(v) else str(ty(v)) for v in (left, right))
        raise CompileTypeError(
            f"{symbol}: a pointer cannot be compared with a number, got {given}; an array or a 0-d"
            " tensor that is passed as an argument is a pointer (pass its .item(), or tl.load it);"
            " to compare addresses, cast with .to(tl.int64)"
        )
    return emit(name, *promote(left, right, symbol=symbol))


def negate(value: Any) -> Operand:
    """`-x`; bools are their own negatives modulo 2."""
    given = operand(value)
    return given if element_of(ty(given)) == BOOL else emit("neg", given)


def logical(name: str, left: Any, right: Any) -> Operand:
    """`and`, `or` on blocks: elementwise on truth values."""
    return emit(name, *align([truth(left), truth(right)], name))


def select(condition: Any, left: Any, right: Any) -> Operand:
    """`tl.where`: both choices promoted, pointers too; everything broadcasts."""
    left, right = plain(left), plain(right)
    if not (is_pointer(left) or is_pointer(right)):
        left, right = promote(left, right, symbol="where")
    elif not (is_pointer(left) and is_pointer(right)) or element_of(ty(left)) != element_of(
        ty(right)
    ):
        raise CompileTypeError("where: both choices must be pointers of one type")
    return emit("select", *align([truth(condition), left, right], "where"))


def known(value: Any) -> bool | int | float | None:
    """The number a scalar is known to be while the kernel is compiled, else None."""
    given = plain(value)
    return given if is_number(given) else current().known(given)
