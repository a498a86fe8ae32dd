"""The machine that code is made for: its vectors and what it can do with masks.

Asked once of LLVM, then a value that the emitters read; nothing else depends on the
processor.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm


@dataclass(frozen=True)
class Host:
    """`vector_bytes` of a register; `masked` the element sizes that masked loads and stores exist
    for, `gathered` the same for gathers; `has_half` whether f16 converts in hardware.
    """

    cpu: str
    features: str
    vector_bytes: int
    masked: frozenset[int]
    gathered: frozenset[int]
    has_half: bool
    registers: int
    tiles: bool = False
    """Whether this process may use the matrix unit (AMX)."""

    def has(self, feature: str) -> bool:
        """Whether the processor has a feature, by LLVM's name; of those with full vectors only."""
        return self.vector_bytes == 64 and f"+{feature}" in self.features.split(",")

    def can_mask(self, size: int) -> bool:
        """Whether masked loads and stores of elements of this many bytes are instructions."""
        return size in self.masked

    def can_gather(self, size: int) -> bool:
        return size in self.gathered


def host() -> Host:
    """The machine that code is made for: the one this process runs on, unless `made_for` says
    another.
    """
    here = this_machine()
    return MadeFor.machine or here


class MadeFor:
    """What `made_for` has chosen."""

    machine: Host | None = None


@contextmanager
def made_for(machine: Host) -> Iterator[Host]:
    """Code that is made inside is for another machine, whose code this one can run."""
    before, MadeFor.machine = MadeFor.machine, machine
    try:
        yield machine
    finally:
        MadeFor.machine = before


def may_use_tiles() -> bool:
    """Asks the system for the matrix unit, whose large state a process has to ask for: the system
    call `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)` of Linux 5.16 on x86-64."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None).syscall(158, 0x1023, 18) == 0)


@cache
def this_machine() -> Host:
    """The machine this process runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    cpu = llvm.get_host_cpu_name()

    def has(name: str) -> bool:
        return bool(features.get(name))

    text = features.flatten()
    if has("avx512f") and has("avx512bw") and has("avx512vl"):
        sizes = frozenset((1, 2, 4, 8))
        text += ",-prefer-256-bit"
        tiles = has("amx-tile") and may_use_tiles()
        return Host(cpu, text, 64, sizes, frozenset((4, 8)), True, 32, tiles)
    if has("avx2"):
        return Host(cpu, text, 32, frozenset((4, 8)), frozenset((4, 8)), has("f16c"), 16)
    arm = not any(has(name) for name in ("sse2", "avx"))
    return Host(cpu, text, 16, frozenset(), frozenset(), arm, 32 if arm else 16)
