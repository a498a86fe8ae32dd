"""Small functions for the host that kernels may use on known values too."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any, TypeVar

from ..ir.build import tracing
from ..language import library
from ..language.constexpr import unwrap
from ..language.scalars import constexpr_function as language_constexpr_function
from ..language.tensor import tensor

T = TypeVar("T")


def cdiv(x: Any, y: Any) -> Any:
    """x / y rounded up: how many blocks of y cover x. In a kernel it works on tensors as well."""
    if (isinstance(x, tensor) or isinstance(y, tensor)) and tracing():
        return library.cdiv(x, y)
    x, y = unwrap(x), unwrap(y)
    return (x + y - 1) // y


def next_power_of_2(n: Any) -> int:
    """The least power of two that is n or more; 1 for n < 1."""
    return 1 << max(0, operator.index(unwrap(n)) - 1).bit_length()


def constexpr_function(fn: Callable[..., T]) -> Callable[..., T]:
    """A Python function that kernels call while they are compiled: plain values in, plain out."""
    call: Any = language_constexpr_function(fn)
    call.__constexpr__ = True
    return call  # type: ignore[no-any-return]


def must_use_result(x: Any, s: bool = True) -> Any:
    """Marks a function whose result should be used; kept for Triton's sake, it checks nothing."""
    return x if callable(x) else lambda function: function


def aggregate(cls: type[T]) -> type[T]:
    """A class of kernel values: its annotated fields travel through calls and control flow.

    The class's own `__init__` is kept if it has one; else it gets one from the fields.
    """
    own = "__init__" in cls.__dict__
    return dataclasses.dataclass(init=not own, eq=False, repr=False)(cls)
