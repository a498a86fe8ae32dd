"""The bits of 2/pi as 64-bit words, for reducing huge f64 angles."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

PADDING = 24
"""Zero bits before the binary point of 2/pi, so that every position asked for is inside."""


@cache
def two_over_pi_words() -> tuple[int, ...]:
    """19 words: PADDING zero bits, then the binary digits of 2/pi."""
    text = files(__package__).joinpath("two_over_pi.txt").read_text(encoding="utf-8")
    return tuple(int(line, 16) for line in text.split())
