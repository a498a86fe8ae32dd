"""What a program prints, and what its checks find: a callback from native code into Python.

Native code passes addresses of values in their register form; the types say the rest.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ....ir.nodes import Op, Operand
from ....ir.numeric import Array, held_dtype
from ....ir.types import Type, element_of, shape_of
from ... import lanes
from ...memory import Buffer
from ...reports import Listener, listener
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
"""record, number of the op, program, addresses of the values."""
Index = tuple[int, int, int]


@dataclass
class Launch:
    """A launch that runs: its arrays by name, who listens to its reports, and what a callback has
    raised."""

    arrays: lanes.Arrays
    listener: Listener | None
    error: BaseException | None = None


class Callback:
    """The function that native code calls; `address` is its address.

    `messages` gives the ops of the kernel that report by number, from 1.
    """

    def __init__(self, messages: Callable[[], Sequence[Op]]) -> None:
        self._make_messages = messages
        self._launches: dict[int, Launch] = {}
        self._callback = CALLBACK(self.called)
        self.address = address_of(self._callback)

    @cached_property
    def messages(self) -> Sequence[Op]:
        return self._make_messages()

    @contextmanager
    def serving(self, record: int, arrays: Sequence[tuple[str, Buffer]]) -> Iterator[None]:
        """Answers the callbacks of the launch with the record at that address, and raises what one
        has raised."""
        launch = self._launches[record] = Launch(arrays, listener())
        try:
            yield
        finally:
            del self._launches[record]
        if launch.error is not None:
            raise launch.error

    def called(self, record: int, number: int, x: int, y: int, z: int, table: int) -> None:
        """Does what the op means; what that raises ends the launch."""
        launch = self._launches.get(record)
        if launch is None:  # a program that was given up as waiting for ever
            return
        try:
            op = self.messages[number - 1]
            values = [value_at(o, table + 8 * n) for n, o in enumerate(op.operands)]
            MEANINGS[op.name](launch, op, (x, y, z), values)
        except BaseException as error:
            launch.error = launch.error or error
            stop(LaunchRecord.from_address(record), CANCELLED)


def _print(launch: Launch, op: Op, program: Index, values: Sequence[Any]) -> None:
    prefix = op.attribute("prefix")
    if not op.operands:
        print(f"pid {program} {prefix}")
    for operand, value in zip(op.operands, values):
        assert operand is not None
        text = show(operand.ty, value, op.attribute("hex"))
        print(f"pid {program} {prefix}{text}")


def _check_access(launch: Launch, op: Op, program: Index, values: Sequence[Any]) -> None:
    lanes.check_access(op, program, values, launch.arrays)


def _report(launch: Launch, op: Op, program: Index, values: Sequence[Any]) -> None:
    if launch.listener is not None and np.any(values[0]):
        launch.listener.add(op, program, values)


MEANINGS: dict[str, Callable[[Launch, Op, Index, Sequence[Any]], None]] = {
    "print": _print,
    "check_access": _check_access,
    "report": _report,
}


def value_at(operand: Operand, slot: int) -> Array | None:
    """The value whose address lies in a slot of the table; None of an absent operand."""
    address = ctypes.c_void_p.from_address(slot).value or 0
    return None if operand is None else read(operand.ty, address)


def read(ty: Type, address: int) -> Array:
    """A copy of the value that lies at an address in its register form."""
    dtype = held_dtype(element_of(ty))
    count = math.prod(shape_of(ty))
    data = ctypes.string_at(address, count * dtype.itemsize)
    return np.frombuffer(data, dtype).reshape(shape_of(ty))
