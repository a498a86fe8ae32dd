"""What a program prints: a callback from native code that reads the values and shows them.

One idea: native code passes addresses of values in their register form; the types say the rest.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence

import numpy as np

from ...ir.nodes import Op
from ...ir.numeric import Array, held_dtype
from ...ir.types import Type, element_of, shape_of
from ..show import show

CALLBACK = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p
)


class Shower:
    """The function that native code calls to print; `address` is its address."""

    def __init__(self, messages: Sequence[Op]) -> None:
        self.messages = messages
        self.error: BaseException | None = None
        self._callback = CALLBACK(self.called)
        address = ctypes.cast(self._callback, ctypes.c_void_p).value
        assert address is not None
        self.address: int = address

    def called(self, number: int, x: int, y: int, z: int, table: int) -> None:
        try:
            self.print(self.messages[number - 1], (x, y, z), table)
        except BaseException as error:
            self.error = error

    def print(self, op: Op, program: tuple[int, int, int], table: int) -> None:
        prefix = op.attribute("prefix")
        if not op.operands:
            print(f"pid {program} {prefix}")
        for position, operand in enumerate(op.operands):
            assert operand is not None
            address = ctypes.c_void_p.from_address(table + 8 * position).value or 0
            text = show(operand.ty, read(operand.ty, address), op.attribute("hex"))
            print(f"pid {program} {prefix}{text}")

    def check(self) -> None:
        """Raises what a print has raised."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error


def read(ty: Type, address: int) -> Array:
    """A copy of the value that lies at an address in its register form."""
    dtype = held_dtype(element_of(ty))
    count = math.prod(shape_of(ty))
    data = ctypes.string_at(address, count * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape_of(ty))
