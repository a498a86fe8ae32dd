"""The CUDA target: an optimised function as CUDA C++, compiled by NVRTC, launched through CuPy or
simulated.

    source = generate(function)             # source.text, source.threads_per_block
    compile_nvrtc(source.text, "sm_80")     # needs no GPU
    launch(source, (4, 1, 1), arguments)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import CompileOptions, Device, Grid, Launcher
from ..memory import Argument
from .generate import Options, generate
from .launch.driver import launch, launcher
from .launch.nvrtc import Compiled, NvrtcError, compile_nvrtc
from .source import CudaSource, Parameter
from .specialise import Variants


@dataclass(frozen=True)
class OnGPU:
    """A CUDA text that runs on a GPU."""

    variants: Variants

    def launch(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        launch(self.variants.of(grid, arguments), grid, arguments)

    def launcher(self, device: Device | None) -> Launcher:
        """`launch` on addresses; see `QuickExecutable`."""
        assert device is not None, "a GPU's kernel has arrays on it"
        return launcher(self.variants, device)


def compile(source: CudaSource, options: CompileOptions) -> OnGPU:
    """The executable of a CUDA text; NVRTC compiles it at the first launch, for the device."""
    return OnGPU(Variants(source, options.overlap, options.fixed))


__all__ = [
    "Compiled",
    "CudaSource",
    "NvrtcError",
    "Options",
    "Parameter",
    "compile",
    "compile_nvrtc",
    "generate",
    "launch",
]
