"""The element-wise rows that only `libdevice` makes public: the rest of C's mathematics.

A line a function. CUDA and hosted C++ have each under the row's own name; other targets compute the
formula of the same name in `mytriton.elementary`, which needs no library and vectorises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .elementwise import each, elementwise, formula, meaning, wide


def _half_turns(x: Any, ahead: int) -> Any:
    """sin(pi x + ahead * pi/2): x modulo 2 is exact, and so is its distance to a half."""
    inside = np.fmod(x, 2.0)
    quarter = np.rint(inside * 2.0)
    rest = np.pi * (inside - quarter / 2.0)
    turn = (np.nan_to_num(quarter).astype(np.int64) + ahead) % 4
    return np.where(turn % 2, np.cos(rest), np.sin(rest)) * np.where(turn >= 2, -1.0, 1.0)


def _sine(x: Any) -> Any:
    value = _half_turns(x, 0)
    return np.where(value == 0, np.copysign(0.0, x), value)


def _cosine(x: Any) -> Any:
    return _half_turns(x, 1) + 0.0


Meaning = Callable[..., Any]
ROWS: tuple[tuple[str, str, int, Meaning | None, float], ...] = (
    ("tan", "The tangent of x in radians.", 1, wide(np.tan), 3),
    ("asin", "The angle whose sine is x; NaN outside [-1, 1].", 1, wide(np.arcsin), 2),
    ("acos", "The angle in [0, π] whose cosine is x.", 1, wide(np.arccos), 2),
    ("atan", "The angle in [-π/2, π/2] whose tangent is x.", 1, wide(np.arctan), 2),
    ("atan2", "The angle of the point (y, x), in [-π, π].", 2, wide(np.arctan2), 2),
    ("sinpi", "sin(π x), exact at multiples of 1/2.", 1, wide(_sine), 2),
    ("cospi", "cos(π x), exact at multiples of 1/2.", 1, wide(_cosine), 2),
    ("sinh", "The hyperbolic sine.", 1, wide(np.sinh), 2),
    ("cosh", "The hyperbolic cosine.", 1, wide(np.cosh), 2),
    ("asinh", "The inverse of sinh.", 1, wide(np.arcsinh), 3),
    ("acosh", "The inverse of cosh, at least 0; NaN below 1.", 1, wide(np.arccosh), 3),
    ("atanh", "The inverse of tanh; infinite at ±1.", 1, wide(np.arctanh), 3),
    ("pow", "x to the power y, as C's pow.", 2, wide(np.power), 2),
    ("exp10", "10 to the power x.", 1, wide(lambda x: np.power(10.0, x)), 2),
    ("log10", "The logarithm to base 10; -inf of 0.", 1, wide(np.log10), 2),
    ("expm1", "exp(x) - 1, accurate near 0.", 1, wide(np.expm1), 2),
    ("log1p", "log(1 + x), accurate near 0.", 1, wide(np.log1p), 2),
    ("cbrt", "The cube root.", 1, wide(np.cbrt), 2),
    ("rcbrt", "1 / cbrt(x).", 1, wide(lambda x: 1.0 / np.cbrt(x)), 2),
    ("hypot", "sqrt(x² + y²) without overflow on the way.", 2, wide(np.hypot), 2),
    ("rhypot", "1 / hypot(x, y).", 2, wide(lambda x, y: 1.0 / np.hypot(x, y)), 2),
    ("erfc", "1 - erf(x), accurate where that is small.", 1, each(math.erfc), 5),
    ("erfcx", "exp(x²) erfc(x).", 1, None, 5),
    ("erfinv", "The number whose erf is x, of x in [-1, 1].", 1, None, 6),
    ("erfcinv", "The number whose erfc is x, of x in [0, 2].", 1, None, 6),
    ("normcdf", "The chance that a standard normal number is at most x.", 1, None, 5),
    ("normcdfinv", "The number whose normcdf is x, of x in [0, 1].", 1, None, 6),
    ("tgamma", "The gamma function; NaN at negative whole numbers.", 1, None, 6),
    ("lgamma", "log |gamma(x)|; inf at 0 and negative whole numbers.", 1, None, 6),
    ("j0", "The Bessel function of the first kind, order 0.", 1, None, 4),
    ("j1", "The Bessel function of the first kind, order 1.", 1, None, 4),
    ("y0", "The Bessel function of the second kind, order 0; NaN below 0.", 1, None, 4),
    ("y1", "The Bessel function of the second kind, order 1; NaN below 0.", 1, None, 4),
    ("cyl_bessel_i0", "The modified Bessel function, order 0.", 1, None, 6),
    ("cyl_bessel_i1", "The modified Bessel function, order 1.", 1, None, 6),
)
"""name, documentation, arity, meaning (None: that of the formula in f64), ulp."""

ABSOLUTE = {"lgamma": 1e-13, "j0": 4e-15, "j1": 4e-15, "y0": 1e-14, "y1": 1e-14}
"""The rows with zeros that are no floats, and their error there."""

for _name, _doc, _arity, _numpy, _ulp in ROWS:
    elementwise(
        _name,
        _doc,
        _arity,
        "f",
        numpy=_numpy or meaning(_name),
        c=f"{_name}{{f}}({', '.join(f'{{{i}}}' for i in range(_arity))})",
        expand=formula(_name),
        ulp=_ulp,
        absolute=ABSOLUTE.get(_name, 0.0),
        cost=40,
    )

MODES = {"rd": "down", "ru": "up", "rz": "toward zero"}
"""The directions of rounding, as CUDA abbreviates them."""

_WORDS = {"add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / y", "fma": "x * y + z"}
_WORDS |= {"sqrt": "The square root", "rcp": "1 / x"}
_ARITY = {"fma": 3, "sqrt": 1, "rcp": 1}
for _name, _doc in _WORDS.items():
    for _mode, _word in MODES.items():
        _count = _ARITY.get(_name, 2)
        _operands = ", ".join(f"{{{i}}}" for i in range(_count))
        _single, _double = ("fmaf", "fma") if _name == "fma" else (f"f{_name}", f"d{_name}")
        elementwise(
            f"{_name}_{_mode}",
            f"{_doc}, rounded {_word}.",
            _count,
            "f",
            numpy=meaning(f"{_name}_{_mode}", wide=False),
            c={
                "f64": f"__{_double}_{_mode}({_operands})",
                "*": f"__{_single}_{_mode}({_operands})",
            },
            expand=formula(f"{_name}_{_mode}"),
            cost=12,
        )
