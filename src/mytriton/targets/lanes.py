"""The lanes of an access, and how a message names what one of them touches.

lanes = Lanes.of("load", where, program, pointers, mask)    # the masked-on lanes only
lanes.describe(0)                                           # lane 5 of program (0, 1, 0)
place_of(address, arrays)                 # element 100 of `x` (100 elements of f32)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import KernelMemoryError, Where
from ..ir.nodes import Op
from ..ir.numeric import Array
from ..ir.structural import pointee
from .memory import Buffer

Index = tuple[int, int, int]
"""A program's place in the grid."""
FIRST_PAGE = 4096
"""Addresses below are never memory: a null pointer plus an offset."""


@dataclass(frozen=True)
class Lanes:
    """The masked-on lanes of one access: flat positions in a block of `shape`, and where each
    points."""

    name: str
    where: Where
    program: Index
    shape: tuple[int, ...]
    position: Array
    addresses: Array

    @classmethod
    def of(cls, name: str, where: Where, program: Index, pointer: Any, mask: Any) -> Lanes:
        shape = np.shape(pointer)
        flat = np.reshape(pointer, -1)
        if mask is None:
            position = np.arange(flat.size)
        else:
            position = np.flatnonzero(np.broadcast_to(mask, shape))
        return cls(name, where, program, shape, position, flat[position])

    def take(self, index: Any) -> Lanes:
        """Some of the lanes."""
        return replace(self, position=self.position[index], addresses=self.addresses[index])

    def describe(self, lane: int) -> str:
        """`lane (3, 5) of program (0, 1, 0)`; only the program for a scalar access."""
        program = f"program {self.program}"
        if not self.shape:
            return program
        place = tuple(map(int, np.unravel_index(int(self.position[lane]), self.shape)))
        return f"lane {place if len(place) > 1 else place[0]} of {program}"


Arrays = Sequence[tuple[str, Buffer]]
"""The array arguments of a launch, by the name of their parameter."""


def described(name: str, buffer: Buffer) -> str:
    """An array with its size: `x` (100 elements of f32)."""
    (start, end), element = buffer.span, buffer.type.element
    return f"`{name}` ({(end - start) // element.itemsize} elements of {element})"


def place_of(address: int, arrays: Arrays, outside: str = "outside every array") -> str:
    """An address in terms of the nearest array: element 100 of `x` (100 elements of f32), which is
    outside every array."""
    if not arrays or 0 <= address < FIRST_PAGE:
        return f"the address {address:#x}, which is in no array"
    name, buffer = min(arrays, key=lambda array: _distance(array[1], address))
    element, rest = divmod(address - buffer.address, buffer.type.element.itemsize)
    unaligned = f" plus {rest} bytes" if rest else ""
    return f"element {element}{unaligned} of {described(name, buffer)}, which is {outside}"


def _distance(buffer: Buffer, address: int) -> int:
    """How many bytes the address is away from an array."""
    start, end = buffer.span
    return max(start - address, address - end + 1, 0)


def check_access(op: Op, program: Index, values: Sequence[Any], arrays: Arrays) -> None:
    """What the op of that name means, for a program's blocks of its operands' values.

    Raises KernelMemoryError for the first lane that is on and lies in none of the ranges.
    """
    pointer, mask, *bounds = values
    lanes = Lanes.of(op.attribute("access"), op.where, program, pointer, mask)
    size = _size(op)
    inside = np.zeros(lanes.addresses.shape, bool)
    for start, end in zip(bounds[::2], bounds[1::2]):
        inside |= (lanes.addresses >= start) & (lanes.addresses + size <= end)
    if not bounds:
        inside = lanes.addresses >= FIRST_PAGE
    bad = np.flatnonzero(~inside)
    if bad.size:
        raise KernelMemoryError(
            _fault(lanes, bad, size, _allowed(bounds, arrays), arrays), op.where
        )


def _size(op: Op) -> int:
    pointer = op.operands[0]
    assert pointer is not None
    return pointee(pointer.ty).itemsize


def _allowed(bounds: Sequence[Any], arrays: Arrays) -> Arrays:
    """The arrays that these bounds are of."""
    starts = {int(start) for start in bounds[::2]}
    return [(name, buffer) for name, buffer in arrays if buffer.span[0] in starts]


def _fault(lanes: Lanes, bad: Array, size: int, allowed: Arrays, arrays: Arrays) -> str:
    lane = int(bad[0])
    address = int(lanes.addresses[lane])
    verb = "reads" if lanes.name == "load" else "writes"
    elsewhere = [n for n, b in arrays if b.span[0] <= address and address + size <= b.span[1]]
    place = place_of(address, allowed)
    if elsewhere:
        place = place_of(address, allowed, f"outside it, in `{elsewhere[0]}`")
    text = f"{lanes.name}: {lanes.describe(lane)} {verb} {size} bytes at {place}"
    return text + (f"; so do {bad.size - 1} more lanes" if bad.size > 1 else "")
