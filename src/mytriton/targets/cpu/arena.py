"""The scratch arena of a thread: the buffers of a program lie here.

Every place is known when the code is made. A buffer that is no longer needed gives its place back,
and the next one of a size that fits takes it: the first fit, at the lowest offset, so that the
arena stays small and what is used soon after is still in the cache.
"""

from __future__ import annotations

import math
from bisect import insort

from .types import SIZES

LINE = 64
"""Bytes that every block is aligned to."""


class Arena:
    """Hands out offsets and takes them back; `size` is what a thread must have."""

    def __init__(self) -> None:
        self.size = 0
        self._free: list[tuple[int, int]] = []
        """The gaps, by rising offset: where each begins and ends."""
        self._taken: dict[int, int] = {}
        """Where each block that is in use ends, by its offset."""

    def take(self, shape: tuple[int, ...], type_: str) -> int:
        """The offset of a new block of elements of an LLVM type."""
        nbytes = -(-math.prod(shape) * SIZES[type_] // LINE) * LINE
        for place, (start, end) in enumerate(self._free):
            if end - start >= nbytes or end == self.size:
                del self._free[place]
                if end - start > nbytes:
                    insort(self._free, (start + nbytes, end))
                break
        else:
            start = self.size
        self.size = max(self.size, start + nbytes)
        self._taken[start] = start + nbytes
        return start

    def keep(self, size: int, type_: str) -> int:
        """The offset of so many elements that no other block ever uses: a program finds there what
        the one before it on this thread has left.
        """
        start = self.size
        self.size += -(-size * SIZES[type_] // LINE) * LINE
        return start

    def give_back(self, offset: int) -> None:
        """A block is no longer needed; gaps that touch become one."""
        start, end = offset, self._taken.pop(offset)
        for gap in [gap for gap in self._free if gap[1] == start or gap[0] == end]:
            self._free.remove(gap)
            start, end = min(start, gap[0]), max(end, gap[1])
        insort(self._free, (start, end))
