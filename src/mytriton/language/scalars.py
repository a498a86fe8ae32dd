"""Typed scalars: what an assignment makes of a number in a kernel.

A number in a kernel is weak or typed.

- *Weak* is a Python number: a literal, a constexpr parameter, a name annotated `: tl.constexpr`,
  the counter of a `tl.static_range`, and what is computed from these alone. It takes the type of
  the tensor it meets and never widens it (`semantics.promote`), and its `//` and `%` are Python's.
- *Typed* is a scalar tensor whose operand is a constant. Assigning a number to a name makes it one
  (`assigned`); the type is the number's own (`semantics.number_type`). It promotes as any tensor,
  and its `//` and `%` are C's.

    x * 0.5                      f16 block × weak number   → f16
    scale = 0.5;  x * scale      f16 block × f32 scalar    → f32

A typed scalar keeps its value without a second representation: arithmetic on constants folds to a
constant when it is emitted (`ir/fold.py`), so `Builder.known` finds the value wherever the kernel
needs a Python number: an extent, a range, an index, a condition, a format, `math.sqrt(k)`. No
operator, branch or loop has a rule of its own for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..ir.build import current
from .constexpr import constexpr, unwrap
from .promotion import operand
from .tensor import tensor

__all__ = ["constexpr_function"]

P = ParamSpec("P")
R = TypeVar("R")

_NUMBERS = (bool, int, float)


def assigned(value: Any, alias: bool = False) -> Any:
    """The value that a name is bound to: numbers become typed scalars, in tuples and lists too.

    A new container is made only where an item changes. alias: the expression only names the value
    (`b = a`, `b = a.items`), so a list stays the very list it is. Subclasses of int and float (an
    IntEnum), and ints of more than 64 bits, stay Python's.
    """
    while isinstance(value, constexpr):
        value = value.value
    kind = type(value)
    if kind in _NUMBERS or isinstance(value, np.generic):
        return _scalar(value)
    if kind is list and not alias:
        return _items(value, list)
    if isinstance(value, tuple):
        return _items(value, rebuild(value))
    return value


def _scalar(value: Any) -> Any:
    number = value.item() if isinstance(value, np.generic) else value
    if type(number) not in _NUMBERS:
        return value
    if type(number) is int and not -(1 << 63) <= number < 1 << 64:
        return number
    return tensor(operand(number))


def _items(value: Any, build: Any) -> Any:
    items = [assigned(item, alias=True) for item in value]
    return value if all(a is b for a, b in zip(items, value)) else build(items)


def rebuild(value: tuple[Any, ...]) -> Callable[[list[Any]], Any]:
    """What makes a tuple of the same kind of other items: a named one keeps its names."""
    kind = type(value)
    build: Callable[[list[Any]], Any] = getattr(value, "rebuilt", getattr(kind, "_make", kind))
    return build


def python_value(value: Any) -> Any:
    """A scalar whose value is known as a Python number, also inside tuples and lists; all else as
    it is."""
    value = unwrap(value)
    if isinstance(value, tensor):
        known = current().known(value.handle)
        return value if known is None else known
    if type(value) in (tuple, list):
        return type(value)(map(python_value, value))
    return value


def constexpr_function(function: Callable[P, R]) -> Callable[P, R]:
    """A Python function that kernels call while they are compiled: plain values in, plain out; a
    typed scalar arrives as its number."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        positional: Any = map(python_value, args)
        named: Any = {key: python_value(value) for key, value in kwargs.items()}
        result: R = unwrap(function(*positional, **named))
        return result

    return call
