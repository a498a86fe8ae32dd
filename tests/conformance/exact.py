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
}
