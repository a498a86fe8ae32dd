"""This machine's roof: the bytes and the operations a second that it reaches, measured.

Memory: the best of several copies between arrays that no cache holds, two bytes moved for each byte
copied. Arithmetic: the best of several products of matrices in f32 by NumPy's library. (The model
is that of "Roofline: An Insightful Visual Performance Model", Williams, Waterman and Patterson,
2009.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import perf_counter

import numpy as np

from .document import Roof

COPY_BYTES = 64 << 20
EXTENT = 768
ROUNDS = 6


@cache
def measured_roof(name: str) -> Roof:
    """The roof of this machine, measured once a process (about a fifth of a second)."""
    source, target = np.ones(COPY_BYTES, np.uint8), np.empty(COPY_BYTES, np.uint8)
    seconds = _best(lambda: np.copyto(target, source))
    left = np.ones((EXTENT, EXTENT), np.float32)
    product = _best(lambda: left @ left)
    return Roof(name, "measured", 2 * COPY_BYTES / seconds, 2 * EXTENT**3 / product)


def _best(call: Callable[[], object]) -> float:
    """The shortest time of a call, in seconds; the first, which touches new pages, is not timed."""
    call()
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)
