"""The meaning of Python's operators on operands and weak numbers.

Each function promotes its operands (`promotion.py`) and emits the op, or the few ops, that the
operator means. `tensor.py` calls them for the operators, `math.py` and others for functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from ..errors import CompileTypeError
from ..ir.fold import constant
from ..ir.types import (
    BOOL,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U64,
    PointerType,
    element_of,
)
from .portable import check_division
from .promotion import (
    Given,
    Handle,
    align,
    cast,
    emit,
    known,
    meeting,
    operand,
    promote,
    truth,
)

_BOOL_OPS = {"add": "xor", "sub": "xor", "mul": "and", "minimum": "and", "maximum": "or"}
"""Arithmetic modulo 2, and false < true."""
_SIGNED = {8: I8, 16: I16, 32: I32, 64: I64}


def binary(name: str, symbol: str, left: Given, right: Given) -> Handle:
    """An element-wise op on two promoted operands; bools add modulo 2."""
    a, b = promote(left, right, symbol=symbol)
    if element_of(a.ty) == BOOL:
        name = _BOOL_OPS.get(name.removesuffix("_nan"), name)
    return emit(name, a, b)


def is_pointer(value: Given) -> TypeGuard[Handle]:
    """Whether the operand is a pointer or a block of pointers."""
    return isinstance(value, Handle) and isinstance(element_of(value.ty), PointerType)


def add(left: Given, right: Given) -> Handle:
    """`+`: of a pointer and an int, the address that many elements on."""
    if is_pointer(left) and is_pointer(right):
        raise CompileTypeError(f"+: cannot add two pointers, got {left.ty} and {right.ty}")
    if is_pointer(right):
        left, right = right, left
    return _offset(left, right) if is_pointer(left) else binary("add", "+", left, right)


def subtract(left: Given, right: Given) -> Handle:
    """`-`: of a pointer and an int, the address that many elements before."""
    if not is_pointer(left):
        return binary("sub", "-", left, right)
    if not isinstance(right, Handle):
        return _offset(left, -right)
    if is_pointer(right):
        raise CompileTypeError("-: cannot subtract pointers; cast both to tl.int64")
    return _offset(left, emit("neg", _offset_int(right)))


def _offset_int(offset: Given) -> Handle:
    """An offset as an int operand; bools count as 0 and 1."""
    value = operand(offset)
    element = element_of(value.ty)
    if element.kind not in ("b", "i", "u"):
        raise CompileTypeError(f"+: a pointer takes an int offset, got {element.name}")
    return cast(value, I32) if element.kind == "b" else value


def _offset(pointer: Handle, offset: Given) -> Handle:
    base, index = align([pointer, _offset_int(offset)], "+")
    return emit("addptr", base, index)


def true_divide(left: Given, right: Given, row: str = "div") -> Handle:
    """`/`: of ints in f32; of floats below 32 bits in f32 too."""
    check_division(left, right, "/")
    element = F64 if meeting((left, right), "/") == F64 else F32
    return emit(row, *align([operand(left, element), operand(right, element)], "/"))


def _integers(values: Sequence[Handle], symbol: str) -> None:
    for value in values:
        if element_of(value.ty).kind == "f":
            raise CompileTypeError(
                f"{symbol}: ints are needed, got {value.ty}; use / and tl.floor for floats"
            )


def _whole_division(name: str, operands: Sequence[Handle]) -> Handle:
    """Division or remainder; of bools as that of 0 and 1, which is a bool again."""
    if element_of(operands[0].ty) != BOOL:
        return emit(name, *operands)
    return cast(emit(name, *(cast(value, I32) for value in operands)), BOOL)


def floor_divide(left: Given, right: Given) -> Handle:
    """`//` of ints: C's, toward zero. Raises CompileTypeError for floats or mixed signedness."""
    check_division(left, right, "//")
    values = promote(left, right, symbol="//", division=True)
    _integers(values, "//")
    return _whole_division("div", values)


