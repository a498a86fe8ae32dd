"""What public functions take, and how constant arguments are read.

The aliases are the annotations of the public functions. An argument may be a `tl.constexpr` or a
typed scalar wherever a Python number is meant: `constant_int` and the others read its value.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

from ..errors import CompileTypeError, CompileValueError
from ..ir.types import Element, VectorType
from . import hints
from .constexpr import constexpr, unwrap
from .portable import check_known
from .promotion import Number, known
from .tensor import TensorLike, tensor

ConstInt: TypeAlias = int | constexpr | tensor
"""An int known when the kernel is compiled."""
ConstBool: TypeAlias = bool | constexpr | tensor
"""A bool known when the kernel is compiled."""
ConstStr: TypeAlias = str | constexpr
"""A text known when the kernel is compiled."""
ShapeLike: TypeAlias = ConstInt | Sequence[ConstInt]
"""The extents of a block: a tuple, a list, or one int."""
Axes: TypeAlias = ConstInt | Sequence[ConstInt]
"""One axis or several."""
DTypeLike: TypeAlias = Element | VectorType | str | constexpr
"""An element type: `tl.float32`, `x.dtype`, or its name."""

__all__ = [
    "Axes",
    "ConstBool",
    "ConstInt",
    "ConstStr",
    "DTypeLike",
    "Number",
    "ShapeLike",
    "TensorLike",
    "axis_argument",
    "constant_int",
    "one_of",
    "shape_argument",
]


def constant_int(value: ConstInt, what: str) -> int:
    """An int known while the kernel is compiled. Raises CompileTypeError otherwise."""
    value = unwrap(value)
    check_known(value, what)
    found: Any = known(value.handle) if isinstance(value, tensor) else value
    if isinstance(found, float) or not hasattr(found, "__index__"):
        text = repr(found)
        if isinstance(value, tensor) and found is None:
            text = f"{hints.subject(value)[:-1]}; {hints.as_constexpr(value)}"
        raise CompileTypeError(
            f"{what} must be an int known when the kernel is compiled (a tl.constexpr), got {text}"
        )
    return operator.index(found)


def shape_argument(shape: ShapeLike | Sequence[ShapeLike]) -> tuple[int, ...]:
    """A shape from `(M, N)`, `[M, N]`, `M, N`, `M` or `()`. Raises CompileValueError unless every
    extent is positive."""
    shape = unwrap(shape)
    if isinstance(shape, (tuple, list)) and len(shape) == 1:
        inner = unwrap(shape[0])
        shape = inner if isinstance(inner, (tuple, list)) else shape
    listed = shape if isinstance(shape, (tuple, list)) else (shape,)
    extents = tuple(constant_int(extent, "a shape's extent") for extent in listed)
    if any(extent < 1 for extent in extents):
        raise CompileValueError(f"extents must be positive, got shape {extents}")
    return extents


def axis_argument(axis: ConstInt, rank: int, what: str = "axis") -> int:
    """An axis counted from the front. Raises CompileValueError if there is no such axis."""
    place = constant_int(axis, what)
    if not -rank <= place < rank:
        raise CompileValueError(f"{what} {place} is out of range for a tensor of rank {rank}")
    return place % rank


def one_of(value: Any, allowed: tuple[str, ...], what: str) -> str:
    """A keyword's text; None is the first allowed. Raises CompileValueError for others."""
    value = unwrap(value)
    if value is None:
        return allowed[0]
    if value not in allowed:
        raise CompileValueError(
            f"{what} must be one of {', '.join(map(repr, allowed))}, got {value!r}"
        )
    return str(value)
