"""Constexpr arguments: which values may be one, and the key a compilation is kept by.

Python's `==` takes 1, True and 1.0 for equal, and 0.0 and -0.0, though a kernel compiled for one is
not the kernel for another. `exact` gives for each value a stand-in that is equal only where the
type and the value, to the bit, are; of containers and dataclasses it looks at the parts.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import struct
from typing import Any

import numpy as np

from ..errors import CompileTypeError
from ..language.constexpr import constexpr, unwrap


def exact(value: Any) -> Any:
    """A hashable stand-in for a value, equal only for values that mean the same code.

    Objects without parts of their own (functions, dtypes, enum members, …) are compared by their
    type and their own `==`; those that Python compares by identity also by their attributes, so
    that a change of one is another value. Raises TypeError for what cannot be hashed.
    """
    kind = type(value)
    if kind is int or kind is bool or kind is str or value is None:
        return kind, value
    if kind is float:
        return kind, struct.pack("<d", value)
    if isinstance(value, constexpr):
        return exact(value.value)
    if isinstance(value, (tuple, list)):
        return kind, tuple(map(exact, value))
    if isinstance(value, (set, frozenset)):
        return kind, frozenset(map(exact, value))
    if isinstance(value, complex):
        return kind, struct.pack("<dd", value.real, value.imag)
    if isinstance(value, np.generic):
        plain = value.item()
        return (kind, repr(value)) if isinstance(plain, np.generic) else exact(plain)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value))
        return kind, tuple((name, exact(getattr(value, name))) for name in fields)
    hash(value)
    by_identity = getattr(kind, "__hash__", None) is object.__hash__
    if by_identity and not callable(value) and hasattr(value, "__dict__"):
        return kind, value, tuple((name, _attribute(part)) for name, part in vars(value).items())
    return kind, value


_PLAIN = (bool, int, float, complex, str, bytes, type(None), enum.Enum)


def _attribute(value: Any) -> Any:
    """An attribute of an object that is compared by identity: plain values count by value, all else
    by identity."""
    plain = isinstance(value, _PLAIN) or (
        isinstance(value, (tuple, list)) and all(isinstance(part, _PLAIN) for part in value)
    )
    return exact(value) if plain else _Same(value)


class _Same:
    """Equal to what holds the same object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def constexpr_key(name: str, value: Any) -> Any:
    """`exact`, for the parameter of that name.

    Raises CompileTypeError naming the parameter for a value that cannot be a constexpr.
    """
    try:
        return exact(value)
    except TypeError:
        raise CompileTypeError(
            f"{name}: constexpr value must be a bool, int, float, str, dtype, None, a jit function,"
            " an enum member, a dataclass or any other hashable object, or a tuple or list of"
            f" these, got {value!r} of type {type(value).__name__}"
        ) from None


def constexpr_value(value: Any) -> Any:
    """The value that the kernel sees. A list is copied, so that the kernel's stays as it was."""
    value = unwrap(value)
    if isinstance(value, np.generic):
        return value.item()
    return copy.deepcopy(value) if isinstance(value, (list, set)) else value
