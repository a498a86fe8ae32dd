"""log and log2: the exponent split off, a polynomial for the rest.

One idea: x = 2^e * (1 + f) with 1 + f in [2/3, 4/3) (f32) or [sqrt 1/2, sqrt 2) (f64), found by
integer arithmetic on x's bits; log x = e ln 2 + log(1 + f).
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from ..types import F32
from .formats import coefficients, format_of, polynomial

if TYPE_CHECKING:
    from ..expr import Expr


def split(x: Expr) -> tuple[Expr, Expr]:
    """e and f, both floats, with x = 2^e * (1 + f); x positive and finite, else meaningless."""
    row = format_of(x)
    tiny = x < row.smallest
    scaled = tiny.where(x * 2.0**row.mantissa, x)
    single = x.element == F32
    start = struct.unpack("<I" if single else "<Q", _pack(single))[0]
    bits = scaled.bits(row.unsigned) + (row.one - start)
    fraction = (bits & ((1 << row.mantissa) - 1)) + start
    whole = (bits >> row.mantissa) | struct.unpack(*_two_to(row.mantissa, single))[0]
    bias = float(2**row.mantissa + row.bias)
    e = whole.bits(row.element) - tiny.where(x.full(bias + row.mantissa), bias)
    return e, fraction.bits(row.element) - 1.0


def _pack(single: bool) -> bytes:
    return struct.pack("<f", 2 / 3) if single else struct.pack("<d", math.sqrt(0.5))


def _two_to(power: int, single: bool) -> tuple[str, bytes]:
    number = "<f" if single else "<d"
    return "<I" if single else "<Q", struct.pack(number, 2.0**power)


def specials(x: Expr, value: Expr) -> Expr:
    """`value` where x is finite and positive; -inf at 0, NaN below, x itself at inf and NaN."""
    value = (x < math.inf).where(value, x)
    return (x <= 0.0).where((x < 0.0).where(x.full(math.nan), -math.inf), value)


def log(x: Expr) -> Expr:
    """Within 2 ulp."""
    e, f = split(x)
    ln2 = coefficients("ln2", x)
    if x.element == F32:
        near = (f * f).fma(polynomial(f, coefficients("log", x)[2:]), f)
        return specials(x, e.fma(ln2[0], near))
    high, low = log_near(f)
    big = e * _short(ln2[0])
    return specials(x, big + (high + e.fma(ln2[0] - _short(ln2[0]), low)))


def _short(value: float) -> float:
    """The value's leading bits, so that its product with an exponent is exact."""
    return math.floor(value * 2.0**32) / 2.0**32


def log_near(f: Expr) -> tuple[Expr, Expr]:
    """log(1 + f) as a sum of a float and a small correction, f64.

    With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - (f²/2 - s (f²/2 + R)), R = s² * (…).
    """
    s = f / (f + 2.0)
    z = s * s
    rest = polynomial(z, coefficients("log_atanh", f)) * z
    half = f * f * 0.5
    return f, s * (half + rest) - half


def log2(x: Expr) -> Expr:
    """Within 2 ulp; exact for powers of two."""
    e, f = split(x)
    log2e = coefficients("log2e", x)
    if x.element == F32:
        rest = polynomial(f, coefficients("log2", x))
        return specials(x, e + f.fma(log2e[0], f * rest))
    high, low = log_near(f)
    total = high + low
    low = low - (total - high)
    product = total * log2e[0]
    rest = total.fma(log2e[0], -product) + total.fma(log2e[1], low * log2e[0])
    value = e + product
    return specials(x, value + (rest - ((value - e) - product)))
