"""Integer functions in terms of arithmetic, shifts and casts."""

from __future__ import annotations

from ..ir.types import I64, U64
from .term import Term


def umulhi(x: Term, y: Term) -> Term:
    """The high half of the product: by a multiplication twice as wide, of 64 bits by halves."""
    element = x.element
    if element.bits == 64:
        return _high_of_64(x, y)
    wide = I64 if element.kind == "i" else U64
    return (x.to(wide) * y.to(wide) >> element.bits).to(element)


def _high_of_64(x: Term, y: Term) -> Term:
    a, b = x.to(U64), y.to(U64)
    half = 0xFFFFFFFF
    a_low, a_high, b_low, b_high = a & half, a >> 32, b & half, b >> 32
    middle = a_high * b_low + (a_low * b_low >> 32)
    cross = a_low * b_high + (middle & half)
    high = a_high * b_high + (middle >> 32) + (cross >> 32)
    if x.element.kind == "u":
        return high
    high = high.to(I64)
    return high - ((x >> 63) & y) - ((y >> 63) & x)
