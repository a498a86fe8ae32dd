"""The elementary functions in terms of arithmetic rows: what a target without a library computes.

One idea: each function is a formula over `Expr` (f32 or f64; smaller floats come as f32) without
branches, so that whoever lowers it can vectorise it, with a bound on its error in its docstring.
Its constants are derived by `tools/elementary`, which also measures the bounds.
"""

from .error_function import erf
from .exponential import exp, exp2, tanh
from .integers import multiply_high
from .logarithm import log, log2
from .trigonometric import cos, sin

__all__ = ["cos", "erf", "exp", "exp2", "log", "log2", "multiply_high", "sin", "tanh"]
