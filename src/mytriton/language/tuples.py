"""`tl.tuple` and `tl.slice`, for code that names them.

Kernels here hold plain Python tuples and slices; these are those, under Triton's names.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from .constexpr import unwrap
from .dtypes import constexpr_type, tuple_type

__all__ = ["aggregate_replace", "slice", "tuple"]


class tuple(builtins.tuple):  # type: ignore[type-arg]
    """A tuple of tensors and constants: `tl.tuple([a, b])`. Items also by field name, given a
    `tuple_type` with fields."""

    def __new__(cls, args: Sequence[Any] = (), type: Any = None) -> Any:
        made: Any = super().__new__(cls, args)
        made._fields_of = builtins.tuple(getattr(type, "fields", ()) or ())
        return made

    def rebuilt(self, items: Sequence[Any]) -> Any:
        """A tuple of these items with the same field names."""
        made = tuple(items)
        made._fields_of = self._fields_of
        return made

    @property
    def values(self) -> builtins.list[Any]:
        return builtins.list(self)

    @property
    def type(self) -> tuple_type:
        """The types of the items."""
        types = [getattr(item, "type", None) or constexpr_type(item) for item in self]
        return tuple_type(types, self._fields_of or None)

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("_fields_of", ())
        if name in fields:
            return self[fields.index(name)]
        raise AttributeError(f"this tuple has no field {name!r}")

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(unwrap(index))


class slice:
    """The parts of a slice."""

    def __init__(self, start: Any, stop: Any = None, step: Any = None) -> None:
        self.start, self.stop, self.step = start, stop, step
        self.type = "slice_type"


def aggregate_replace(instance: Any, **changes: Any) -> Any:
    """A copy of an aggregate (a dataclass or named tuple) with some fields replaced."""
    if hasattr(instance, "_replace"):
        return instance._replace(**changes)
    made = object.__new__(builtins.type(instance))
    for name, value in {**vars(instance), **changes}.items():
        object.__setattr__(made, name, value)
    return made
