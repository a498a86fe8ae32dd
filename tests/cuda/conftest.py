"""What the CUDA tests share: NVRTC as a judge of every text, and kernels built op by op."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mytriton.targets.cuda import nvrtc as compiler
from mytriton.targets.cuda.source import CudaSource

ARCHITECTURES = ("sm_80", "sm_90a")


@pytest.fixture
def nvrtc() -> Callable[[CudaSource | str], str]:
    """Compiles a text for every architecture that the project promises; the PTX for sm_80.

    def test_text(nvrtc):
        nvrtc(source)
    """
    if reason := compiler.available():
        pytest.skip(reason)
    return compile_everywhere


def compile_everywhere(source: CudaSource | str) -> str:
    """The PTX for sm_80 of a text that every architecture takes."""
    text = source if isinstance(source, str) else source.text
    compiled = [compiler.compile_nvrtc(text, arch) for arch in ARCHITECTURES]
    return compiled[0].ptx
