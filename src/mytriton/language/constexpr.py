"""`tl.constexpr`, and the decorators that make a Python function part of the language.

One idea: kernel code may hand any language function a constexpr where a plain value is meant, so
`builtin` unwraps every argument once, at the door; the functions behind it see plain Python values
and tensors only.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from ..errors import CompileTypeError, wrong_arguments

__all__ = ["builtin", "const", "constexpr", "unwrap"]

P = ParamSpec("P")
R = TypeVar("R")

HIDDEN = frozenset({"_semantic", "_builder", "_generator"})
"""Keywords that Triton's own library functions hand on; accepted and ignored."""


def unwrap(value: Any) -> Any:
    """The plain value inside constexprs, also inside tuples and lists."""
    while isinstance(value, constexpr):
        value = value.value
    if type(value) in (tuple, list):
        return type(value)(map(unwrap, value))
    return value


def _binary(function: Callable[[Any, Any], Any], reflected: bool = False) -> Callable[..., Any]:
    """The operator on constexprs; a tensor on the other side takes over."""

    def method(self: constexpr, other: Any) -> Any:
        if hasattr(other, "handle"):
            return function(other, self.value) if reflected else function(self.value, other)
        left, right = (unwrap(other), self.value) if reflected else (self.value, unwrap(other))
        return constexpr(function(left, right))

    return method


def _unary(function: Callable[[Any], Any]) -> Callable[[constexpr], constexpr]:
    return lambda self: constexpr(function(self.value))


class constexpr:
    """A value known when the kernel is compiled; as an annotation, a parameter that is one.

    value: any Python value. Operators on constexprs give constexprs; with a tensor, a tensor.
    `bool()`, `int()`, indexing, iterating and calling act on the value.
    """

    def __init__(self, value: Any) -> None:
        self.value = unwrap(value)

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self.value[unwrap(index)]

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        return iter(self.value)

    def logical_and(self, other: Any) -> constexpr:
        """`self and other`, both known."""
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: Any) -> constexpr:
        """`self or other`, both known."""
        return constexpr(self.value or unwrap(other))

    __add__, __radd__ = _binary(operator.add), _binary(operator.add, True)
    __sub__, __rsub__ = _binary(operator.sub), _binary(operator.sub, True)
    __mul__, __rmul__ = _binary(operator.mul), _binary(operator.mul, True)
    __truediv__, __rtruediv__ = _binary(operator.truediv), _binary(operator.truediv, True)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _binary(operator.floordiv, True)
    __mod__, __rmod__ = _binary(operator.mod), _binary(operator.mod, True)
    __pow__, __rpow__ = _binary(operator.pow), _binary(operator.pow, True)
    __lshift__, __rlshift__ = _binary(operator.lshift), _binary(operator.lshift, True)
    __rshift__, __rrshift__ = _binary(operator.rshift), _binary(operator.rshift, True)
    __and__, __rand__ = _binary(operator.and_), _binary(operator.and_, True)
    __or__, __ror__ = _binary(operator.or_), _binary(operator.or_, True)
    __xor__, __rxor__ = _binary(operator.xor), _binary(operator.xor, True)
    __lt__, __le__ = _binary(operator.lt), _binary(operator.le)
    __gt__, __ge__ = _binary(operator.gt), _binary(operator.ge)
    __eq__ = _binary(operator.eq)
    __ne__ = _binary(operator.ne)
    __neg__, __pos__ = _unary(operator.neg), _unary(operator.pos)
    __invert__, __abs__ = _unary(operator.invert), _unary(operator.abs)


class const:
    """As an annotation: a pointer that may not be stored through."""


def builtin(function: Callable[P, R]) -> Callable[P, R]:
    """A language function: constexpr arguments arrive as plain values."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        plain: Any = {key: unwrap(v) for key, v in kwargs.items() if key not in HIDDEN}
        positional: Any = map(unwrap, args)
        try:
            return function(*positional, **plain)
        except TypeError as error:
            raise _argument_error(function, args, plain) or error from None

    return call


def _argument_error(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]
) -> CompileTypeError | None:
    """The error of arguments that do not fit the function's parameters; None if they do."""
    form = inspect.signature(function)
    try:
        form.bind(*args, **named)
    except TypeError as error:
        return CompileTypeError(
            f"{function.__name__}: {wrong_arguments(error, form.parameters, named)}"
        )
    return None
