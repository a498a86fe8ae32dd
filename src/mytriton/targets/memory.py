"""What a launch hands to a target: numbers, and buffers for pointers.

One idea: however an array came (NumPy, torch, CuPy, DLPack), a target sees an address, a size in
bytes and the owner that keeps it alive; so targets know no array library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..ir.types import PointerType


@dataclass(frozen=True)
class Buffer:
    """The memory of one array argument.

    `address` is that of its first element (what the kernel gets); `nbytes` how much of it lies from
    there on, None where that is not known (a bare pointer); `before` the bytes that lie before it
    (negative strides).
    """

    type: PointerType
    address: int
    nbytes: int | None
    owner: object
    writable: bool = True
    before: int = 0

    @property
    def span(self) -> tuple[int, int]:
        """The first address and the one past the last."""
        return self.address - self.before, self.address + (self.nbytes or 0)


Argument = Buffer | bool | int | float
"""One run-time argument, in the order of the function's params."""


def any_overlap(arguments: Sequence[Argument]) -> bool:
    """Whether two buffers share a byte, or one has an unknown size."""
    buffers = [argument for argument in arguments if isinstance(argument, Buffer)]
    if any(buffer.nbytes is None for buffer in buffers):
        return True
    spans = sorted(buffer.span for buffer in buffers)
    return any(left[1] > right[0] for left, right in pairwise(spans))
