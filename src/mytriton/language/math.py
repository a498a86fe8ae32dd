"""`tl.math`: the element-wise functions.

A public row of the op table is a function: `FUNCTIONS` is made from the table, so a new row needs
no line here, and `tl.<name>`, `tl.math.<name>`, `x.<name>()` and their documentation exist. The
others choose and combine: operands promote and broadcast as those of the operators.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import CompileTypeError
from ..ir.ops import TABLE, Row, kind_names
from ..ir.types import element_of
from . import semantics
from .arguments import ConstBool, TensorLike
from .constexpr import HIDDEN, builtin, constexpr, unwrap
from .portable import check_elements
from .promotion import emit, operand, promote
from .tensor import given, tensor

ElementFunction: TypeAlias = Callable[..., tensor]
"""A function of tensors or numbers, element by element."""


def function_of(row: Row) -> ElementFunction:
    """The language function of an element-wise row: operands promote and broadcast."""
    element = row.element
    assert element is not None
    names = element.signature[: element.arity]

    def function(*args: Any, **kwargs: Any) -> tensor:
        named = {**dict(zip(names, args)), **{k: v for k, v in kwargs.items() if k not in HIDDEN}}
        if named.keys() != set(names) or len(args) > len(names):
            raise CompileTypeError(f"{row.name} takes ({', '.join(names)}), got {sorted(named)}")
        operands = promote(*(given(named[name]) for name in names), symbol=row.name)
        check_elements(row.name, operands)
        return tensor(emit(row.name, *operands))

    function.__name__ = function.__qualname__ = row.name
    function.__doc__ = f"{row.doc} Of {kind_names(element.kinds)}, element by element."
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return function


FUNCTIONS: dict[str, ElementFunction] = {
    row.name: function_of(row) for row in TABLE.values() if row.element and row.element.public
}
"""The public element-wise functions by name."""

abs, ceil, cos, erf = (FUNCTIONS[name] for name in ("abs", "ceil", "cos", "erf"))
exp, exp2, floor, fma = (FUNCTIONS[name] for name in ("exp", "exp2", "floor", "fma"))
log, log2, rsqrt, sin = (FUNCTIONS[name] for name in ("log", "log2", "rsqrt", "sin"))
sqrt, umulhi = (FUNCTIONS[name] for name in ("sqrt", "umulhi"))

__all__ = [
    "PropagateNan",
    "abs",
    "add",
    "ceil",
    "clamp",
    "cos",
    "div_rn",
    "erf",
    "exp",
    "exp2",
    "fdiv",
    "floor",
    "fma",
    "log",
    "log2",
    "maximum",
    "minimum",
    "mul",
    "rsqrt",
    "sin",
    "sqrt",
    "sqrt_rn",
    "sub",
    "umulhi",
    "where",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> ElementFunction:
        """The function of a public row that is not named above."""
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def sqrt_rn(x: TensorLike, _semantic: Any = None) -> tensor:
    """The square root, correctly rounded."""
    check_elements("sqrt_rn", (operand(given(x)),))
    return sqrt(x)


# -- choosing


class PropagateNan(enum.Enum):
    """What minimum, maximum and clamp do with a NaN operand."""

    NONE = 0
    """The result is the other operand."""
    ALL = 0xFFFF
    """The result is NaN."""


NanRule: TypeAlias = PropagateNan | constexpr


@builtin
def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> tensor:
    """x where the condition is true, else y; all three broadcast, x and y promote.

    Both sides are computed; a load guarded by where still happens (give the load a mask). Raises
    CompileTypeError for a pointer and a number.
    """
    return tensor(semantics.select(given(condition), given(x), given(y)))


def _extreme(name: str, x: TensorLike, y: TensorLike, propagate_nan: NanRule) -> tensor:
    rule = unwrap(propagate_nan)
    if not isinstance(rule, PropagateNan):
        raise CompileTypeError(f"propagate_nan must be a tl.PropagateNan, got {rule!r}")
    suffix = "_nan" if rule is PropagateNan.ALL else ""
    return tensor(semantics.binary(name + suffix, name, given(x), given(y)))


@builtin
def minimum(x: TensorLike, y: TensorLike, propagate_nan: NanRule = PropagateNan.NONE) -> tensor:
    """The smaller of x and y, element by element; -0.0 < 0.0. Of a number and NaN the number, or
    NaN with propagate_nan=tl.PropagateNan.ALL."""
    return _extreme("minimum", x, y, propagate_nan)


@builtin
def maximum(x: TensorLike, y: TensorLike, propagate_nan: NanRule = PropagateNan.NONE) -> tensor:
    """The larger of x and y, element by element; -0.0 < 0.0. Of a number and NaN the number, or
    NaN with propagate_nan=tl.PropagateNan.ALL."""
    return _extreme("maximum", x, y, propagate_nan)


@builtin
def clamp(
    x: TensorLike,
    min: TensorLike,
    max: TensorLike,
    propagate_nan: NanRule = PropagateNan.NONE,
) -> tensor:
    """x moved into [min, max]. x NaN gives min, or NaN with propagate_nan=tl.PropagateNan.ALL."""
    operands = promote(given(min), given(x), given(max), symbol="clamp")
    low, value, high = map(tensor, operands)
    return minimum(maximum(value, low, propagate_nan), high, propagate_nan)


# -- operators as functions


@builtin
def add(x: TensorLike, y: TensorLike, sanitize_overflow: ConstBool = True) -> tensor:
    """x + y. Ints wrap whatever sanitize_overflow says."""
    return tensor(semantics.add(given(x), given(y)))


@builtin
def sub(x: TensorLike, y: TensorLike, sanitize_overflow: ConstBool = True) -> tensor:
    """x - y. Ints wrap whatever sanitize_overflow says."""
    return tensor(semantics.subtract(given(x), given(y)))


@builtin
def mul(x: TensorLike, y: TensorLike, sanitize_overflow: ConstBool = True) -> tensor:
    """x * y. Ints wrap whatever sanitize_overflow says."""
    return tensor(semantics.binary("mul", "*", given(x), given(y)))


@builtin
def fdiv(
    x: TensorLike, y: TensorLike, ieee_rounding: ConstBool = False, approx: ConstBool = False
) -> tensor:
    """x / y of floats; always correctly rounded here. Raises CompileTypeError for ints."""
    left, right = promote(given(x), given(y), symbol="fdiv", division=True)
    if element_of(left.ty).kind != "f":
        raise CompileTypeError(f"fdiv: floats are needed, got {left.ty}")
    return tensor(emit("div_rn", left, right))


@builtin
def div_rn(x: TensorLike, y: TensorLike) -> tensor:
    """x / y rounded to nearest even, of floats (numbers and ints are taken as f32)."""
    check_elements("div_rn", (operand(given(x)), operand(given(y))))
    return tensor(semantics.true_divide(given(x), given(y), "div_rn"))
