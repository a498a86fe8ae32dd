"""The elementary functions in terms of arithmetic rows: what a target without a library computes.

One idea: each function is a formula over `Expr` (f32 or f64; smaller floats come as f32) without
branches, so that whoever lowers it can vectorise it, with a bound on its error in its docstring.
Its constants are derived by `tools/elementary`, which also measures the bounds.
"""

from .error_function import erf, erfc
from .exponential import exp, exp2, exp10, tanh
from .hyperbolic import acosh, asinh, atanh, cosh, expm1, sinh
from .integers import multiply_high
from .inverse import acos, asin, atan, atan2
from .logarithm import log, log1p, log2, log10
from .power import cbrt, hypot, pow, rcbrt, rhypot
from .trigonometric import cos, cospi, sin, sinpi, tan

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "cospi",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "multiply_high",
    "pow",
    "rcbrt",
    "rhypot",
    "sin",
    "sinh",
    "sinpi",
    "tan",
    "tanh",
]
