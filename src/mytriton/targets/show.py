"""Values as text for people: what `print` in a kernel, and a tensor's repr in eager mode, show."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.numeric import encode
from ..ir.types import Element, PointerType, Type, element_of


def show(ty: Type, value: Any, hexadecimal: bool = False) -> str:
    """The value without its type: numbers of a block in NumPy's brackets, addresses and
    `hexadecimal` as 0x…"""
    array, element = np.asarray(value), element_of(ty)
    if hexadecimal or isinstance(element, PointerType):
        array = _hexadecimal(element, array)
        if array.ndim:
            return np.array2string(array, formatter={"all": str})
    return np.array2string(array) if array.ndim else str(array[()])


def _hexadecimal(element: Element, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of each element, with all its digits."""
    bits = encode(element, array.reshape(-1)).view(f"u{element.itemsize}")
    digits = 2 * element.itemsize
    texts = [f"0x{int(pattern):0{digits}x}" for pattern in bits]
    return np.array(texts, object).reshape(array.shape)


def show_typed(ty: Type, value: Any) -> str:
    """A value with its type: `vector<4 x f32> [0. 1. 2. 3.]`."""
    return f"{ty} {show(ty, value)}"
