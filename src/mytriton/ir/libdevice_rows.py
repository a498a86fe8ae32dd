"""The element-wise rows that only `libdevice` makes public: the rest of C's mathematics.

One idea: a line a function. CUDA and hosted C++ have each under the row's own name; for LLVM it is
an intrinsic, or a formula over other rows where LLVM has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .elementwise import elementwise, wide
from .expr import Expr


def expm1(x: Expr) -> Expr:
    """(u - 1) * x / log(u) with u = exp(x) rounded: the error of u cancels (W. Kahan)."""
    u = x.exp()
    less = u - 1.0
    corrected = less * (x / u.log())
    done = (u.eq(1.0)).where(x, corrected)
    return ((x > 80.0) | (less.eq(-1.0))).where(less, done)


def log1p(x: Expr) -> Expr:
    """log(u) * x / (u - 1) with u = 1 + x rounded: the error of u cancels (W. Kahan)."""
    u = x + 1.0
    whole = u.eq(1.0) | u.eq(float("inf"))
    corrected = u.log() * (x / (u - 1.0))
    return whole.where(x, corrected)


def cbrt(x: Expr) -> Expr:
    """2 to the third of the binary logarithm, then two Newton steps; the sign apart."""
    size = x.abs()
    plain = size.eq(0.0) | size.eq(float("inf")) | size.ne(size)
    scaled = (size < 1e-30).where(size * 2.0**90, size)
    root = (scaled.log2() * (1.0 / 3.0)).exp2()
    for _ in range(2):
        root = root - (root - scaled / (root * root)) * (1.0 / 3.0)
    root = (size < 1e-30).where(root * 2.0**-30, root)
    return plain.where(x, (x < 0.0).where(-root, root))


Row = tuple[str, str, int, Callable[..., Any], Callable[..., Any] | None, float]
ROWS: tuple[Row, ...] = (
    ("tan", "The tangent of x in radians.", 1, np.tan, None, 4),
    (
        "asin",
        "The angle in [-π/2, π/2] whose sine is x, else NaN.",
        1,
        np.arcsin,
        None,
        2,
    ),
    ("acos", "The angle in [0, π] whose cosine is x, else NaN.", 1, np.arccos, None, 2),
    ("atan", "The angle in [-π/2, π/2] whose tangent is x.", 1, np.arctan, None, 2),
    ("atan2", "The angle of the point (y, x), in [-π, π].", 2, np.arctan2, None, 3),
    ("sinh", "The hyperbolic sine.", 1, np.sinh, None, 3),
    ("cosh", "The hyperbolic cosine.", 1, np.cosh, None, 2),
    ("pow", "x to the power y, as C's pow.", 2, np.power, None, 4),
    ("exp10", "10 to the power x.", 1, lambda x: np.power(10.0, x), None, 2),
    ("log10", "The logarithm to base 10; -inf of 0, NaN below.", 1, np.log10, None, 2),
    ("expm1", "exp(x) - 1, accurate near 0.", 1, np.expm1, expm1, 8),
    ("log1p", "log(1 + x), accurate near 0.", 1, np.log1p, log1p, 8),
    ("cbrt", "The cube root.", 1, np.cbrt, cbrt, 4),
)
"""name, documentation, arity, meaning in float64, formula (None: LLVM's intrinsic), ulp."""

for _name, _doc, _arity, _numpy, _expand, _ulp in ROWS:
    elementwise(
        _name,
        _doc,
        _arity,
        "f",
        numpy=wide(_numpy),
        c=f"{_name}{{f}}({', '.join(f'{{{i}}}' for i in range(_arity))})",
        llvm={} if _expand else {"f": f"llvm.{_name}"},
        expand=_expand,
        ulp=_ulp,
        cost=40,
    )
