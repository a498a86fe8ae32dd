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
