"""libdevice's special functions: the error functions' relatives and the gamma function.

One idea: rare functions are worth few lines, so each is computed in float64 by a method that is
short and good everywhere, and rounded once to the argument's type. Chebyshev coefficients of
log(erfc(x) · exp(x²) / t), t = 2 / (2 + x), were computed with 50 digits; gamma is Lanczos's series
(g = 7).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ...ir.types import F64
from ..blocks import cast, full, where
from ..constexpr import builtin
from ..tensor import tensor
from ._bits import floats
from ._real import PLAIN, isinf

_abs, _exp, _log, _sqrt, _fma = (PLAIN[name] for name in ("abs", "exp", "log", "sqrt", "fma"))
_floor, _pow, _erf, _erfc = (PLAIN[name] for name in ("floor", "pow", "erf", "erfc"))
_HALF_ROOT = math.sqrt(0.5)
INF, NAN, PI = float("inf"), float("nan"), math.pi


def in_double(function: Callable[..., Any]) -> Callable[..., tensor]:
    """The function computed in float64, its result in the argument's type."""

    @builtin
    @functools.wraps(function)
    def call(arg0: Any) -> tensor:
        x = floats(arg0, function.__name__)
        return cast(function(cast(x, F64)), x.dtype)

    return call


# fmt: off
_ERFC = (
    -1.3026537197817094342, 0.6419697923564902603, 0.019476473204185836312,
    -0.0095615147868086316419, -0.0009465953444820368663, 0.00036683949785276145187,
    4.2523324806907771645e-05, -2.0278578112534243154e-05, -1.6242900046470255135e-06,
    1.3036558355805232018e-06, 1.5626441722066143178e-08, -8.5238095914926542525e-08,
    6.5290544390988514964e-09, 5.0593434955514689418e-09, -9.9136415649303308674e-10,
    -2.2736512229318358557e-10, 9.646791102015526802e-11, 2.3940380830391147447e-12,
    -6.8860275264975533984e-12, 8.9448792730907257167e-13, 3.1309213993429580783e-13,
    -1.1270822361367252366e-13, 3.8109052551892320552e-16, 7.1060976136092369878e-15,
    -1.5230282014571043043e-15, -9.4574945712912340005e-17, 1.2102371892242789923e-16,
    -2.8166630877471769718e-17,
)
_LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
    1.5056327351493116e-7,
)
# fmt: on


def _scaled_erfc(a: Any) -> Any:
    """exp(a²) erfc(a) of a ≥ 0, by Clenshaw's recurrence."""
    t = 2.0 / (2.0 + a)
    y = 4.0 * t - 2.0
    before: Any = 0.0
    now: Any = y * 0.0
    for coefficient in reversed(_ERFC[1:]):
        before, now = now, y * now - before + coefficient
    return t * _exp(0.5 * (_ERFC[0] + y * now) - before)


def _gauss(a: Any) -> Any:
    """exp(-a²) with the rounding of the square put back."""
    square = a * a
    return _exp(-square) * (1.0 - _fma(a, a, -square))


@in_double
def erfcx(x: Any) -> Any:
    """exp(x²) erfc(x)."""
    a = where(_abs(x) > 1e150, 1e150, _abs(x))
    scaled = _scaled_erfc(a)
    return where(x != x, x, where(x < 0, 2.0 * _exp(x * x) - scaled, scaled))


@in_double
def normcdf(x: Any) -> Any:
    """The probability that a standard normal number is at most x."""
    a = x * -_HALF_ROOT
    # What the product's rounding and the constant's dropped, to first order.
    dropped = _fma(x, full((), -_HALF_ROOT, F64), -a) + x * 4.833646656726457e-17
    slope = where(_abs(a) < 27.0, dropped * _gauss(where(_abs(a) < 27.0, a, 0.0)), 0.0)
    return 0.5 * _erfc(a) - slope / math.sqrt(PI)


def _erfc_inverse_below(q: Any) -> Any:
    """y ≥ 0 with erfc(y) = q of q in (0, 1]: a rational guess, then Halley's steps."""
    t = _sqrt(-2.0 * _log(0.5 * q))
    guess = (2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)) - t
    y = -math.sqrt(0.5) * guess
    for _ in range(3):
        error = _erfc(y) - q
        y = y + error / (2.0 / math.sqrt(PI) * _gauss(y) - y * error)
    return y


def _erfcinv(p: Any) -> Any:
    q = where(p > 1.0, 2.0 - p, p)
    inside = (q > 0.0) & (q <= 1.0)
    y = where(inside, _erfc_inverse_below(where(inside, q, 1.0)), where(q == 0.0, INF, NAN))
    return where(p > 1.0, -y, y)


@in_double
def erfcinv(x: Any) -> Any:
    """The number whose erfc is x, of x in [0, 2]."""
    return _erfcinv(x)


@in_double
def normcdfinv(x: Any) -> Any:
    """The number whose normcdf is x, of x in [0, 1]."""
    return -math.sqrt(2.0) * _erfcinv(2.0 * x)


@in_double
def erfinv(x: Any) -> Any:
    """The number whose erf is x, of x in [-1, 1]."""
    a = _abs(x)
    small = where(a < 0.5, x, 0.0)
    y = small * (math.sqrt(PI) / 2.0)
    for _ in range(4):
        error = _erf(y) - small
        y = y - error / (2.0 / math.sqrt(PI) * _gauss(y) + y * error)
    tail = _erfcinv(1.0 - a)
    return where(a < 0.5, y, where(x < 0, -tail, tail))


# -- gamma


def _lanczos(x: Any) -> tuple[Any, Any]:
    """Γ(x) = √(2π) · t^(x - 1/2) · e^(-t) · series of x ≥ 1/2: t and √(2π) · series."""
    z = x - 1.0
    total: Any = _LANCZOS[0]
    for place, coefficient in enumerate(_LANCZOS[1:], 1):
        total = total + coefficient / (z + place)
    return z + 7.5, total * math.sqrt(2.0 * PI)


@in_double
def tgamma(x: Any) -> Any:
    """The gamma function; NaN at negative whole numbers."""
    mirrored = x < 0.5
    y = where(mirrored, 1.0 - x, x)
    t, series = _lanczos(y)
    half = _pow(t, 0.5 * (y - 0.5))
    upper = where(y > 171.7, INF, half * _exp(-t) * half * series)
    factorial: Any = 1.0
    exact = where(y == 1.0, 1.0, upper)
    for n in range(1, 22):
        factorial = factorial * n
        exact = where(y == n + 1.0, factorial, exact)
    lower = PI / (PLAIN["sinpi"](x) * exact)
    value = where(mirrored, lower, exact)
    pole = (x < 0) & ((x == _floor(x)) | isinf(x))
    return where(pole, NAN, where(x == 0, 1.0 / x, value))


@in_double
def lgamma(x: Any) -> Any:
    """log |Γ(x)|; infinite at 0 and negative whole numbers."""
    mirrored = x < 0.5
    y = where(mirrored, 1.0 - x, x)
    t, series = _lanczos(where(isinf(y), 1.0, y))
    upper = (y - 0.5) * _log(t) - t + _log(series)
    upper = where((y == 1.0) | (y == 2.0), 0.0, where(isinf(y), INF, upper))
    lower = math.log(PI) - _log(_abs(PLAIN["sinpi"](x))) - upper
    pole = (x <= 0) & (x == _floor(x))
    return where(pole | isinf(x), INF, where(mirrored, lower, upper))
