"""The exact value of every row that is allowed an error, by mpmath.

One idea: an entry gets finite mpf operands and returns an mpf; what is not real or not finite
(poles, outside the domain) raises or is skipped, being covered by the comparison of machines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp

EXACT: dict[str, Callable[..., Any]] = {
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "exp": mp.exp,
    "exp2": lambda x: mp.power(2, x),
    "log": mp.log,
    "log2": lambda x: mp.log(x, 2),
    "sin": mp.sin,
    "cos": mp.cos,
    "erf": mp.erf,
    "tanh": mp.tanh,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "atan2": mp.atan2,
    "sinpi": mp.sinpi,
    "cospi": mp.cospi,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "pow": mp.power,
    "exp10": lambda x: mp.power(10, x),
    "log10": mp.log10,
    "expm1": mp.expm1,
    "log1p": mp.log1p,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "rcbrt": lambda x: mp.sign(x) / mp.cbrt(abs(x)),
    "hypot": mp.hypot,
    "rhypot": lambda x, y: 1 / mp.hypot(x, y),
    "erfc": mp.erfc,
}
