"""The bits of 2/pi as 64-bit words, for reducing huge f64 angles."""

from __future__ import annotations

from functools import cache

from .formats import lines_of

PADDING = 24
"""Zero bits before the binary point of 2/pi, so that every position asked for is inside."""


@cache
def two_over_pi_words() -> tuple[int, ...]:
    """19 words: PADDING zero bits, then the binary digits of 2/pi."""
    return tuple(int(line, 16) for line in lines_of("two_over_pi.txt"))
