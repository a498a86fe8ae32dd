"""Sums and products with their rounding errors: arithmetic on unevaluated sums of two floats.

A float operation returns the exact result rounded, and for + and * the error of that rounding is
itself a float, which a few more operations find. The pair (rounded result, error) is a number of
about twice the precision, a "double-double".

    two_sum(1.0, 2**-60) == (1.0, 2**-60)      nothing of the small operand is lost

Sources: T. J. Dekker, "A floating-point technique for extending the available precision",
Numer. Math. 18 (1971); D. E. Knuth, The Art of Computer Programming, volume 2, section 4.2.2,
theorem B. Everything holds for rounding to nearest, as long as nothing overflows.
"""

from __future__ import annotations

from typing import TypeVar

from ..ir.numeric import Array
from .term import Term

Real = TypeVar("Real", Array, Term)


def two_sum(x: Real, y: Real) -> tuple[Real, Real]:
    """x + y as the rounded sum and its error, exactly: Knuth's six operations.

    `part` is what of y arrived in the sum; what y lost and what x lost are then exact differences.
    Unlike Dekker's shorter form it does not ask which operand is larger, so it needs no branch.
    """
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def two_product(x: Term, y: Term) -> tuple[Term, Term]:
    """x * y as the rounded product and its error: fma(x, y, -product) rounds nothing, since the
    error of a product is a float (barring underflow)."""
    product = x * y
    return product, x.fma(y, -product)


def split_product(x: Array, y: Array) -> tuple[Array, Array]:
    """`two_product` of float64 arrays without fma: Dekker's, from halves of 26 bits whose four
    products are exact."""
    product = x * y
    (a, b), (c, d) = _halves(x), _halves(y)
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(x: Array) -> tuple[Array, Array]:
    """The leading 26 bits of a float64 and the rest (Veltkamp): the factor is 2**27 + 1."""
    high = (x * 134217729.0) - (x * 134217729.0 - x)
    return high, x - high


def quotient(high: Term, low: Term, divisor: Term, divisor_low: Term) -> Term:
    """(high + low) / (divisor + divisor_low), within a little more than half an ulp.

    One Newton step: the remainder of the first quotient, found by fma, corrects it.
    """
    inverse = 1.0 / divisor
    first = high * inverse
    rest = (-first).fma(divisor, high) + (-first).fma(divisor_low, low)
    return rest.fma(inverse, first)
