"""Logarithms: the exponent split off, a polynomial for the rest.

    log x = e ln 2 + log(1 + f)     with x = 2^e * (1 + f)

1 + f lies in [2/3, 4/3) (f32) or [sqrt 1/2, sqrt 2) (f64), around 1 rather than from 1 to 2: for x
just below 1 the split [1, 2) would give -ln 2 plus nearly ln 2, and the cancellation would leave no
right bit. Taking the bits of the interval's lower end from those of x makes the carry out of the
fraction land in the exponent, so e comes out right with one addition of integers.
"""

from __future__ import annotations

import math
import struct

from ..ir.types import F32
from .double_double import two_product, two_sum
from .formats import coefficients, format_of, in_double, polynomial, with_sign_of
from .term import Term


def split(x: Term) -> tuple[Term, Term]:
    """e and f, both floats, with x = 2^e * (1 + f); x positive and finite, else meaningless."""
    row = format_of(x)
    tiny = x < row.smallest
    scaled = tiny.where(x * 2.0**row.mantissa, x)
    start = _bits(2 / 3) if x.element == F32 else _bits(math.sqrt(0.5), double=True)
    bits = scaled.bits(row.unsigned) + (row.one - start)
    fraction = (bits & ((1 << row.mantissa) - 1)) + start
    whole = (bits >> row.mantissa) | _bits(2.0**row.mantissa, double=x.element != F32)
    bias = float(2**row.mantissa + row.bias)
    e = whole.bits(row.element) - tiny.where(x.full(bias + row.mantissa), bias)
    return e, fraction.bits(row.element) - 1.0


def _bits(number: float, double: bool = False) -> int:
    """The number's bits in f32 or f64."""
    kinds = ("<d", "<Q") if double else ("<f", "<I")
    bits: int = struct.unpack(kinds[1], struct.pack(kinds[0], number))[0]
    return bits


def specials(x: Term, value: Term) -> Term:
    """`value` where x is finite and positive; -inf at 0, NaN below, x itself at inf and NaN."""
    value = (x < math.inf).where(value, x)
    return (x <= 0.0).where((x < 0.0).where(x.full(math.nan), -math.inf), value)


def log(x: Term) -> Term:
    """Within 2 ulp."""
    e, f = split(x)
    ln2 = coefficients("ln2", x)
    if x.element == F32:
        near = (f * f).fma(polynomial(f, coefficients("log", x)[2:]), f)
        return specials(x, e.fma(ln2[0], near))
    return specials(x, _sum(e, f, log_near(f)))


def _sum(e: Term, f: Term, low: Term) -> Term:
    """e ln 2 + f + low, f64: the product of e with ln 2's leading bits is exact."""
    ln2 = coefficients("ln2", f)[0]
    short = math.floor(ln2 * 2.0**32) / 2.0**32
    return e * short + (f + e.fma(ln2 - short, low))


def log_near(f: Term) -> Term:
    """log(1 + f) - f, f64.

    With s = f / (2 + f), log(1 + f) = 2 atanh(s) = 2s + 2s³/3 + …, an odd series that converges
    twice as fast as that of the logarithm. But s is rounded, and 2s would carry its error; since
    2s = f - s f, the result is written as f, which is exact, less small terms in which that error
    does not matter: f - (f²/2 - s (f²/2 + R)), R = s² * (…). So does fdlibm (Sun, 1993).
    """
    s = f / (f + 2.0)
    z = s * s
    rest = polynomial(z, coefficients("log_atanh", f)) * z
    half = f * f * 0.5
    return s * (half + rest) - half


def log1p(x: Term) -> Term:
    """Within 2 ulp: log(u + c) with u = 1 + x rounded and c what that dropped."""
    if x.element == F32:
        return in_double(log1p, x)
    u, dropped = two_sum(x, x.full(1.0))
    e, f = split(u)
    value = _sum(e, f, log_near(f) + dropped / u)
    return with_sign_of(specials(u, value), x)


def log2(x: Term) -> Term:
    """Within 2 ulp; exact for powers of two."""
    if x.element == F32:
        e, f = split(x)
        rest = polynomial(f, coefficients("log2", x))
        return specials(x, e + f.fma(coefficients("log2e", x)[0], f * rest))
    return _to_base(x, "log2e", (1.0, 0.0))


def log10(x: Term) -> Term:
    """Within 2 ulp."""
    if x.element == F32:
        return in_double(log10, x)
    high, low = coefficients("log10_2", x)
    return _to_base(x, "log10e", (high, low))


def _to_base(x: Term, name: str, of_two: tuple[float, float]) -> Term:
    """e * log_b 2 + log(1 + f) * log_b e in double-double, f64."""
    e, f = split(x)
    factor = coefficients(name, x)
    total, low = two_sum(f, log_near(f))
    product, error = two_product(total, x.full(factor[0]))
    rest = total.fma(factor[1], low * factor[0]) + error
    whole, dropped = two_product(e, x.full(of_two[0]))
    value, more = two_sum(whole, product)
    return specials(x, value + (rest + e.fma(of_two[1], dropped) + more))
