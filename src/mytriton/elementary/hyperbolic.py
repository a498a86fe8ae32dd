"""expm1, the hyperbolic functions and their inverses; f32 is computed in f64.

Near 0 exp(x) - exp(-x) cancels; expm1 as a sum of two floats (`expm1_parts`) keeps what would be
lost, and log1p does for the inverses.
"""

from __future__ import annotations

import math

from ..ir.types import F32
from .exponential import expm1_parts, halved_exp
from .formats import clamp, coefficients, in_double, with_sign, with_sign_of
from .logarithm import log, log1p
from .term import Term


def expm1(x: Term) -> Term:
    """Within 1 ulp; -1 below about -38 (f32: -18)."""
    low, high = (-18.0, 88.9) if x.element == F32 else (-40.0, 709.9)
    total, rest = expm1_parts(clamp(x, low, high))
    return with_sign_of((total + rest) * 2.0, x)


def sinh(x: Term) -> Term:
    """Within 2 ulp: h + h / (2h + 1) with h = expm1(|x|) / 2 below 20, exp(|x|) / 2 above."""
    if x.element == F32:
        return in_double(sinh, x)
    size = x.abs()
    half, rest = expm1_parts((size > 22.0).where(22.0, size))
    near = half + (half / (half * 2.0 + 1.0) + rest)
    far = halved_exp((size > 711.0).where(711.0, size))
    return with_sign((size > 22.0).where(far, near), x)


def cosh(x: Term) -> Term:
    """Within 2 ulp: h + 1 / (4h) with h = exp(|x|) / 2."""
    if x.element == F32:
        return in_double(cosh, x)
    size = x.abs()
    half = halved_exp((size > 711.0).where(711.0, size))
    return half + 0.25 / half


def asinh(x: Term) -> Term:
    """Within 3 ulp: log1p(a + a² / (1 + sqrt(1 + a²))), log(a) + ln 2 where a² could overflow."""
    if x.element == F32:
        return in_double(asinh, x)
    size = x.abs()
    big = size > 2.0**28
    a = big.where(1.0, size)
    square = a * a
    near = log1p(a + square / ((square + 1.0).sqrt() + 1.0))
    return with_sign_of(big.where(log(size) + coefficients("ln2", x)[0], near), x)


def acosh(x: Term) -> Term:
    """Within 3 ulp: log1p(t + sqrt(2t + t²)) with t = x - 1; NaN below 1."""
    if x.element == F32:
        return in_double(acosh, x)
    big = x > 2.0**28
    t = big.where(1.0, x) - 1.0
    near = log1p(t + (t * 2.0 + t * t).sqrt())
    value = big.where(log(x) + coefficients("ln2", x)[0], near)
    return (x < 1.0).where(math.nan, value)


def atanh(x: Term) -> Term:
    """Within 3 ulp: log1p(2a / (1 - a)) / 2; infinite at 1, NaN beyond."""
    if x.element == F32:
        return in_double(atanh, x)
    size = x.abs()
    value = log1p(size * 2.0 / (1.0 - size)) * 0.5
    return with_sign_of((size > 1.0).where(math.nan, value), x)
