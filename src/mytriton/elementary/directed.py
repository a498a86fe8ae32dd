"""Arithmetic rounded down (rd), up (ru) or toward zero (rz): CUDA's `__fadd_rd` and kin.

Compute to nearest, find on which side of that the exact result lies, and step to the neighbour
where the direction asks for it: the rounded result is one of the two floats around the exact one,
and rounding to nearest gives one of the same two. f32 finds the side in f64, where its products are
exact and its quotients and roots cannot come so near to a float as to be taken for it. f64 finds it
by error-free transformations (`double_double`), on operands scaled so that no error underflows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..ir.types import F32, F64
from .double_double import two_product, two_sum
from .formats import format_of, is_negative, power_of_two
from .logarithm import split
from .neighbours import rounded
from .term import Term

Formula = Callable[..., Term]
Sided = tuple[Term, Term]
"""A result to nearest, and a number of the sign of (exact result - it)."""


def directed(name: str, mode: str) -> Formula:
    """The formula of an operation in a direction."""
    single, double = OPERATIONS[name]

    def formula(*x: Term) -> Term:
        if x[0].element == F64:
            nearest, side = double(*x)
        else:
            total, rest = single(*(operand.to(F64) for operand in x))
            nearest = total.to(F32)
            side = (total - nearest.to(F64)) + rest
            side = (side < 0.0).where(
                nearest.full(-1.0), (side > 0.0).where(nearest.full(1.0), 0.0)
            )
        result = rounded(mode, nearest, side)
        return _zero(x, result, name) if mode == "rd" and name in SUMS else result

    formula.__name__ = f"{name}_{mode}"
    return formula


def _zero(x: tuple[Term, ...], result: Term, name: str) -> Term:
    """Rounding down, a sum that is 0 is -0.0 unless both parts are 0.0."""
    left = x[0] * x[1] if name == "fma" else x[0]
    right = -x[-1] if name == "sub" else x[-1]
    minus = result.eq(0.0) & (is_negative(left) | is_negative(right))
    return minus.where(-result.abs(), result)


# -- f64


def _finite(x: Term) -> Term:
    return x.abs() < math.inf


def _sum(x: Term, y: Term) -> Sided:
    total, rest = two_sum(x, y)
    endless = total.abs().eq(math.inf) & _finite(x) & _finite(y)
    return total, endless.where(-total, rest)


def _product(x: Term, y: Term) -> Sided:
    nearest = x * y
    scale = (nearest.abs() < 2.0**-900).where(x.full(2.0**600), 1.0)
    high, low = two_product(x * scale, y * scale)
    error = (high - nearest * scale * scale) + low
    return nearest, (nearest.abs() < 2.0**-900).where(error, x.fma(y, -nearest))


def _quotient(x: Term, y: Term) -> Sided:
    nearest = x / y
    (e, f), (g, h) = split(x.abs()), split(y.abs())
    half = (e - g) * 0.5
    first = (half + format_of(x).magic) - format_of(x).magic
    magic = format_of(x).magic
    scaled = nearest.abs() * power_of_two(magic - first) * power_of_two(magic - (e - g - first))
    rest = (-scaled).fma(h + 1.0, f + 1.0)
    usual = x.ne(0.0) & y.ne(0.0) & _finite(x) & _finite(y)
    negative = is_negative(x) ^ is_negative(y)
    return nearest, usual.where(negative.where(-rest, rest), 0.0)


def _root(x: Term) -> Sided:
    root = x.sqrt()
    tiny = x < 2.0**-900
    scaled = root * tiny.where(x.full(2.0**300), 1.0)
    return root, (-scaled).fma(scaled, x * tiny.where(x.full(2.0**600), 1.0))


def _fused(x: Term, y: Term, z: Term) -> Sided:
    """Scaled so that the product's error is exact; what still vanishes leaves its sign."""
    nearest = x.fma(y, z)
    rough = (x * y).abs()
    one = x.full(1.0)
    up = (rough < 2.0**-900) & (z.abs() <= 2.0**-800)
    scale = up.where(2.0**900, (rough > 2.0**1000).where(2.0**-100, one))
    bigger = x.abs() > y.abs()
    large, small = bigger.where(x, y), bigger.where(y, x)
    down = scale < 1.0
    large, small = down.where(large * scale, large), down.where(small, small * scale)
    high, low = two_product(large, small)
    negative = is_negative(x) ^ is_negative(y)
    something = x.ne(0.0) & y.ne(0.0)
    high = (high.eq(0.0) & something).where(_least(negative, x), high)
    added = z * scale
    added = (added.eq(0.0) & z.ne(0.0)).where(_least(is_negative(z), z), added)
    inner, inner_rest = two_sum(added, low)
    outer, outer_rest = two_sum(high, inner)
    side = ((outer - nearest * scale) + outer_rest) + inner_rest
    over = nearest.abs().eq(math.inf) & _finite(x) & _finite(y) & _finite(z)
    side = over.where(-nearest, side)
    _, alone = _product(x, y)
    return nearest, z.eq(0.0).where(alone, side)


def _least(negative: Term, like: Term) -> Term:
    """The float nearest to 0 of a sign."""
    least = format_of(like).least
    return negative.where(like.full(-least), least)


OPERATIONS: dict[str, tuple[Callable[..., Sided], Callable[..., Sided]]] = {
    "add": (two_sum, _sum),
    "sub": (lambda x, y: two_sum(x, -y), lambda x, y: _sum(x, -y)),
    "mul": (lambda x, y: (x * y, x.full(0.0)), _product),
    "div": (lambda x, y: (x / y, x.full(0.0)), _quotient),
    "fma": (lambda x, y, z: two_sum(x * y, z), _fused),
    "sqrt": (lambda x: (x.sqrt(), x.full(0.0)), _root),
    "rcp": (lambda x: (1.0 / x, x.full(0.0)), lambda x: _quotient(x.full(1.0), x)),
}
"""Of each operation the nearest result and its side, of f32 operands held in f64, of f64 ones."""

SUMS = ("add", "sub", "fma")
