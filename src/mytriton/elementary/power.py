"""pow, cube roots, hypot in f64; f32 is computed so and rounded.

x^y = exp(y log x). An absolute error of y log x becomes a relative error of the power; y log x may
have ten bits before its point, so a logarithm rounded to 53 bits would leave 43 right. It is
computed as a double-double (see `double_double`) with some 65 bits right, and so is the product.
"""

from __future__ import annotations

import math

from ..ir.types import F32, F64
from .double_double import two_product, two_sum
from .exponential import exp2, exp_sum
from .formats import (
    coefficients,
    format_of,
    in_double,
    negate_if,
    polynomial,
    power_of_two,
    with_sign,
)
from .logarithm import log2, split
from .term import Term


def pow(x: Term, y: Term) -> Term:
    """Within 2 ulp; signs, zeros and infinities as C's pow has them."""
    if x.element == F32:
        return _special_powers(x, y, exp2(log2(x.abs().to(F64)) * y.to(F64)).to(F32))
    size = x.abs()
    high, low = log_sum(size)
    product, error = two_product(high, y)
    plain = (size > 0.0) & (size < math.inf) & (product.abs() < 1e3)
    error = plain.where(y.fma(low, error), 0.0)
    limit = size.eq(0.0) | size.eq(math.inf)
    at_end = (size.eq(0.0) ^ (y < 0.0)).where(x.full(0.0), math.inf)
    value = exp_sum(plain.where(product, y * high), error)
    return _special_powers(x, y, limit.where(at_end, value))


def _special_powers(x: Term, y: Term, value: Term) -> Term:
    """The value for |x|, with the sign that x and an odd y give, and C's exceptions."""
    size = x.abs()
    whole = y.rint().eq(y)
    half = y * 0.5
    odd = whole & half.rint().ne(half)
    unsigned = format_of(x).unsigned
    value = odd.where(negate_if(value, x.bits(unsigned)), value)
    forbidden = (x < 0.0) & (whole ^ True) & (size < math.inf)
    value = forbidden.where(math.nan, value)
    value = (x.ne(x) | y.ne(y)).where(math.nan, value)
    one = x.eq(1.0) | y.eq(0.0) | (size.eq(1.0) & y.abs().eq(math.inf))
    return one.where(1.0, value)


def log_sum(x: Term) -> tuple[Term, Term]:
    """log x as a sum of two floats, f64: 2 s + s³ (2/3 + …) with all but the last part in two.

    s = f / (2 + f); its square times 2/3 is at most 2^-6 of the result, the rest 2^-12.
    """
    e, f = split(x)
    under, under_low = two_sum(f.full(2.0), f)
    s = f / under
    s_low = ((-s).fma(under, f) - s * under_low) / under
    z, z_low = two_product(s, s)
    z_low = (s * 2.0).fma(s_low, z_low)
    third, third_low = coefficients("two_thirds", x)
    series = z * polynomial(z, coefficients("log_tail", x))
    head, head_low = two_sum(f.full(third), series)
    head_low = head_low + third_low
    part, part_low = two_product(z, head)
    part_low = part_low + z.fma(head_low, z_low * head)
    cube, cube_low = two_product(s, part)
    cube_low = cube_low + s.fma(part_low, s_low * part)
    ln2, ln2_low = coefficients("ln2", x)
    short = math.floor(ln2 * 2.0**32) / 2.0**32
    whole, whole_low = two_sum(e * short, s * 2.0)
    high, high_low = two_sum(whole, cube)
    rest, rest_low = two_product(e, x.full(ln2 - short))
    total, dropped = two_sum(high, rest)
    low = (whole_low + high_low) + (s_low.fma(2.0, cube_low) + e.fma(ln2_low, rest_low))
    return two_sum(total, dropped + low)


def cbrt(x: Term) -> Term:
    """Within 1 ulp: x = m 8^k, a polynomial for the root of m, twice improved by Halley's step."""
    if x.element == F32:
        return in_double(cbrt, x)
    size = x.abs()
    e, f = split(size)
    magic = format_of(x).magic
    t = e.fma(1 / 3, magic)
    m = (f + 1.0) * power_of_two(e - (t - magic) * 3.0 + magic)
    y = polynomial(m, coefficients("cbrt", x))
    for _ in range(2):
        square, low = two_product(y, y)
        rest = (-square).fma(y, m) - low * y
        y = y + y * rest / (square * y * 2.0 + m)
    value = with_sign(y * power_of_two(t), x)
    plain = (size > 0.0) & (size < math.inf)
    return plain.where(value, x)


def rcbrt(x: Term) -> Term:
    """1 / cbrt(x), within 2 ulp."""
    return in_double(rcbrt, x) if x.element == F32 else 1.0 / cbrt(x)


def hypot(x: Term, y: Term) -> Term:
    """Within 1 ulp: sqrt(x² + y²) with the squares' errors; infinite if either is, even by NaN."""
    if x.element == F32:
        return in_double(hypot, x, y)
    a, b = x.abs(), y.abs()
    top = (a > b).where(a, b)
    one = x.full(1.0)
    up = (top < 2.0**-450).where(2.0**600, one)
    up = (top > 2.0**500).where(2.0**-600, up)
    a, b = a * up, b * up
    (p, p_low), (q, q_low) = two_product(a, a), two_product(b, b)
    total, low = two_sum((p > q).where(p, q), (p > q).where(q, p))
    root = total.sqrt()
    rest = (-root).fma(root, total) + (low + p_low + q_low)
    value = (root > 0.0).where(root + rest * 0.5 / root, root)
    infinite = x.abs().eq(math.inf) | y.abs().eq(math.inf)
    value = value * (1.0 / up)
    return infinite.where(math.inf, value)


def rhypot(x: Term, y: Term) -> Term:
    """1 / hypot(x, y), within 2 ulp."""
    return in_double(rhypot, x, y) if x.element == F32 else 1.0 / hypot(x, y)
