"""libdevice's Bessel functions.

One idea: up to 25 (60 for I) the integral over a full period, which the midpoint rule computes to
all digits since its error is a Bessel function of an order past the number of points; beyond, the
asymptotic series, whose terms are then below 1e-16 before they grow.

    J0(x) = mean over θ of cos(x sin θ);    Y0: the same points, other weights
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import CompileValueError
from ..blocks import where
from ..constexpr import unwrap
from ..tensor import tensor
from ._real import PLAIN
from ._special import in_double

_abs, _exp, _log, _sqrt, _cos, _sin = (
    PLAIN[name] for name in ("abs", "exp", "log", "sqrt", "cos", "sin")
)
INF, NAN = float("inf"), float("nan")
POINTS = 64
TERMS = 32
"""Of Neumann's series: J of order 2 · TERMS is below 1e-16, and POINTS tell the orders apart."""
ANGLES = [(k + 0.5) * math.pi / POINTS for k in range(POINTS)]
EULER = 0.57721566490153286061


def _mean(x: Any, term: Callable[..., Any], weights: Sequence[float]) -> Any:
    """The mean over the angles of weight · term(x sin θ); θ and π - θ share a sine."""
    total: Any = 0.0
    for k in range(POINTS // 2):
        weight = weights[k] + weights[POINTS - 1 - k]
        if abs(weight) > 1e-18:
            total = total + weight * term(x * math.sin(ANGLES[k]))
    return total / POINTS


def _series(order: int) -> list[float]:
    """The coefficients of the asymptotic series in 1/x."""
    mu, values = 4 * order * order, [1.0]
    for k in range(1, 18):
        values.append(values[-1] * (mu - (2 * k - 1) ** 2) / (8 * k))
    return values


def _far(x: Any, order: int, second: bool) -> Any:
    """J or Y (second) of large x."""
    p, q = (_alternating(x, _series(order)[start::2]) for start in (0, 1))
    q = q / x
    angle = order * math.pi / 2 + math.pi / 4
    cosine, sine = math.cos(angle), math.sin(angle)
    c = _cos(x) * cosine + _sin(x) * sine
    s = _sin(x) * cosine - _cos(x) * sine
    wave = p * s + q * c if second else p * c - q * s
    return _sqrt(2.0 / (math.pi * x)) * wave


def _alternating(x: Any, coefficients: Sequence[float]) -> Any:
    inverse = -1.0 / (x * x)
    total: Any = 0.0
    for coefficient in reversed(coefficients):
        total = total * inverse + coefficient
    return total


def _near(x: Any, order: int) -> Any:
    """J of |x| ≤ 25."""
    weights = [math.cos(order * a) if order % 2 == 0 else math.sin(order * a) for a in ANGLES]
    return _mean(x, _cos if order % 2 == 0 else _sin, weights)


def _first(x: Any, order: int) -> Any:
    size = _abs(x)
    near = _near(where(size > 25.0, 0.0, x), order)
    far = _far(where(size > 25.0, size, 30.0), order, False)
    far = where(size == INF, 0.0, where(x < 0, -far, far) if order % 2 else far)
    return where(size > 25.0, far, where(x != x, x, near))


def _second(x: Any, order: int) -> Any:
    """Y0 and Y1 by Neumann's series of J, folded into the weights of the points."""
    near_x = where((x > 0) & (x <= 25.0), x, 1.0)
    if order == 0:
        sums = [sum((-1) ** k * math.cos(2 * k * a) / k for k in range(1, TERMS)) for a in ANGLES]
        rest = _mean(near_x, _cos, sums)
        near = (2 * (_log(near_x * 0.5) + EULER) * _near(near_x, 0) - 4 * rest) / math.pi
    else:
        ratio = [(-1) ** k * (2 * k + 1) / (k * (k + 1)) for k in range(1, TERMS)]
        sums = [sum(r * math.sin((2 * k + 3) * a) for k, r in enumerate(ratio)) for a in ANGLES]
        rest = _mean(near_x, _sin, sums)
        log = _log(near_x * 0.5) + (EULER - 1.0)
        first = _near(near_x, 0) / near_x
        near = 2 * (log * _near(near_x, 1) - rest - first) / math.pi
    far = _far(where(x > 25.0, where(x == INF, 30.0, x), 30.0), order, True)
    value = where(x > 25.0, where(x == INF, 0.0, far), near)
    return where(x == 0, -INF, where((x < 0) | (x != x), NAN, value))


def _modified(x: Any, order: int) -> Any:
    size = _abs(x)
    near_x = where(size > 60.0, 0.0, size)
    total: Any = 0.0
    for angle in ANGLES:
        total = total + math.cos(order * angle) * _exp(near_x * (math.cos(angle) - 1.0))
    far_x = where(size > 60.0, where(size == INF, 100.0, size), 100.0)
    series: Any = 0.0
    for k, coefficient in reversed(list(enumerate(_series(order)[:13]))):
        series = series / far_x + (-1) ** k * coefficient
    half = _exp(0.5 * far_x)
    far = half * (series / _sqrt(2.0 * math.pi * far_x)) * half
    near = _exp(near_x) * total / POINTS
    value = where(size > 60.0, where(size == INF, INF, far), near)
    signed = where(x < 0, -value, value) if order % 2 else value
    return where(x != x, x, signed)


def _public(name: str, doc: str, function: Callable[[Any, int], Any], order: int) -> Any:
    def call(x: Any) -> Any:
        return function(x, order)

    call.__name__, call.__doc__ = name, doc
    return in_double(call)


j0 = _public("j0", "The Bessel function of the first kind, order 0.", _first, 0)
j1 = _public("j1", "The Bessel function of the first kind, order 1.", _first, 1)
y0 = _public("y0", "The Bessel function of the second kind, order 0; NaN below 0.", _second, 0)
y1 = _public("y1", "The Bessel function of the second kind, order 1; NaN below 0.", _second, 1)
cyl_bessel_i0 = _public("cyl_bessel_i0", "The modified Bessel function, order 0.", _modified, 0)
cyl_bessel_i1 = _public("cyl_bessel_i1", "The modified Bessel function, order 1.", _modified, 1)


def _order(n: Any, name: str) -> int:
    order = unwrap(n)
    if not isinstance(order, int) or not 0 <= order <= 24:
        raise CompileValueError(f"{name}: the order must be a constant from 0 to 24, got {n!r}")
    return order


def _climb(x: Any, order: int, zero: Any, one: Any) -> Any:
    """Order n from orders 0 and 1 by the recurrence, stable where n < x and for Y everywhere."""
    for k in range(1, order):
        zero, one = one, (2 * k) * one / x - zero
    return one if order else zero


def jn(arg0: Any, arg1: Any, _semantic: Any = None) -> tensor:
    """The Bessel function of the first kind, of a constant order 0 … 24 and x."""
    order = _order(arg0, "jn")

    def compute(x: Any) -> Any:
        size = _abs(x)
        large = where(size > 25.0, where(size == INF, 30.0, size), 30.0)
        far = _climb(large, order, _far(large, 0, False), _far(large, 1, False))
        far = where(size == INF, 0.0, where(x < 0, -far, far) if order % 2 else far)
        near = _near(where(size > 25.0, 0.0, x), order)
        return where(size > 25.0, far, where(x != x, x, near))

    return in_double(compute)(arg1)


def yn(arg0: Any, arg1: Any, _semantic: Any = None) -> tensor:
    """The Bessel function of the second kind, of a constant order 0 … 24 and x; NaN below 0."""
    order = _order(arg0, "yn")

    def compute(x: Any) -> Any:
        low = _climb(x, order, _second(x, 0), _second(x, 1))
        return where(x == 0, -INF, where(x == INF, 0.0, low))

    return in_double(compute)(arg1)
