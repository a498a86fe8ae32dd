"""The Bessel functions of order 0 and 1 in f64; f32 is computed so and rounded.

Up to 8 each is a polynomial in t = x²/32 - 1, apart from log x and 1/x where they occur. Beyond, J
and Y are a cosine and a sine of x - (2n+1) pi/4 with amplitudes P and Q / x that are polynomials in
64/x² (Hankel's expansion: NIST Handbook of Mathematical Functions, 10.17), and I is exp(x)/sqrt(x)
times a polynomial in 8/x.

J and Y have zeros that are no floats: near them the error is absolute, within 1e-15 (8 and below)
or 1e-15 / sqrt(x).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..ir.types import F32
from .exponential import exp_inside
from .formats import coefficients, in_double, polynomial, with_sign_of
from .logarithm import log
from .term import Term
from .trigonometric import cos, sin

TWO_OVER_PI = 2 / math.pi


def j0(x: Term) -> Term:
    """The first kind, order 0."""
    return in_double(j0, x) if x.element == F32 else _first(x, 0)


def j1(x: Term) -> Term:
    """The first kind, order 1."""
    return in_double(j1, x) if x.element == F32 else _first(x, 1)


def y0(x: Term) -> Term:
    """The second kind, order 0; -inf at 0, NaN below."""
    return in_double(y0, x) if x.element == F32 else _second(x, 0)


def y1(x: Term) -> Term:
    """The second kind, order 1; -inf at 0, NaN below."""
    return in_double(y1, x) if x.element == F32 else _second(x, 1)


def cyl_bessel_i0(x: Term) -> Term:
    """The modified function, order 0, within 6 ulp."""
    return in_double(cyl_bessel_i0, x) if x.element == F32 else _modified(x, 0)


def cyl_bessel_i1(x: Term) -> Term:
    """The modified function, order 1, within 6 ulp."""
    return in_double(cyl_bessel_i1, x) if x.element == F32 else _modified(x, 1)


def _near(x: Term, kind: str, order: int) -> Term:
    """The polynomial part of J or Y for x up to 8."""
    value = polynomial((x * x).fma(1 / 32, -1.0), coefficients(f"{kind}{order}", x))
    return value * x if order else value


def _far(x: Term, order: int) -> tuple[Term, Term]:
    """J and Y for x >= 8."""
    v = 64.0 / (x * x)
    p = polynomial(v, coefficients(f"bessel_p{order}", x))
    q = polynomial(v, coefficients(f"bessel_q{order}", x)) / x
    s, c = sin(x), cos(x)
    cosine, sine = (c + s, s - c) if order == 0 else (s - c, -(c + s))
    size = (TWO_OVER_PI * 0.5 / x).sqrt()
    return size * (p * cosine - q * sine), size * (p * sine + q * cosine)


def _first(x: Term, order: int) -> Term:
    size = x.abs()
    small = size <= 8.0
    far, _ = _far(small.where(8.0, size), order)
    far = size.eq(math.inf).where(0.0, far)
    value = small.where(_near(small.where(size, 8.0), "j", order), far)
    return value if order == 0 else (x < 0.0).where(-value, with_zero(value, x))


def with_zero(value: Term, x: Term) -> Term:
    """The value with x's sign where it is zero."""
    return value.eq(0.0).where(with_sign_of(value, x), value)


def _second(x: Term, order: int) -> Term:
    small = x <= 8.0
    _, far = _far(small.where(8.0, x), order)
    far = x.eq(math.inf).where(0.0, far)
    inside = small.where(x, 8.0)
    logarithm = log(inside) * _near(inside, "j", order)
    pole = logarithm - 1.0 / inside if order else logarithm
    near = pole.fma(TWO_OVER_PI, _near(inside, "y", order))
    near = x.eq(0.0).where(-math.inf, near)
    return (x < 0.0).where(math.nan, small.where(near, far))


def _modified(x: Term, order: int) -> Term:
    size = x.abs()
    small = size <= 8.0
    inside = small.where(size, 8.0)
    near = polynomial(inside * inside, coefficients(f"i{order}", x))
    near = near * inside if order else near
    beyond = small.where(8.0, (size > 1400.0).where(1400.0, size))
    power = exp_inside(beyond * 0.5)
    series = polynomial(8.0 / beyond, coefficients(f"bessel_i{order}", x))
    value = small.where(near, power * (series / beyond.sqrt()) * power)
    return value if order == 0 else with_sign_of(value, x)


# -- any order


POINTS = 64
ANGLES = [(k + 0.5) * math.pi / POINTS for k in range(POINTS)]


def first_kind(order: int) -> Callable[[Term], Term]:
    """The formula of the first kind of a constant order 0 … 24, of f64.

    Up to 25 it is the integral over a period, J0(x) = mean over θ of cos(x sin θ), by the midpoint
    rule. For a periodic function the rule's error is that of the Fourier terms past the number of
    points, here a Bessel function of an order above 64, so all digits are right (L. Trefethen and
    J. Weideman, SIAM Review 56, 2014). Beyond 25 it is the recurrence from orders 0 and 1, which
    is stable while the order is below x.
    """

    def formula(x: Term) -> Term:
        size = x.abs()
        beyond = size > 25.0
        far = _climb(beyond.where(size, 30.0), order, "j")
        far = (x < 0.0).where(-far, far) if order % 2 else far
        far = size.eq(math.inf).where(0.0, far)
        near = _integral(beyond.where(0.0, x), order)
        return beyond.where(far, x.ne(x).where(x, near))

    return formula


def second_kind(order: int) -> Callable[[Term], Term]:
    """The formula of the second kind of a constant order 0 … 24, of f64: the recurrence, which is
    stable everywhere. -inf at 0, NaN below."""

    def formula(x: Term) -> Term:
        value = x.eq(math.inf).where(0.0, _climb(x, order, "y"))
        return x.eq(0.0).where(-math.inf, value)

    return formula


def _integral(x: Term, order: int) -> Term:
    """The mean over the angles of cos(order θ) cos(x sin θ), or of the sines for an odd order;
    θ and π - θ share a sine."""
    even = order % 2 == 0
    weights = [math.cos(order * a) if even else math.sin(order * a) for a in ANGLES]
    total = x.full(0.0)
    for k in range(POINTS // 2):
        weight = weights[k] + weights[POINTS - 1 - k]
        angle = x * math.sin(ANGLES[k])
        if abs(weight) > 1e-18:
            total = total + (angle.cos() if even else angle.sin()) * weight
    return total / POINTS


def _climb(x: Term, order: int, kind: str) -> Term:
    """Order n from orders 0 and 1 of J or Y: C(n+1) = 2n/x C(n) - C(n-1)."""
    zero, one = x.op(f"{kind}0"), x.op(f"{kind}1")
    for k in range(1, order):
        zero, one = one, one * float(2 * k) / x - zero
    return one if order else zero
