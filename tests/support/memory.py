"""Arrays as a launch passes them to a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mytriton.ir.nodes import Function
from mytriton.ir.types import PointerType
from mytriton.targets.memory import Argument, Buffer

from .dtypes import element_type

Array = np.ndarray[Any, Any]


def buffer(array: Array, ty: PointerType | None = None, writable: bool = True) -> Buffer:
    """The array as a pointer argument, of its own element type unless one is given."""
    ty = ty or PointerType(element_type(array.dtype))
    address = array.__array_interface__["data"][0]
    return Buffer(ty, address, array.nbytes, array, writable)


def arguments_of(function: Function, given: Sequence[Any]) -> list[Argument]:
    """The launch's arguments: an array becomes the buffer of its parameter's type."""
    packed: list[Argument] = []
    for param, argument in zip(function.params, given, strict=True):
        if isinstance(argument, np.ndarray):
            assert isinstance(param.ty, PointerType)
            packed.append(buffer(argument, param.ty))
        else:
            packed.append(argument)
    return packed


def copies(given: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments with every array copied."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in given)


def aligned_copy(array: Array) -> Array:
    """A copy that begins at a multiple of 16 bytes."""
    space = np.zeros(array.nbytes + 16, np.uint8)
    start = -space.ctypes.data % 16
    copy = space[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
