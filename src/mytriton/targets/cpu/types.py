"""How each element type looks in LLVM: in registers, in the program's memory, in the scratch arena.

A value in a register is a number, never a bit pattern: floats below 32 bits are held as
`float` numbers that their format can represent (as in `ir/numeric.py`), bool as `i1`. Bit patterns
appear only at user memory; the arena keeps the register form (bool as a byte).
"""

from __future__ import annotations

import math
import struct

from ...ir.types import Element, PointerType, ScalarType

SMALL = 32
"""Floats with fewer bits than this are computed in `float` and rounded once per op."""


def is_small(element: Element) -> bool:
    """Whether the element is a float that is held in a wider register."""
    return element.kind == "f" and element.bits < SMALL


def register(element: Element) -> str:
    """The LLVM type of one element in a register."""
    if isinstance(element, PointerType):
        return "ptr"
    if element.kind == "f":
        return "double" if element.bits == 64 else "float"
    return f"i{element.bits}"


def memory(element: Element) -> str:
    """The LLVM type of one element in the kernel's memory."""
    if element.kind == "b":
        return "i8"
    if element.kind == "f" and element.bits < SMALL:
        return "half" if element.ir == "f16" else f"i{element.bits}"
    return register(element)


def arena(element: Element) -> str:
    """The LLVM type of one element in the scratch arena."""
    return "i8" if element.kind == "b" else register(element)


SIZES = {
    "ptr": 8,
    "double": 8,
    "float": 4,
    "half": 2,
    "i1": 1,
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "i64": 8,
}
"""Bytes of one element of an LLVM type in memory."""

LETTERS = {"ptr": "p0", "double": "f64", "float": "f32", "half": "f16"}


def suffix(type_: str, lanes: int) -> str:
    """The overload suffix of an intrinsic: `v16f32`, `i32`."""
    letter = LETTERS.get(type_, type_)
    return f"v{lanes}{letter}" if lanes else letter


def full(type_: str, lanes: int) -> str:
    """The LLVM type of a register: `<16 x float>`, or the scalar type itself for 0 lanes."""
    return f"<{lanes} x {type_}>" if lanes else type_


def literal(type_: str, value: bool | int | float) -> str:
    """A constant of an LLVM scalar type; floats as the bits of a double, which LLVM reads
    exactly.
    """
    if type_ == "i1":
        return "true" if value else "false"
    if type_ in ("half", "float", "double"):
        number = float(value)
        bits = (
            0x7FF8 << 48
            if math.isnan(number)
            else struct.unpack("<Q", struct.pack("<d", number))[0]
        )
        return f"0x{bits:016X}"
    return str(int(value))


def constant_text(element: ScalarType, value: bool | int | float) -> str:
    """A constant of an IR element type as LLVM text."""
    return literal(register(element), value)
