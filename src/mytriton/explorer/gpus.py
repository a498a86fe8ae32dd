"""GPUs that a kernel may be explained for: what a multiprocessor holds, and how fast the whole is.

The limits of a compute capability are those of the CUDA C++ Programming Guide, "Technical
Specifications per Compute Capability"; peaks are those of NVIDIA's data sheets, of dense products
where there are two figures.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import CompileValueError, did_you_mean


@dataclass(frozen=True)
class Multiprocessor:
    """What a multiprocessor of a compute capability holds at once. shared: bytes for all blocks;
    block_shared: for one. reserved: bytes of each block that the system takes."""

    warps: int
    blocks: int
    shared: int
    block_shared: int
    reserved: int = 1024
    registers: int = 65536
    registers_per_thread: int = 255


KIB = 1024
TURING = Multiprocessor(32, 16, 64 * KIB, 64 * KIB, reserved=0)
AMPERE = Multiprocessor(64, 32, 164 * KIB, 163 * KIB)
AMPERE_SMALL = Multiprocessor(48, 16, 100 * KIB, 99 * KIB)
ADA = Multiprocessor(48, 24, 100 * KIB, 99 * KIB)
HOPPER = Multiprocessor(64, 32, 228 * KIB, 227 * KIB)


@dataclass(frozen=True)
class Gpu:
    """A GPU: its architecture, its multiprocessors, and its peaks: bytes a second of memory,
    operations a second in f32 and, in f16 with f32 sums, of the tensor cores."""

    name: str
    arch: str
    count: int
    holds: Multiprocessor
    bandwidth: float
    flops: float
    tensor_flops: float


GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu("T4", "sm_75", 40, TURING, 320e9, 8.1e12, 65e12),
        Gpu("A100", "sm_80", 108, AMPERE, 2039e9, 19.5e12, 312e12),
        Gpu("A10", "sm_86", 72, AMPERE_SMALL, 600e9, 31.2e12, 125e12),
        Gpu("L4", "sm_89", 58, ADA, 300e9, 30.3e12, 121e12),
        Gpu("H100", "sm_90a", 132, HOPPER, 3350e9, 67e12, 989e12),
        Gpu("H200", "sm_90a", 132, HOPPER, 4800e9, 67e12, 989e12),
    )
}
DEFAULT = "A100"


def gpu_named(name: str) -> Gpu:
    """The GPU of that name, the default one for "". Raises CompileValueError for another name."""
    found = GPUS.get((name or DEFAULT).upper())
    if found is None:
        end = did_you_mean(name.upper(), GPUS) or f"; there are {', '.join(GPUS)}"
        raise CompileValueError(f"no GPU {name!r} is known{end}", where=())
    return found


@dataclass(frozen=True)
class Occupancy:
    """How many blocks of a kernel a multiprocessor runs at once, and the warps that this makes of
    those that it could hold. limits: how many blocks each resource has room for."""

    blocks: int
    warps: int
    most_warps: int
    limits: dict[str, int]

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that have room for no more."""
        return tuple(name for name, room in self.limits.items() if room == self.blocks)


REGISTER_UNIT = 256
"""Registers are handed out to a warp in units of so many."""
SHARED_UNIT = 128
"""And shared memory to a block in units of so many bytes."""
PARTITIONS = 4
"""A multiprocessor's registers are those of four partitions, in one of which a warp stays."""


def occupancy(holds: Multiprocessor, threads: int, registers: int, shared: int) -> Occupancy:
    """The occupancy of blocks of so many threads, with registers a thread and bytes of shared
    memory a block (CUDA C++ Programming Guide, "Occupancy Calculator", and the header
    `cuda_occupancy.h` that it names)."""
    warps = -(-threads // 32)
    limits = {"warps": holds.warps // warps, "blocks": holds.blocks}
    if registers:
        per_warp = -(-registers * 32 // REGISTER_UNIT) * REGISTER_UNIT
        room = holds.registers // PARTITIONS // per_warp * PARTITIONS
        limits["registers"] = room // warps
    if shared + holds.reserved:
        taken = -(-(shared + holds.reserved) // SHARED_UNIT) * SHARED_UNIT
        limits["shared memory"] = holds.shared // taken if shared <= holds.block_shared else 0
    blocks = min(limits.values())
    return Occupancy(blocks, blocks * warps, holds.warps, limits)
