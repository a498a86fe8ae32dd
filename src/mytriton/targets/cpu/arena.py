"""The scratch arena of a thread: blocks that outlive a loop lie here.

One idea: every place is known when the code is made, so the arena is one offset per block.
"""

from __future__ import annotations

import math

from .types import SIZES

LINE = 64
"""Bytes that every block is aligned to."""


class Arena:
    """Hands out offsets; `size` is what a thread must have."""

    def __init__(self) -> None:
        self.size = 0

    def take(self, shape: tuple[int, ...], type_: str) -> int:
        """The offset of a new block of elements of an LLVM type."""
        offset = self.size
        nbytes = math.prod(shape) * SIZES[type_]
        self.size += -(-nbytes // LINE) * LINE
        return offset
