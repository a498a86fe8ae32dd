"""The elementary functions in terms of arithmetic rows: what a target without a library computes.

One idea: each function is a formula over `Expr` (f32 or f64; smaller floats come as f32) without
branches, so that whoever lowers it can vectorise it, with a bound on its error in its docstring.
Its constants are derived by `tools/elementary`, which also measures the bounds.
"""

from .bessel import cyl_bessel_i0, cyl_bessel_i1, j0, j1, y0, y1
from .error_function import erf, erfc, erfcx, normcdf
from .exponential import exp, exp2, exp10, tanh
from .gamma import lgamma, tgamma
from .hyperbolic import acosh, asinh, atanh, cosh, expm1, sinh
from .integers import multiply_high
from .inverse import acos, asin, atan, atan2
from .inverse_error import erfcinv, erfinv, normcdfinv
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
    "cyl_bessel_i0",
    "cyl_bessel_i1",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "hypot",
    "j0",
    "j1",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "multiply_high",
    "normcdf",
    "normcdfinv",
    "pow",
    "rcbrt",
    "rhypot",
    "sin",
    "sinh",
    "sinpi",
    "tan",
    "tanh",
    "tgamma",
    "y0",
    "y1",
]
