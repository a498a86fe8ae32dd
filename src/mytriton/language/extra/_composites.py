"""libdevice's real functions that are a formula over others.

One idea: what C's mathematics says in a sentence is a line here; the elementary functions
themselves are rows of the op table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...elementary.bessel import first_kind, second_kind
from ...elementary.formats import in_double
from ...elementary.term import Term
from ...errors import CompileValueError
from ...ir.libdevice_rows import ROWS
from ...ir.ops import TABLE
from ...ir.types import I64, ScalarType
from ..constexpr import builtin, unwrap
from ..creation import cast
from ..math import FUNCTIONS, clamp, function_of, maximum, minimum, where
from ..tensor import TensorLike, tensor
from ._bits import applied, copysign, floats, together

LIBDEVICE = tuple(row[0] for row in ROWS)
_OTHERS = ("tanh", "rint", "trunc", "mod")
ROW_FUNCTIONS = FUNCTIONS | {name: function_of(TABLE[name]) for name in (*_OTHERS, *LIBDEVICE)}
"""The functions that are rows, by name."""
ROW_FUNCTIONS |= {"max": maximum, "min": minimum, "fmax": maximum, "fmin": minimum}

_FAST = ["cos", "exp10", "exp", "log10", "log2", "log", "pow", "sin", "tan", "tanh"]
FAST = {f"fast_{name}f": ROW_FUNCTIONS[name] for name in _FAST}
"""The approximate functions: here as accurate as the plain ones."""


@builtin
def _fast_divide(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """x / y."""
    x, y = together(floats(arg0, "fast_dividef"), arg1, name="fast_dividef")
    return x / y


FAST["fast_dividef"] = _fast_divide

_abs, _sqrt, _rint, _trunc = (ROW_FUNCTIONS[name] for name in ("abs", "sqrt", "rint", "trunc"))
INF = float("inf")


@builtin
def isinf(arg0: TensorLike) -> tensor:
    """Whether x is an infinity."""
    answer: tensor = _abs(floats(arg0, "isinf")) == INF
    return answer


@builtin
def isfinited(arg0: TensorLike) -> tensor:
    """Whether x is neither an infinity nor NaN."""
    return _abs(floats(arg0, "isfinited")) < INF


finitef = isfinited


@builtin
def round(arg0: TensorLike) -> tensor:
    """The nearest whole number, ties away from zero."""
    x = floats(arg0, "round")
    whole = _trunc(x)
    return where(_abs(x - whole) >= 0.5, whole + copysign(1.0, x), whole)


@builtin
def nearbyint(arg0: TensorLike) -> tensor:
    """The nearest whole number, ties to even."""
    return _rint(arg0)


@builtin
def llrint(arg0: TensorLike) -> tensor:
    """The nearest int64, ties to even."""
    return cast(_rint(arg0), I64)


@builtin
def llround(arg0: TensorLike) -> tensor:
    """The nearest int64, ties away from zero."""
    return cast(round(arg0), I64)


@builtin
def saturatef(arg0: TensorLike) -> tensor:
    """x moved into [0, 1]; NaN gives 0."""
    return clamp(floats(arg0, "saturatef"), 0.0, 1.0)


@builtin
def fdim(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """x - y where that is positive, else 0; NaN of NaN."""
    x, y = together(floats(arg0, "fdim"), arg1, name="fdim")
    return where(x <= y, 0.0, x - y)


@builtin
def fmod(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The remainder of x / y with the sign of x."""
    return ROW_FUNCTIONS["mod"](floats(arg0, "fmod"), arg1)


@builtin
def remainder(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """x less the whole multiple of y nearest to it, ties to even (IEEE 754)."""
    x, y = together(floats(arg0, "remainder"), arg1, name="remainder")
    size = _abs(y)
    # Modulo 2|y| keeps which of the two nearest multiples is even.
    row = x.dtype
    assert isinstance(row, ScalarType)
    rest = where(size <= row.max_finite / 2, fmod(_abs(x), size * 2), _abs(x))
    beyond = rest > size - rest
    less = rest - where(beyond, size, 0.0)
    less = less - where(beyond & (less >= size - less), size, 0.0)
    result = where(size == INF, x, copysign(1.0, x) * less)
    odd = (x != x) | (y != y) | (y == 0) | (_abs(x) == INF)
    return where(odd, (x - x) / (y - y), where(result == 0, copysign(0.0, x), result))


# -- norms


def _norm(values: list[tensor]) -> tensor:
    """The square root of the sum of squares, scaled so that no square overflows."""
    sizes = [_abs(value) for value in values]
    top = sizes[0]
    for size in sizes[1:]:
        top = maximum(top, size)
    scale = where((top > 0) & (top < INF), top, 1.0)
    total: tensor | float = 0.0
    for size in sizes:
        part = size / scale
        total = total + part * part
    infinite = top == INF
    return where(infinite, INF, scale * _sqrt(total))


@builtin
def norm3d(arg0: TensorLike, arg1: TensorLike, arg2: TensorLike) -> tensor:
    """The length of a vector of three."""
    return _norm(together(floats(arg0, "norm3d"), arg1, arg2, name="norm3d"))


@builtin
def norm4d(arg0: TensorLike, arg1: TensorLike, arg2: TensorLike, arg3: TensorLike) -> tensor:
    """The length of a vector of four."""
    return _norm(together(floats(arg0, "norm4d"), arg1, arg2, arg3, name="norm4d"))


@builtin
def rnorm3d(arg0: TensorLike, arg1: TensorLike, arg2: TensorLike) -> tensor:
    """1 / norm3d(x, y, z)."""
    return 1.0 / norm3d(arg0, arg1, arg2)


@builtin
def rnorm4d(arg0: TensorLike, arg1: TensorLike, arg2: TensorLike, arg3: TensorLike) -> tensor:
    """1 / norm4d(x, y, z, w)."""
    return 1.0 / norm4d(arg0, arg1, arg2, arg3)


# -- Bessel functions of any order; those of order 0 and 1 are rows of the op table


def _of_order(
    kind: Callable[[int], Callable[[Term], Term]], n: TensorLike, x: TensorLike, name: str
) -> tensor:
    order = unwrap(n)
    if not isinstance(order, int) or not 0 <= order <= 24:
        raise CompileValueError(f"{name}: the order must be a constant from 0 to 24, got {n!r}")
    return applied(partial(in_double, kind(order)), floats(x, name))


@builtin
def jn(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The Bessel function of the first kind, of a constant order 0 … 24 and x."""
    return _of_order(first_kind, arg0, arg1, "jn")


@builtin
def yn(arg0: TensorLike, arg1: TensorLike) -> tensor:
    """The Bessel function of the second kind, of a constant order 0 … 24 and x; NaN below 0."""
    return _of_order(second_kind, arg0, arg1, "yn")
