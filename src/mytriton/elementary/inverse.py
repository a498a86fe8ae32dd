"""asin, acos, atan, atan2 in f64; f32 is computed so and rounded.

The argument is folded into a short interval by an identity, an odd polynomial taken there, and the
angle that was folded away added as a sum of two floats, since it is the large part of the result:

    asin x = pi/2 - 2 asin(sqrt((1 - x) / 2))      for x > 1/2: near 1 the slope of asin is infinite
    atan x = pi/2 - atan(1 / x)                    for x > 1
    atan x = pi/4 + atan((x - 1) / (x + 1))        for x > tan(pi/8)

1 - x is exact for x >= 1/2 (P. Sterbenz, Floating-Point Computation, 1974: the difference of two
floats within a factor of two of each other), so nothing is lost in the first.
"""

from __future__ import annotations

import math

from ..ir.types import F32
from .formats import coefficients, in_double, is_negative, polynomial, with_sign, with_sign_of
from .term import Term


def asin(x: Term) -> Term:
    """Within 2 ulp; NaN outside [-1, 1]. Above 1/2 it is pi/2 - 2 asin(sqrt((1 - x) / 2))."""
    if x.element == F32:
        return in_double(asin, x)
    size = x.abs()
    inside = size <= 0.5
    half = (1.0 - size) * 0.5
    root, low = _root(half)
    u = inside.where(size * size, half)
    rest = u * polynomial(u, coefficients("asin", x)[1:])
    quarter, quarter_low, _ = coefficients("half_pi", x)
    near = size.fma(rest, size)
    far = quarter - (root * 2.0 - (quarter_low - (low + root * rest) * 2.0))
    return with_sign_of(inside.where(near, far), x)


def _root(x: Term) -> tuple[Term, Term]:
    """The square root as a sum of two; 0 at 0."""
    root = x.sqrt()
    low = (-root).fma(root, x) * 0.5 / root
    return root, (x > 0.0).where(low, 0.0)


def acos(x: Term) -> Term:
    """Within 2 ulp; NaN outside [-1, 1]."""
    if x.element == F32:
        return in_double(acos, x)
    size = x.abs()
    inside = size <= 0.5
    half = (1.0 - size) * 0.5
    root, low = _root(half)
    u = inside.where(x * x, half)
    rest = u * polynomial(u, coefficients("asin", x)[1:])
    quarter, quarter_low, _ = coefficients("half_pi", x)
    middle = quarter - (x - (quarter_low - x * rest))
    less = root + (root * rest + low)
    more = quarter - (root - (quarter_low - (root * rest + low)))
    return inside.where(middle, (x < 0.0).where(more, less) * 2.0)


def atan(x: Term) -> Term:
    """Within 2 ulp."""
    if x.element == F32:
        return in_double(atan, x)
    size = x.abs()
    turned = size > 1.0
    infinite = size.eq(math.inf)
    above, below = turned.where(x.full(1.0), size), turned.where(size, 1.0)
    return with_sign(_angle(infinite.where(0.0, above), infinite.where(1.0, below), turned), x)


def atan2(y: Term, x: Term) -> Term:
    """Within 2 ulp: the angle of the point (x, y), signed zeros and infinities as in C."""
    if x.element == F32:
        return in_double(atan2, y, x)
    rise, run = y.abs(), x.abs()
    turned = rise > run
    above, below = turned.where(run, rise), turned.where(rise, run)
    infinite = below.eq(math.inf)
    above = infinite.where(above.eq(math.inf).where(x.full(1.0), 0.0), above)
    below = infinite.where(1.0, below)
    below = below.eq(0.0).where(1.0, below)
    shrink = (below > 2.0**1000).where(x.full(2.0**-100), 1.0)
    angle = _angle(above * shrink, below * shrink, turned, is_negative(x))
    unordered = rise.ne(rise) | run.ne(run)
    return unordered.where(math.nan, with_sign(angle, y))


def _angle(above: Term, below: Term, turned: Term, back: Term | None = None) -> Term:
    """atan(above / below), 0 <= above <= below; turned: pi/2 less it; back: pi less that.

    Above tan(pi/8), r = (above - below) / (above + below) is used, whose angle is pi/4 less.
    """
    wide = above > below * 0.41421356237309503
    over = wide.where(above - below, above)
    under = wide.where(above + below, below)
    ratio = over / under
    u = ratio * ratio
    rest = u * polynomial(u, coefficients("atan", ratio)[1:])
    low = (-ratio).fma(under, over) / under
    high, high_low, _ = coefficients("half_pi", ratio)
    zero = ratio.full(0.0)
    base, base_low = wide.where(high / 2, zero), wide.where(high_low / 2, zero)
    base, base_low = turned.where(high - base, base), turned.where(high_low - base_low, base_low)
    sign = turned.where(ratio.full(-1.0), 1.0)
    if back is not None:
        base = back.where(high * 2 - base, base)
        base_low = back.where(high_low * 2 - base_low, base_low)
        sign = back.where(-sign, sign)
    part = ratio * sign
    return base + (part + (part * rest + (base_low + low * sign)))
