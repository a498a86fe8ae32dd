"""x*y + z rounded once, in NumPy, which has no such operation.

One idea: round to odd. A sum with two spare bits, rounded so that its last bit is set whenever it
is inexact, may be rounded again without harm (Boldo and Melquiond). float32 has its spare bits in
float64; float64 gets them from error-free sums and products, and near the ends of the exponent
range, where these fail, from rational numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def fused_multiply_add(x: Array, y: Array, z: Array) -> Array:
    """x*y + z of arrays of one dtype; floats are rounded once, ints wrap."""
    if x.dtype.kind != "f":
        return np.asarray(x * y + z)
    if x.dtype == np.float32:
        product = x.astype(np.float64) * y.astype(np.float64)
        return odd_sum(product, z.astype(np.float64)).astype(np.float32)
    return _fused_double(*np.broadcast_arrays(x, y, z))


def _two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def odd_sum(x: Array, y: Array) -> Array:
    """x + y in float64, rounded to odd."""
    total, error = _two_sum(np.asarray(x), np.asarray(y))
    bits = np.asarray(total).view(np.int64)
    toward = np.where((error > 0) == (total > 0), 1, -1)
    inexact = np.isfinite(total) & np.isfinite(error) & (error != 0) & (bits & 1 == 0)
    return np.asarray(np.where(inexact, bits + toward, bits)).view(np.float64)


def _two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """The product and its error, by halves of 26 bits."""
    product = x * y
    (a, b), (c, d) = (_halves(value) for value in (x, y))
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(x: Array) -> tuple[Array, Array]:
    high = (x * 134217729.0) - (x * 134217729.0 - x)
    return high, x - high


def _fused_double(x: Array, y: Array, z: Array) -> Array:
    product, low = _two_product(x, y)
    inner, inner_error = _two_sum(z, low)
    outer, outer_error = _two_sum(product, inner)
    result = np.asarray(outer + odd_sum(inner_error, outer_error))
    hard = ~(_moderate(x) & _moderate(y) & _moderate(product) & (_moderate(z) | (z == 0)))
    if hard.any():
        exact = np.frompyfunc(exact_fma, 3, 1)(x[hard], y[hard], z[hard])
        result[hard] = exact.astype(np.float64)
    return result


def _moderate(x: Array) -> Array:
    return np.asarray((np.abs(x) > 2.0**-450) & (np.abs(x) < 2.0**450))


def exact_fma(x: float, y: float, z: float) -> float:
    """x*y + z rounded once, by rational numbers where all three are finite."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):  # x*y may overflow only in being rounded
        return z
    from fractions import Fraction

    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
