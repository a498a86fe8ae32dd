"""NVRTC as a judge of CUDA texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mytriton.targets.cuda.launch import nvrtc as compiler
from mytriton.targets.cuda.source import CudaSource
from tests.support.cuda import compile_everywhere


@pytest.fixture
def nvrtc() -> Callable[[CudaSource | str], str]:
    """Compiles a text for every architecture that the project promises; the PTX for sm_80.

    def test_text(nvrtc):
        nvrtc(source)
    """
    if reason := compiler.available():
        pytest.skip(reason)
    return compile_everywhere
