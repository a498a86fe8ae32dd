"""What NVRTC refuses is shown with its log and the numbered text."""

from __future__ import annotations

import pytest

from mytriton.targets.cuda import NvrtcError, compile_nvrtc


def test_a_refused_text_is_shown_numbered(nvrtc):
    with pytest.raises(NvrtcError) as error:
        nvrtc('extern "C" __global__ void k() {\n    int x = y;\n}')
    assert 'identifier "y" is undefined' in error.value.log
    assert "   2     int x = y;" in str(error.value)


def test_the_architecture_is_the_one_asked_for(nvrtc):
    text = 'extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1; }'
    nvrtc(text)
    for arch in ("sm_80", "sm_90a"):
        compiled = compile_nvrtc(text, arch)
        assert f".target {arch}" in compiled.ptx and "st.global" in compiled.ptx
        assert compiled.cubin.startswith(b"\x7fELF")
        assert compiled is compile_nvrtc(text, arch)
