"""The elementary functions as formulas over the rows of the op table.

What a target without a mathematics library computes for exp, sin or gamma is written here, over
`Term`s of f32 or f64 (smaller floats come as f32), without branches, so that whoever lowers it can
vectorise it. Each formula states a bound on its error in its docstring, in ulp: units in the last
place of the result. `tools/elementary` derives the constants and measures the bounds.

Nothing here is imported before it is needed: `formula(name)` loads the module of that one function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..ir.numeric import Array
    from .term import Term

MODULES = {
    "bessel": "cyl_bessel_i0 cyl_bessel_i1 j0 j1 y0 y1",
    "error_function": "erf erfc erfcx normcdf",
    "exponential": "exp exp2 exp10 tanh",
    "gamma": "lgamma tgamma",
    "hyperbolic": "acosh asinh atanh cosh expm1 sinh",
    "integers": "umulhi",
    "inverse": "acos asin atan atan2",
    "inverse_error": "erfcinv erfinv normcdfinv",
    "logarithm": "log log1p log2 log10",
    "power": "cbrt hypot pow rcbrt rhypot",
    "trigonometric": "cos cospi sin sinpi tan",
}
"""The modules, and the rows of the op table whose formulas each holds under the row's name."""

HOME = {name: module for module, names in MODULES.items() for name in names.split()}


@cache
def formula(name: str) -> Callable[..., Term]:
    """The formula of a row of the op table, by its name. Raises KeyError where there is none.

    `add_rd` and its like, operations rounded in a direction, are made by `directed`.
    """
    if name in HOME:
        found: Callable[..., Term] = getattr(import_module(f".{HOME[name]}", __name__), name)
        return found
    operation, _, mode = name.partition("_")
    from .directed import directed

    return directed(operation, mode)


@cache
def meaning(name: str, wide: bool = True) -> Callable[..., Array]:
    """The NumPy meaning of a row that NumPy has no function for: of `fma` an algorithm, else the
    row's formula run on arrays (see `numpy_meaning.meaning`)."""
    if name == "fma":
        from .fma import fused_multiply_add

        return fused_multiply_add
    from . import numpy_meaning

    return numpy_meaning.meaning(formula(name), wide)
