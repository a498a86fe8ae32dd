"""libdevice's Bessel functions of any order; those of order 0 and 1 are rows of the op table.

One idea: up to 25 the integral over a full period, which the midpoint rule computes to all digits
since its error is a Bessel function of an order past the number of points; beyond, the recurrence
from orders 0 and 1, which is stable while the order is below x (and for Y everywhere).

    J0(x) = mean over θ of cos(x sin θ)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import CompileValueError
from ...ir.types import F64
from ..constexpr import builtin, unwrap
from ..creation import cast
from ..math import where
from ..tensor import tensor
from ._bits import floats
from ._composites import ROW_FUNCTIONS

_abs, _cos, _sin = (ROW_FUNCTIONS[name] for name in ("abs", "cos", "sin"))
INF = float("inf")
POINTS = 64
ANGLES = [(k + 0.5) * math.pi / POINTS for k in range(POINTS)]


def in_double(function: Callable[[Any], Any], given: Any, name: str) -> tensor:
    """The function computed in float64, its result in the argument's type."""
    x = floats(given, name)
    return cast(function(cast(x, F64)), x.dtype)


def _mean(x: Any, term: Callable[..., Any], weights: Sequence[float]) -> Any:
    """The mean over the angles of weight · term(x sin θ); θ and π - θ share a sine."""
    total: Any = 0.0
    for k in range(POINTS // 2):
        weight = weights[k] + weights[POINTS - 1 - k]
        if abs(weight) > 1e-18:
            total = total + weight * term(x * math.sin(ANGLES[k]))
    return total / POINTS


def _near(x: Any, order: int) -> Any:
    """J of |x| ≤ 25."""
    weights = [math.cos(order * a) if order % 2 == 0 else math.sin(order * a) for a in ANGLES]
    return _mean(x, _cos if order % 2 == 0 else _sin, weights)


def _climb(x: Any, order: int, kind: str) -> Any:
    """Order n from orders 0 and 1 of J or Y."""
    zero, one = ROW_FUNCTIONS[f"{kind}0"](x), ROW_FUNCTIONS[f"{kind}1"](x)
    for k in range(1, order):
        zero, one = one, (2 * k) * one / x - zero
    return one if order else zero


def _order(n: Any, name: str) -> int:
    order = unwrap(n)
    if not isinstance(order, int) or not 0 <= order <= 24:
        raise CompileValueError(f"{name}: the order must be a constant from 0 to 24, got {n!r}")
    return order


@builtin
def jn(arg0: Any, arg1: Any) -> tensor:
    """The Bessel function of the first kind, of a constant order 0 … 24 and x."""
    order = _order(arg0, "jn")

    def compute(x: Any) -> Any:
        size = _abs(x)
        far = _climb(where(size > 25.0, size, 30.0), order, "j")
        far = where(size == INF, 0.0, where(x < 0, -far, far) if order % 2 else far)
        near = _near(where(size > 25.0, 0.0, x), order)
        return where(size > 25.0, far, where(x != x, x, near))

    return in_double(compute, arg1, "jn")


@builtin
def yn(arg0: Any, arg1: Any) -> tensor:
    """The Bessel function of the second kind, of a constant order 0 … 24 and x; NaN below 0."""
    order = _order(arg0, "yn")

    def compute(x: Any) -> Any:
        low = _climb(x, order, "y")
        return where(x == 0, -INF, where(x == INF, 0.0, low))

    return in_double(compute, arg1, "yn")
