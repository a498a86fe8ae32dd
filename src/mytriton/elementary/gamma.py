"""tgamma and lgamma in f64; f32 is computed so and rounded.

Stirling's formula, log gamma(z) = (z - 1/2) log z - z + log(2 pi)/2 + p(1/z²)/z (NIST Handbook of
Mathematical Functions, 5.11), is right to the last bit from z = 8 on, and below that gamma(x) =
gamma(x + 8) / (x (x+1) … (x+7)). The exponent is kept as a double-double, since the exponential
magnifies its error (see `power`).
"""

from __future__ import annotations

import math

from ..ir.types import F32
from .double_double import two_product, two_sum
from .exponential import exp_sum
from .formats import coefficients, in_double, is_negative, polynomial, with_sign
from .logarithm import log
from .power import log_sum
from .term import Term
from .trigonometric import sinpi

Pair = tuple[Term, Term]


def tgamma(x: Term) -> Term:
    """Within 10 ulp; NaN at negative whole numbers, infinite at 0 with its sign.

    Below 0: gamma(x) = -pi / (x sin(pi x) gamma(-x)).
    """
    if x.element == F32:
        return in_double(tgamma, x)
    size = x.abs()
    (high, low), product = _parts(size)
    above = exp_sum(high, low) / product
    above = (size > 172.0).where(math.inf, above)
    above = ((size <= 18.0) & size.rint().eq(size)).where(above.rint(), above)
    wave = sinpi(x)
    factor = -math.pi / (x * wave)
    below = exp_sum(-high, -low) * product * factor
    below = (size > 190.0).where(with_sign(x.full(0.0), factor), below)
    below = (wave.eq(0.0) | size.eq(math.inf)).where(math.nan, below)
    value = (x < 0.0).where(below, above)
    tiny = size < 2.0**-60
    return tiny.where(1.0 / x, value)


def _parts(x: Term) -> tuple[Pair, Term]:
    """log gamma(z) as a sum of two and x (x+1) … (x+7), or 1 where z = x, for x >= 0."""
    shifted = x < 8.0
    moved, dropped = two_sum(x, x.full(8.0))
    z, z_low = shifted.where(moved, x), shifted.where(dropped, 0.0)
    product, low = x, x.full(0.0)
    for k in range(1, 8):
        factor, rest = two_sum(x, x.full(float(k)))
        low = low * factor + product * rest
        product, error = two_product(product, factor)
        low = low + error
    return _stirling(z, z_low), shifted.where(product + low, 1.0)


def _stirling(z: Term, z_low: Term) -> Pair:
    """log gamma(z + z_low) for z >= 8."""
    inverse = 1.0 / z
    series = inverse * polynomial(inverse * inverse, coefficients("stirling", z))
    high, low = log_sum(z)
    factor, factor_low = two_sum(z, z.full(-0.5))
    product, error = two_product(factor, high)
    error = error + factor.fma(low, factor_low * high) + z_low * high
    total, rest = two_sum(product, -z)
    constant, constant_low = coefficients("log_root_2pi", z)
    total, more = two_sum(total, z.full(constant))
    return two_sum(total, rest + more + error + (series + constant_low) - z_low * 0.5 * inverse)


def lgamma(x: Term) -> Term:
    """log |gamma(x)|; infinite at 0 and negative whole numbers.

    Within 5 ulp above 0; below, where it has zeros, within 1e-14 or a few ulp.
    """
    if x.element == F32:
        return in_double(lgamma, x)
    size = x.abs()
    above = _log_gamma(size)
    wave = sinpi(x).abs()
    below = -(log(wave * (1 / math.pi)) + log(size)) - above
    value = is_negative(x).where(below, above)
    value = (is_negative(x) & wave.eq(0.0)).where(math.inf, value)
    return size.eq(math.inf).where(math.inf, value)


def _log_gamma(x: Term) -> Term:
    """Of x >= 0: near its zeros at 1 and 2, d p(d), where d + 2 is x shifted."""
    small, low = x < 0.5, x < 1.5
    d = small.where(x, low.where(x - 1.0, x - 2.0))
    near = d * polynomial(d, coefficients("lgamma", x))
    factor = small.where(x * (x + 1.0), low.where(x, 1.0))
    near = near - log(factor)
    (high, rest), product = _parts(x)
    middle = log(exp_sum(high, rest) / product)
    far = (x > 1e300).where(x * (log(x) - 1.0), high + rest)
    return (x < 3.0).where(near, (x < 8.0).where(middle, far))
