"""erf and its complement: a polynomial near 0, an exponential times a smooth function beyond.

One idea: erfcx(x) = exp(x²) erfc(x) varies so little on [1/2, inf) that one polynomial in
(x - 4) / (x + 4) gives it; exp(-x²) then needs the square of x in two floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..types import F32
from .exponential import exp_inside, exp_sum
from .formats import coefficients, in_double, polynomial, two_product, with_sign

if TYPE_CHECKING:
    from ..expr import Expr


def erf(x: Expr) -> Expr:
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


def erfc(x: Expr) -> Expr:
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


def erfcx_beyond_half(x: Expr) -> Expr:
    """exp(x²) erfc(x) for x >= 1/2, f64: a polynomial in (x - 4) / (x + 4) divided by 1 + 2x."""
    shifted, slope = x + 4.0, x * 2.0 + 1.0
    inverse = 1.0 / (shifted * slope)
    t = (x - 4.0) * (slope * inverse)
    return polynomial(t, coefficients("erfcx", x)) * (shifted * inverse)
