"""Arrays between pages that may not be touched: an access past their end stops the process.

An array of less than a whole number of pages can meet only one of the two pages, its end or its
beginning; which one is chosen by its contents, so that a property tries both. The bytes left over
on the other side hold a pattern, which is looked at afterwards: stores there are found too.

    page that may not be touched │ pattern pattern array array │ page that may not be touched
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
PAGE = mmap.PAGESIZE
FILL = 0xEE
"""The byte beside the array."""

PROTECTED = sys.platform != "win32"
"""Whether this system has mprotect; elsewhere only the pattern guards."""


class Guarded:
    """A copy of an array at the end, or the beginning, of memory between two protected pages."""

    def __init__(self, given: Array, at_end: bool) -> None:
        room = max(1, -(-given.nbytes // PAGE)) * PAGE
        memory = mmap.mmap(-1, room + 2 * PAGE)
        self.bytes = np.frombuffer(memory, np.uint8, room, PAGE)
        address = self.bytes.ctypes.data
        if PROTECTED:
            protect = ctypes.CDLL(None, use_errno=True).mprotect
            for page in (address - PAGE, address + room):
                assert protect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), 0) == 0
        self.bytes[:] = FILL
        start = room - given.nbytes if at_end else 0
        self.inside = slice(start, start + given.nbytes)
        self.array = self.bytes[self.inside].view(given.dtype).reshape(given.shape)
        self.array[...] = given

    def require_intact(self, what: str) -> None:
        """Raises AssertionError where a byte beside the array was written."""
        beside = np.delete(self.bytes, self.inside)
        assert (beside == FILL).all(), f"{what}: bytes beside the array were written"


def end_or_beginning(array: Array) -> bool:
    """Where an array is to lie: as good as random, the same for the same contents."""
    return bool(zlib.crc32(array.tobytes()) & 1)


@contextmanager
def guarded_copies(given: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """The arguments with every array replaced by a guarded copy.

    Raises AssertionError in the end if a byte beside one of them was written.
    """
    held = {
        place: Guarded(argument, end_or_beginning(argument))
        for place, argument in enumerate(given)
        if isinstance(argument, np.ndarray)
    }
    yield tuple(held[i].array if i in held else a for i, a in enumerate(given))
    for place, guard in held.items():
        guard.require_intact(f"argument {place}")
