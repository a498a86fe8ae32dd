"""`tl.math`: the element-wise functions, made from the op table.

One idea: a public row is a function. Add a row and `tl.<name>`, `tl.math.<name>`, `x.<name>()` and
their documentation exist, with no line here.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from ..errors import CompileTypeError
from ..ir.build import emit
from ..ir.ops import TABLE, Row, kind_names
from . import semantics
from .blocks import clamp, div_rn, fdiv, maximum, minimum
from .constexpr import HIDDEN, unwrap
from .tensor import member, tensor


def function_of(row: Row) -> Callable[..., tensor]:
    """The language function of an element-wise row: operands promote and broadcast."""
    element = row.element
    assert element is not None
    names = element.signature[: element.arity]

    def function(*args: Any, **kwargs: Any) -> tensor:
        given = {**dict(zip(names, args)), **{k: v for k, v in kwargs.items() if k not in HIDDEN}}
        if given.keys() != set(names) or len(args) > len(names):
            raise CompileTypeError(f"{row.name} takes ({', '.join(names)}), got {sorted(given)}")
        operands = semantics.promote(*(unwrap(given[name]) for name in names), symbol=row.name)
        return tensor(emit(row.name, *operands))

    function.__name__ = function.__qualname__ = row.name
    function.__doc__ = f"{row.doc} Of {kind_names(element.kinds)}, element by element."
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return function


FUNCTIONS = {
    row.name: function_of(row) for row in TABLE.values() if row.element and row.element.public
}
"""The public element-wise functions by name."""

for _function in FUNCTIONS.values():
    member(_function)
globals().update(FUNCTIONS)


def sqrt_rn(x: Any, _semantic: Any = None) -> tensor:
    """The square root, correctly rounded."""
    return FUNCTIONS["sqrt"](x)


member(sqrt_rn)

__all__ = ["clamp", "div_rn", "fdiv", "maximum", "minimum", "sqrt_rn", *FUNCTIONS]
