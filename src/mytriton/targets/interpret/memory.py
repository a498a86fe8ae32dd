"""Memory as the interpreter sees it: absolute addresses, checked against the launch's buffers.

One idea: the bytes of a buffer are viewed as elements that start at every byte (stride 1), so an
access of any alignment is one NumPy gather or scatter by byte offset. Lanes outside every buffer
are an error that names the lane, unless the kernel gets pointers from elsewhere (out of memory or
from ints), which may lead anywhere.

    lanes = Lanes.of("load", where, program, pointers, mask)  # the masked-on lanes only
    memory.read(lanes, np.dtype("f4"))                        # an element for each, in lane order
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import KernelMemoryError, Where
from ...ir.numeric import Array
from ..memory import Buffer

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


class _Window:
    """What NumPy makes an array of without copying: `count` elements, one starting at each byte."""

    def __init__(self, address: int, count: int, dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (address, False),
            "shape": (count,),
            "strides": (1,),
            "typestr": dtype.str,
        }


@dataclass(frozen=True, eq=False)
class Span:
    """A range of addresses that may be accessed; `name` is the parameter whose array it is."""

    name: str
    start: int
    end: int
    writable: bool = True
    buffer: Buffer | None = None
    windows: dict[Any, Array] = field(default_factory=dict)

    def window(self, dtype: np.dtype[Any]) -> Array:
        """The elements that start at each byte of the span."""
        if dtype not in self.windows:
            count = self.end - self.start - dtype.itemsize + 1
            self.windows[dtype] = np.asarray(_Window(self.start, count, dtype))
        return self.windows[dtype]

    @cached_property
    def description(self) -> str:
        assert self.buffer is not None
        element, size = self.buffer.type.element, self.end - self.start
        return f"`{self.name}` ({size // element.itemsize} elements of {element})"

    def distance(self, address: int) -> int:
        """How many bytes the address is away."""
        return max(self.start - address, address - self.end + 1, 0)


class Memory:
    """All the memory of a launch. `changes` counts the writes that changed something, where `watch`
    asks for it."""

    def __init__(
        self, buffers: Sequence[tuple[str, Buffer]], anywhere: bool = False, watch: bool = False
    ) -> None:
        self.spans = [Span(name, *buffer.span, buffer.writable, buffer) for name, buffer in buffers]
        self.anywhere = anywhere or any(buffer.nbytes is None for _, buffer in buffers)
        self.watch = watch
        self.changes = 0

    def count(self) -> int:
        """How many writes have changed something so far."""
        return self.changes

    def read(self, lanes: Lanes, dtype: np.dtype[Any]) -> Array:
        """The element at each lane's address."""
        result = np.empty(lanes.addresses.size, dtype)
        for span, part in self._parts(lanes, dtype.itemsize, write=False):
            result[part] = span.window(dtype)[lanes.addresses[part] - span.start]
        return result

    def write(self, lanes: Lanes, elements: Array) -> None:
        """Puts one element at each lane's address; of lanes with one address the last wins."""
        for span, part in self._parts(lanes, elements.itemsize, write=True):
            if not span.writable:
                raise self._fault(lanes, f"writes to {span.description}, which is read-only", 0)
            window, offsets = span.window(elements.dtype), lanes.addresses[part] - span.start
            before = window[offsets] if self.watch else None
            window[offsets] = elements[part]
            if before is not None:
                self.changes += before.tobytes() != window[offsets].tobytes()

    def _parts(self, lanes: Lanes, size: int, write: bool) -> Iterator[tuple[Span, Any]]:
        """The spans that the lanes lie in, with the lanes of each."""
        if not lanes.addresses.size:
            return
        low, high = int(lanes.addresses.min()), int(lanes.addresses.max()) + size
        for span in self.spans:
            if span.start <= low and high <= span.end:
                yield span, slice(None)
                return
        left = np.ones(lanes.addresses.size, bool)
        found = []
        for span in self.spans:
            inside = lanes.addresses + size <= span.end
            inside &= left & (lanes.addresses >= span.start)
            left &= ~inside
            found.append((span, np.flatnonzero(inside)))
        found.append((self._elsewhere(lanes, size, left, write), np.flatnonzero(left)))
        yield from ((span, part) for span, part in found if part.size)

    def _elsewhere(self, lanes: Lanes, size: int, left: Array, write: bool) -> Span:
        """The span of all lanes that are in no buffer. Raises KernelMemoryError if there may be
        none."""
        addresses = lanes.addresses[left]
        if not addresses.size:
            return Span("nothing", 0, 0)
        if not self.anywhere or int(addresses.min()) < FIRST_PAGE:
            verb = "writes" if write else "reads"
            lane = int(np.flatnonzero(left)[0])
            address = int(addresses[0])
            raise self._fault(lanes, f"{verb} {size} bytes at {self._place(address)}", lane)
        return Span("elsewhere", int(addresses.min()), int(addresses.max()) + size)

    def _place(self, address: int) -> str:
        """An address in terms of the nearest buffer: `element 100 of `x` (100 elements of f32)`."""
        if not self.spans or 0 <= address < FIRST_PAGE:
            return f"the address {address:#x}, which is in no array"
        span = min(self.spans, key=lambda span: span.distance(address))
        assert span.buffer is not None
        element, rest = divmod(address - span.buffer.address, span.buffer.type.element.itemsize)
        unaligned = f" plus {rest} bytes" if rest else ""
        return f"element {element}{unaligned} of {span.description}, which is outside every array"

    def _fault(self, lanes: Lanes, message: str, lane: int) -> KernelMemoryError:
        return KernelMemoryError(f"{lanes.name}: {lanes.describe(lane)} {message}", lanes.where)
