"""What a compiled kernel takes, and the instructions that memory accesses and products become."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from benchmarks.cuda_static import ARCHITECTURES, CASES, text_of
from mytriton.errors import CompileValueError
from mytriton.targets.cuda import compile_nvrtc
from mytriton.targets.cuda.launch import machine_code, nvrtc

pytestmark = pytest.mark.skipif(bool(nvrtc.available()), reason=nvrtc.available())
WANTED = {
    "add 1024": {"LDG.128": 4, "STG.128": 2},
    "softmax 1024": {"LDG.128": 1, "STG.128": 1, "SHFL": 10, "BAR": 2},
    "matmul 128x128x64": {"LDGSTS.128": 24, "STG.128": 16, "LDSM": 24, "HMMA": 64, "BAR": 3},
    "attention 64x64, d 64": {"LDGSTS.128": 24, "LDG.128": 4, "LDSM": 36, "HMMA": 64},
}
"""Vector accesses, exchanges and tensor-core instructions; none of them touches local memory."""


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_instructions(case, architecture):
    try:
        machine_code.nvdisasm()
    except CompileValueError as error:
        pytest.skip(str(error))
    cubin = compile_nvrtc(text_of(case), architecture).cubin
    counts = machine_code.instructions(machine_code.sass(cubin))
    assert {name: counts[name] for name in WANTED[case.name]} == WANTED[case.name]
    assert not counts["LDL"] and not counts["STL"], "registers are spilled"
    assert 8 <= machine_code.resources(cubin).registers <= 255


@triton.jit
def fill(out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), 1.0)


def test_a_compiled_kernel_says_how_many_registers_it_takes():
    out = np.zeros(64, np.float32)
    assert 2 <= fill[(1,)](out, BLOCK=64).n_regs <= 32
    assert fill[(1,)](out, BLOCK=64, target="cpu").n_regs == 0