def modulo(left: Given, right: Given) -> Handle:
    """`%`: of ints C's, with the sign of the left; of floats fmod, in f32 at least."""
    check_division(left, right, "%")
    return _whole_division("mod", promote(left, right, symbol="%", division=True))


def bitwise(name: str, symbol: str, left: Given, right: Given) -> Handle:
    """`&`, `|`, `^` of ints and bools."""
    values = promote(left, right, symbol=symbol)
    for value in values:
        if element_of(value.ty).kind == "f":
            raise CompileTypeError(
                f"{symbol}: ints or bools are needed, got {value.ty}; see .to(…, bitcast=True)"
            )
    return emit(name, *values)


def shift(name: str, symbol: str, left: Given, right: Given) -> Handle:
    """`<<`, `>>` of ints, which promote. `>>` repeats the sign bit where the left operand was
    signed before it was promoted: i8(-2) >> u16(1) is u16(0xffff)."""
    value, count = promote(left, right, symbol=symbol)
    _integers((value, count), symbol)
    element = element_of(value.ty)
    if element == BOOL:
        return emit("and", value, emit("not", count))
    signed = isinstance(left, Handle) and element_of(left.ty).kind == "i"
    if name == "shr" and signed and element.kind == "u":
        same = _SIGNED[element.bits]
        # An unsigned count that does not fit the signed type becomes negative, which is also too
        # large: the targets read the count as unsigned.
        return cast(emit(name, cast(value, same), cast(count, same)), element)
    return emit(name, value, count)


def power(left: Given, right: Given) -> Handle:
    """`**`: of floats C's pow; a small constant exponent multiplies, which ints need."""
    count = known(right)
    if isinstance(count, int) and 1 <= count <= 8 and isinstance(left, Handle):
        result = left
        for _ in range(count - 1):
            result = binary("mul", "**", result, left)
        element = meeting((left, right), "**")
        return cast(result, element)
    base = known(left)
    if isinstance(base, int) and isinstance(count, int) and count >= 0:
        return constant(base**count, meeting((left, right), "**"))
    return binary("pow", "**", left, right)


def compare(name: str, symbol: str, left: Given, right: Given) -> Handle:
    """A comparison; two pointers compare as addresses.

    Raises CompileTypeError for a pointer and a number: a comparison of addresses with ints is
    hardly ever meant, and an array of one element that is passed as a number is a pointer.
    """
    if is_pointer(left) and is_pointer(right):
        left, right = (operand(v, U64) for v in (left, right))
    elif is_pointer(left) or is_pointer(right):
        given = " and ".join(str(getattr(value, "ty", value)) for value in (left, right))
        raise CompileTypeError(
            f"{symbol}: a pointer cannot be compared with a number, got {given}; an array or a 0-d"
            " tensor that is passed as an argument is a pointer (pass its .item(), or tl.load it);"
            " to compare addresses, cast with .to(tl.int64)"
        )
    return emit(name, *promote(left, right, symbol=symbol))


def negate(value: Given) -> Handle:
    """`-x`; bools are their own negatives modulo 2."""
    given = operand(value)
    return given if element_of(given.ty) == BOOL else emit("neg", given)


def logical(name: str, left: Given, right: Given) -> Handle:
    """`and`, `or` on blocks: elementwise on truth values."""
    return emit(name, *align([truth(left), truth(right)], name))


def select(condition: Given, left: Given, right: Given) -> Handle:
    """`tl.where`: both choices promoted, pointers too; everything broadcasts."""
    if is_pointer(left) and is_pointer(right) and element_of(left.ty) == element_of(right.ty):
        choices: tuple[Handle, ...] = left, right
    elif is_pointer(left) or is_pointer(right):
        raise CompileTypeError("where: both choices must be pointers of one type")
    else:
        choices = promote(left, right, symbol="where")
    return emit("select", *align([truth(condition), *choices], "where"))
