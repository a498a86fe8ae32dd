"""The elementary functions in terms of arithmetic rows: what a target without a library call
computes.

One idea: each function is a formula over `Expr`, vectorised by whoever lowers it, with a documented
bound on its error.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .expr import Expr


def exact_fma(x: float, y: float, z: float) -> float:
    """x*y + z rounded once, in exact rational arithmetic where all three are finite."""
    import math

    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def multiply_high(x: Expr, y: Expr) -> Any:
    raise NotImplementedError


exp = exp2 = log = log2 = sin = cos = erf = tanh = multiply_high
