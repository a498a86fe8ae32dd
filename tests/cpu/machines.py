"""Smaller machines than this one, whose code runs here too: no masks, no gathers, no f16."""

from __future__ import annotations

import platform

from mytriton.targets.cpu.host import Host, host

HERE = host()
WORDS = frozenset((4, 8))
MACHINES = {
    "here": HERE,
    "avx2": Host("haswell", "+avx2,+fma,+f16c", 32, WORDS, WORDS, True, 16),
    "sse2": Host("x86-64", "", 16, frozenset(), frozenset(), False, 16),
    "wide without masks": Host(
        HERE.cpu, HERE.features, HERE.vector_bytes, frozenset(), frozenset(), False, 32
    ),
}


def runs_here(machine: str) -> bool:
    """Whether this processor can run the code that is made for a machine."""
    x86 = platform.machine() in ("x86_64", "AMD64") and HERE.vector_bytes >= 32
    return machine == "here" or x86
