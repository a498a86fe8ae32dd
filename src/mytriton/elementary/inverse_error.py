"""erfinv, erfcinv, normcdfinv in f64; f32 is computed so and rounded.

In the middle a polynomial gives erfinv outright. In the tail y with erfc(y) = q is nearly linear in
w = sqrt(-log q): a polynomial guesses it to 24 bits, and one step of Halley's method on
log(erfc(y)) = log(q), which converges cubically and whose derivatives are simple, triples them.
"""

from __future__ import annotations

import math

from ..ir.types import F32
from .error_function import erfcx_beyond_half
from .formats import coefficients, in_double, polynomial, with_sign_of
from .logarithm import log
from .term import Term

ROOT = 2.0 / math.sqrt(math.pi)


def erfinv(x: Term) -> Term:
    """The number whose erf is x, within 6 ulp; infinite at 1, NaN beyond."""
    if x.element == F32:
        return in_double(erfinv, x)
    size = x.abs()
    middle = size <= 0.5
    far = _tail(middle.where(0.5, 1.0 - size))
    return middle.where(_middle(x), with_sign_of(far, x))


def erfcinv(x: Term) -> Term:
    """The number whose erfc is x, within 6 ulp; infinite at 0 and 2, NaN outside."""
    if x.element == F32:
        return in_double(erfcinv, x)
    upper = x > 1.0
    small = upper.where(2.0 - x, x)
    middle = small >= 0.5
    far = _tail(middle.where(0.5, small))
    return middle.where(_middle(1.0 - x), upper.where(-far, far))


def normcdfinv(x: Term) -> Term:
    """The number whose normcdf is x, within 6 ulp."""
    if x.element == F32:
        return in_double(normcdfinv, x)
    return erfcinv(x * 2.0) * -math.sqrt(2.0)


def _middle(x: Term) -> Term:
    """erfinv of |x| <= 1/2."""
    return x * polynomial(x * x, coefficients("erfinv", x))


def _tail(q: Term) -> Term:
    """The y >= 0.47 with erfc(y) = q, of q in (0, 1/2]; inf of 0, NaN below."""
    logarithm = log(q)
    w = (-logarithm).sqrt()
    y = w * polynomial((w - 3.0) / (w + 3.0), coefficients("erfcinv", q))
    scaled = erfcx_beyond_half(y)
    slope = -ROOT / scaled
    step = (log(scaled) - y * y - logarithm) / slope
    better = y - step / (step * (y * 2.0 + slope) * 0.5 + 1.0)
    return (q > 0.0).where(better, q.eq(0.0).where(q.full(math.inf), math.nan))
