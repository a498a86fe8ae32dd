"""A launch again, its programs in other orders: results that differ depend on the order."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from ..errors import Where
from ..ir.numeric import Array, memory_dtype
from ..targets import Grid
from ..targets.memory import Buffer
from .findings import Finding

Order = tuple[int, int]
"""The stride and offset of `passes/checks/program_order.py`."""
IN_ORDER: Order = (1, 0)


@dataclass(frozen=True)
class Stored:
    """An array that the kernel stores to: the parameter's name, and a line that does."""

    name: str
    buffer: Buffer
    where: Where

    def contents(self) -> bytes:
        """The bytes that the kernel may reach through it."""
        start, end = self.buffer.span
        return ctypes.string_at(start, end - start)

    def restore(self, contents: bytes) -> None:
        ctypes.memmove(self.buffer.span[0], contents, len(contents))

    def elements(self, contents: bytes) -> Array:
        return np.frombuffer(contents, memory_dtype(self.buffer.type.element))


class Orders:
    """The arrays of a launch as they were before it."""

    def __init__(self, grid: Grid, arrays: Sequence[Stored]) -> None:
        self.total = grid[0] * grid[1] * grid[2]
        self.arrays = arrays
        self.before = [array.contents() for array in arrays]

    def others(self) -> Iterator[Order]:
        """Reversed, and mixed by a stride near the golden section of the grid."""
        if self.total > 1:
            yield -1, -1
        if self.total > 4:
            stride = int(self.total * 0.618)
            while gcd(stride, self.total) > 1:
                stride += 1
            yield stride, 1

    def differences(self, run: Callable[[Order], None]) -> Iterator[Finding]:
        """Runs the launch in the other orders; a finding for each array that then differs. The
        arrays are left as the launch itself has left them."""
        after = [array.contents() for array in self.arrays]
        left = dict(enumerate(self.arrays))
        for order in self.others():
            self._restore(self.before)
            run(order)
            for place, array in list(left.items()):
                one, two = array.elements(after[place]), array.elements(array.contents())
                if one.tobytes() != two.tobytes():
                    del left[place]
                    yield _difference(array, one, two)
        self._restore(after)

    def _restore(self, contents: Sequence[bytes]) -> None:
        for array, held in zip(self.arrays, contents, strict=True):
            array.restore(held)


def _difference(array: Stored, one: Array, two: Array) -> Finding:
    unsigned = np.dtype(f"u{one.itemsize}")
    (places,) = np.nonzero(one.view(unsigned) != two.view(unsigned))
    first = int(places[0])
    return Finding(
        "order",
        f"the result depends on the order of the programs: element {first} of `{array.name}` is"
        f" {one[first]} in one order and {two[first]} in another; {places.size} of {one.size}"
        " elements differ",
        array.where,
        help="sums of floats by atomics differ in their last digits; add in a fixed order where"
        " results must not",
        array=array.name,
    )
