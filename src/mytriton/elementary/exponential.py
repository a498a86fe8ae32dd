"""exp, exp2, tanh: the argument reduced by powers of two.

    exp(x) = 2^n * 2^n * exp(r)     with n = round(x / (2 ln 2)), r = x - 2 n ln 2, |r| <= ln 2

Half the exponent twice rather than the whole once: 2^n is then always a normal number, the last
product overflows to infinity and rounds into the denormals by itself, and no special case is left.
Clamping x first keeps n in range.

Cody and Waite's reduction (W. J. Cody and W. Waite, Software Manual for the Elementary Functions,
1980): r must be right to its last bit though x and 2 n ln 2 nearly cancel. So ln 2 is held as a sum
high + low of two floats. They shortened `high` to make n*high exact; an fma need not: it forms the
product in full, and x - 2n*high is then exact, since x (unless n is 0) and 2n*high are multiples of
the last place of `high`, and their difference, which is below 1, has no more bits than a float.
What `low` adds is subtracted after it.
"""

from __future__ import annotations

from ..ir.types import F32
from .double_double import quotient, two_product, two_sum
from .formats import (
    clamp,
    coefficients,
    format_of,
    in_double,
    odd,
    polynomial,
    power_of_two,
    with_sign,
)
from .term import Term


def exp(x: Term) -> Term:
    """Within 2 ulp; x below about -104 (f64: -746) gives 0, above 89 (710) inf.

    What gives 0 (minus infinity in every masked softmax) is chosen rather than computed: an
    underflow takes a processor a hundred times as long as another product.
    """
    low, high = (-105.0, 90.0) if x.element == F32 else (-747.0, 711.0)
    gone = x < low
    x = gone.where(0.0, x)
    return gone.where(0.0, exp_inside((x > high).where(high, x)))


def exp_inside(x: Term) -> Term:
    """exp of x between -150 and 170 (f32), -1400 and 1400 (f64)."""
    value, scale = _parts(x)
    return value * scale * scale


def _parts(x: Term) -> tuple[Term, Term]:
    """v and s with exp(x) = v * s * s, by Cody and Waite's reduction (see above)."""
    magic = format_of(x).magic
    t = x.fma(coefficients("log2e", x)[0] / 2, magic)
    n = t - magic
    high, low = coefficients("ln2", x)
    r = n.fma(-2 * low, n.fma(-2 * high, x))
    return polynomial(r, coefficients("exp", x)), power_of_two(t)


def exp2(x: Term) -> Term:
    """Within 2 ulp; exact for whole x."""
    low, high = (-151.0, 129.0) if x.element == F32 else (-1080.0, 1025.0)
    x = clamp(x, low, high)
    magic = format_of(x).magic
    t = x.fma(0.5, magic)
    f = (t - magic).fma(-2.0, x)
    scale = power_of_two(t)
    return polynomial(f, coefficients("exp2", x)) * scale * scale


def expm1_parts(x: Term) -> tuple[Term, Term]:
    """exp(x) - 1, halved, as a sum of a float and a small correction; x not above 710 (f32: 89).

    With n = round(x / ln 2) and s = 2^(n-1): s - 1/2 and s*r are added without error, and all the
    rest, s * (exp(r) - 1 - r), is small beside them.
    """
    row = format_of(x)
    t = x.fma(coefficients("log2e", x)[0], row.magic)
    n = t - row.magic
    high, low = coefficients("ln2", x)
    rest = n.fma(-high, x)
    r, error = two_sum(rest, n * -low)
    scale = power_of_two(t - 1.0)
    curve = (r * r).fma(polynomial(r, coefficients("expm1", x)[2:]), error)
    total, correction = two_sum(scale - 0.5, scale * r)
    return two_sum(total, scale.fma(curve, correction))


def tanh(x: Term) -> Term:
    """Within 2 ulp. f32: an odd polynomial near 0, 1 - 2 / (exp(2|x|) + 1) beyond; f64 by expm1."""
    size = x.abs()
    if x.element == F32:
        power = exp_inside((size > 10.0).where(10.0, size) * 2.0)
        far = 1.0 - 2.0 / (power + 1.0)
        near = odd(size, coefficients("tanh", x))
        return with_sign((size < 0.6).where(near, far), x)
    high, low = expm1_parts((size > 20.0).where(20.0, size) * 2.0)
    divisor, error = two_sum(high, x.full(1.0))
    return with_sign(quotient(high, low, divisor, error + low), x)


def halved_exp(x: Term) -> Term:
    """exp(x) / 2 for |x| not above 1400, f64: finite a little beyond where exp overflows."""
    polynomial_part, scale = _parts(x)
    return polynomial_part * (scale * 0.5) * scale


def exp10(x: Term) -> Term:
    """Within 2 ulp: exp of x ln 10 in two parts, the second a correction."""
    if x.element == F32:
        return in_double(exp10, x)
    x = clamp(x, -350.0, 310.0)
    t = x.fma(coefficients("log2_10", x)[0] / 2, format_of(x).magic)
    n = t - format_of(x).magic
    log10_2 = coefficients("log10_2", x)
    rest = n.fma(-2 * log10_2[1], n.fma(-2 * log10_2[0], x))
    ln10 = coefficients("ln10", x)
    r, error = two_product(rest, x.full(ln10[0]))
    return _scaled(r, rest.fma(ln10[1], error), power_of_two(t))


def exp_sum(x: Term, low: Term) -> Term:
    """exp(x + low), f64, for a small low; x beyond the ends is clamped."""
    x = clamp(x, -747.0, 711.0)
    t = x.fma(coefficients("log2e", x)[0] / 2, format_of(x).magic)
    n = t - format_of(x).magic
    high, rest = coefficients("ln2", x)
    r, error = two_sum(n.fma(-2 * high, x), n * (-2 * rest))
    return _scaled(r, error + low, power_of_two(t))


def _scaled(r: Term, low: Term, scale: Term) -> Term:
    """exp(r + low) * scale²."""
    value = polynomial(r, coefficients("exp", r))
    return value.fma(low, value) * scale * scale
