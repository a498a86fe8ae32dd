"""erf and its complement: a polynomial near 0, an exponential times a smooth function beyond.

erfcx(x) = exp(x²) erfc(x) varies so little on [1/2, inf) that one polynomial in (x - 4) / (x + 4)
gives it (M. Shepherd and J. Laframboise, "Chebyshev approximation of (1+2x) exp(x²) erfc x",
Math. Comp. 36, 1981). exp(-x²) then needs x² as a double-double: an absolute error of the exponent
is a relative one of the result, and x² may be 700.
"""

from __future__ import annotations

import math

from ..ir.types import F32
from .double_double import two_product
from .exponential import exp_inside, exp_sum
from .formats import coefficients, in_double, polynomial, with_sign
from .term import Term

_ROOT_HALF = math.sqrt(0.5)


def erf(x: Term) -> Term:
    """Within 2 ulp: x + x*p(x²) below 1; above, 1 - exp(q(|x|)) (f32), 1 - exp(-x²) erfcx(|x|)."""
    size = x.abs()
    near = x.fma(polynomial(x * x, coefficients("erf", x)), x)
    if x.element == F32:
        q = polynomial((size > 4.0).where(4.0, size), coefficients("log_erfc", x))
        small = exp_inside(q)
    else:
        inside = (size > 6.0).where(6.0, size)
        small = exp_inside(-(inside * inside)) * erfcx_beyond_half(inside)
    return (size < 1.0).where(near, with_sign(1.0 - small, x))


def erfc(x: Term) -> Term:
    """Within 5 ulp: 1 - erf(x) below 1/2, exp(-x²) erfcx(x) above."""
    if x.element == F32:
        return in_double(erfc, x)
    size = x.abs()
    square = (size < 0.5).where(0.5, (size > 28.0).where(28.0, size))
    high, low = two_product(square, square)
    tail = exp_sum(-high, -low) * erfcx_beyond_half(square)
    far = (x < 0.0).where(2.0 - tail, tail)
    near = 1.0 - x.fma(polynomial(x * x, coefficients("erf", x)), x)
    return (size < 0.5).where(near, far)


def erfcx_beyond_half(x: Term) -> Term:
    """exp(x²) erfc(x) for x >= 1/2, f64: a polynomial in (x - 4) / (x + 4) divided by 1 + 2x."""
    t = 1.0 - 8.0 / (x + 4.0)
    return polynomial(t, coefficients("erfcx", x)) / (x * 2.0 + 1.0)


def erfcx(x: Term) -> Term:
    """exp(x²) erfc(x) within 5 ulp."""
    if x.element == F32:
        return in_double(erfcx, x)
    size = x.abs()
    high, low = two_product(x, x)
    power = exp_sum(high, (size < 1e3).where(low, 0.0))
    near = power * (1.0 - x.fma(polynomial(high, coefficients("erf", x)), x))
    far = erfcx_beyond_half(size)
    far = (x < 0.0).where(power * 2.0 - far, far)
    return (size < 0.5).where(near, far)


def normcdf(x: Term) -> Term:
    """erfc(-x / sqrt 2) / 2, the square of x taken before the division; within 5 ulp."""
    if x.element == F32:
        return in_double(normcdf, x)
    z = x * -_ROOT_HALF
    size = z.abs()
    inside = (x.abs() > 40.0).where(40.0, x.abs())
    high, low = two_product(inside, inside)
    tail = exp_sum(high * -0.5, low * -0.5) * erfcx_beyond_half(inside * _ROOT_HALF) * 0.5
    far = (x > 0.0).where(1.0 - tail, tail)
    near = 0.5 - z.fma(polynomial(z * z, coefficients("erf", x)), z) * 0.5
    return (size < 0.5).where(near, far)
