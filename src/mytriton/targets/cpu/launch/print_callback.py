"""What a program prints: a callback from native code that reads the values and shows them.

Native code passes addresses of values in their register form; the types say the rest.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ....ir.nodes import Op
from ....ir.numeric import Array, held_dtype
from ....ir.types import Type, element_of, shape_of
from ...show import show
from .record import CANCELLED, LaunchRecord, stop
from .threads import address_of

CALLBACK = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_void_p,
)
"""record, number of the print, program, addresses of the values."""


class PrintCallback:
    """The function that native code calls to print; `address` is its address.

    `messages` gives the asserts and prints of the kernel by number, from 1.
    """

    def __init__(self, messages: Callable[[], Sequence[Op]]) -> None:
        self._make_messages = messages
        self.error: BaseException | None = None
        self._callback = CALLBACK(self.called)
        self.address = address_of(self._callback)

    @cached_property
    def messages(self) -> Sequence[Op]:
        return self._make_messages()

    def called(self, record: int, number: int, x: int, y: int, z: int, table: int) -> None:
        """Prints; what that raises ends the launch, and is raised by `check`."""
        try:
            self.print(self.messages[number - 1], (x, y, z), table)
        except BaseException as error:
            self.error = self.error or error
            stop(LaunchRecord.from_address(record), CANCELLED)

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
