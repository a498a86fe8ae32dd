"""`tl.target_info`: what a kernel may ask about the machine it is compiled for.

A kernel that asks is written for NVIDIA GPUs or others; here it is told it runs on an
NVIDIA GPU, whichever target runs it, so that it takes the path whose meaning Triton defines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .scalars import constexpr_function


@dataclass(frozen=True)
class GPUTarget:
    """A backend, its architecture (compute capability × 10) and lanes of a warp."""

    backend: str
    arch: int
    warp_size: int


TARGET = GPUTarget("cuda", 80, 32)
"""The oldest architecture that has all the language needs: what code is guarded by is then off."""


def current_target(_semantic: Any = None) -> GPUTarget:
    """The machine kernels are told they run on."""
    return TARGET


@constexpr_function
def is_cuda() -> bool:
    """True: kernels take their NVIDIA path."""
    return current_target().backend == "cuda"


@constexpr_function
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Whether the compute capability is at least major.minor."""
    return current_target().arch >= major * 10 + minor


@constexpr_function
def is_hip() -> bool:
    """False: there is no AMD target."""
    return False


def _never(name: str) -> Any:
    def answer() -> bool:
        return False

    answer.__name__ = name
    answer.__doc__ = "False: there is no AMD target."
    return answer


is_hip_cdna3, is_hip_cdna4 = _never("is_hip_cdna3"), _never("is_hip_cdna4")
is_hip_gfx1250 = _never("is_hip_gfx1250")
