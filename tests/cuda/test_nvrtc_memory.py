"""NVRTC writes into memory of ours only."""

from __future__ import annotations

import pytest

from mytriton.targets.cuda import compile_nvrtc
from mytriton.targets.cuda.launch import nvrtc


@pytest.mark.skipif(bool(nvrtc.available()), reason=nvrtc.available() or "")
def test_an_empty_log_leaves_pythons_shared_bytes_alone() -> None:
    text = 'extern "C" __global__ void leaves_shared_bytes_alone() {}'
    assert compile_nvrtc(text).log == "\0".rstrip("\0")
    assert bytes(bytearray([32]))[0] == 32
