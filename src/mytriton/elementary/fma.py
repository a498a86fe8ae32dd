"""x*y + z rounded once, in NumPy, which has no such operation.

Rounding twice (the product, then the sum) is wrong in the last bit now and then, and so is a sum in
a wider format rounded to the narrower one: the first rounding can land exactly on a tie of the
second. Round to odd avoids that (S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded
sums: proved algorithms using rounding to odd", IEEE Trans. Computers 57, 2008): where a result is
inexact, take the neighbour whose last bit is 1. With two spare bits it is then never a tie, and
keeps on which side of each tie the exact result lies, so rounding it again to nearest is right.

float32 has its spare bits in float64. float64 gets them from error-free sums and products
(`double_double`), and near the ends of the exponent range, where these fail, from rationals.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..ir.numeric import Array
from .double_double import split_product, two_sum


def fused_multiply_add(x: Array, y: Array, z: Array) -> Array:
    """x*y + z of arrays of one dtype; floats are rounded once, ints wrap."""
    if x.dtype.kind != "f":
        return np.asarray(x * y + z)
    if x.dtype == np.float32:
        product = x.astype(np.float64) * y.astype(np.float64)  # 48 bits: exact
        return odd_sum(product, z.astype(np.float64)).astype(np.float32)
    return _fused_double(*np.broadcast_arrays(x, y, z))


def odd_sum(x: Array, y: Array) -> Array:
    """x + y in float64, rounded to odd.

    The sum rounded to nearest and its error say on which side the exact sum lies; where the last
    bit is 0 and the error is not, the neighbour on that side has a last bit of 1. Next floats of
    one sign are next integers as bits.
    """
    total, error = two_sum(np.asarray(x), np.asarray(y))
    bits = np.asarray(total).view(np.int64)
    toward = np.where((error > 0) == (total > 0), 1, -1)
    inexact = np.isfinite(total) & np.isfinite(error) & (error != 0) & (bits & 1 == 0)
    return np.asarray(np.where(inexact, bits + toward, bits)).view(np.float64)


def _fused_double(x: Array, y: Array, z: Array) -> Array:
    """x*y + z as three floats without error; the two smaller are added to odd, then all rounded."""
    product, low = split_product(x, y)
    inner, inner_error = two_sum(z, low)
    outer, outer_error = two_sum(product, inner)
    result = np.asarray(outer + odd_sum(inner_error, outer_error))
    hard = ~(_moderate(x) & _moderate(y) & _moderate(product) & (_moderate(z) | (z == 0)))
    if hard.any():
        exact = np.frompyfunc(exact_fma, 3, 1)(x[hard], y[hard], z[hard])
        result[hard] = exact.astype(np.float64)
    return result


def _moderate(x: Array) -> Array:
    """Whether no product or error of such numbers overflows or underflows."""
    return np.asarray((np.abs(x) > 2.0**-450) & (np.abs(x) < 2.0**450))


def exact_fma(x: float, y: float, z: float) -> float:
    """x*y + z rounded once, by rational numbers where all three are finite."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):  # x*y may overflow only in being rounded
        return z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
