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
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ...errors import KernelMemoryError
from ...ir.nodes import Op
from ...ir.numeric import Array
from ..lanes import FIRST_PAGE, Index, Lanes, described, place_of
from ..memory import Buffer

__all__ = ["FIRST_PAGE", "Index", "Lanes", "Memory", "Span"]


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

    @property
    def description(self) -> str:
        assert self.buffer is not None
        return described(self.name, self.buffer)


class Observer(Protocol):
    """What is told of all that the programs of a launch do."""

    def access(self, lanes: Lanes, size: int, write: bool) -> None:
        """An access, before it is made, to elements of `size` bytes at the lanes' addresses."""

    def performed(self, op: Op, results: Sequence[Array]) -> None:
        """An op, after it was performed."""


class Memory:
    """All the memory of a launch. `changes` counts the writes that changed something, where `watch`
    asks for it; `observer` is told of every access."""

    def __init__(
        self,
        buffers: Sequence[tuple[str, Buffer]],
        anywhere: bool = False,
        watch: bool = False,
        observer: Observer | None = None,
    ) -> None:
        self.observer = observer
        self.spans = [Span(name, *buffer.span, buffer.writable, buffer) for name, buffer in buffers]
        self.anywhere = anywhere or any(buffer.nbytes is None for _, buffer in buffers)
        self.watch = watch
        self.changes = 0

    @property
    def arrays(self) -> list[tuple[str, Buffer]]:
        """The launch's arrays, by the name of their parameter."""
        return [(span.name, span.buffer) for span in self.spans if span.buffer]

    def count(self) -> int:
        """How many writes have changed something so far."""
        return self.changes

    def read(self, lanes: Lanes, dtype: np.dtype[Any]) -> Array:
        """The element at each lane's address."""
        if self.observer is not None:
            self.observer.access(lanes, dtype.itemsize, False)
        result = np.empty(lanes.addresses.size, dtype)
        for span, part in self._parts(lanes, dtype.itemsize, write=False):
            result[part] = span.window(dtype)[lanes.addresses[part] - span.start]
        return result

    def write(self, lanes: Lanes, elements: Array) -> None:
        """Puts one element at each lane's address; of lanes with one address the last wins."""
        if self.observer is not None:
            self.observer.access(lanes, elements.itemsize, True)
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
            place = place_of(int(addresses[0]), self.arrays)
            message = f"{verb} {size} bytes at {place}"
            raise self._fault(lanes, message, lane)
        return Span("elsewhere", int(addresses.min()), int(addresses.max()) + size)

    def _fault(self, lanes: Lanes, message: str, lane: int) -> KernelMemoryError:
        return KernelMemoryError(f"{lanes.name}: {lanes.describe(lane)} {message}", lanes.where)
