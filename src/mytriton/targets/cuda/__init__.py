"""The CUDA target: an optimised function as CUDA C++, compiled by NVRTC, launched through CuPy or
simulated.

    source = generate(function)             # source.text, source.threads_per_block
    compile_nvrtc(source.text, "sm_80")     # needs no GPU
    launch(source, (4, 1, 1), arguments)
"""

from __future__ import annotations

from . import control, memory, report, values
from .driver import launch
from .lane import generate
from .nvrtc import Compiled, NvrtcError, compile_nvrtc
from .source import CudaSource, Parameter

_RULES = (values, memory, control, report)
"""The modules that register the lane rule's ops; imported for that."""

__all__ = [
    "Compiled",
    "CudaSource",
    "NvrtcError",
    "Parameter",
    "compile_nvrtc",
    "generate",
    "launch",
]
