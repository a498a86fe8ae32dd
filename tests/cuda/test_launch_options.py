"""What the options of a launch make of CUDA code: stages, registers, fusion, and the precision of
f32 products."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileValueError
from mytriton.targets.cuda.launch import nvrtc

needs_nvrtc = pytest.mark.skipif(bool(nvrtc.available()), reason=nvrtc.available())


@triton.jit
def product(a, b, c, N: tl.constexpr, P: tl.constexpr = None):
    i = tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    for k in range(0, N, 16):
        j = k + tl.arange(0, 16)
        left = tl.load(a + i[:, None] * N + j[None, :])
        right = tl.load(b + j[:, None] * N + i[None, :])
        acc = tl.dot(left, right, acc, input_precision=P)
    tl.store(c + i[:, None] * N + i[None, :], acc)


@triton.jit
def fused(x, y, z, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(z + i, tl.load(x + i) * tl.load(y + i) + 1.25)


def blocks(dtype=np.float32, n=64):
    return [np.ones((n, n), dtype), np.ones((n, n), dtype), np.zeros((n, n), np.float32)]


def test_f32_products_are_tf32_on_a_gpu_unless_they_say(monkeypatch):
    text = str(product[(1,)](*blocks(), N=64, num_warps=4).cuda_src)
    assert "mma_tf32" in text
    text = str(product[(1,)](*blocks(), N=64, P="ieee", num_warps=4).cuda_src)
    assert "mma_tf32" not in text
    monkeypatch.setenv("MYTRITON_F32_DOT", "ieee")
    text = str(product[(1,)](*blocks(n=32), N=32, num_warps=4).cuda_src)
    assert "mma_tf32" not in text
    monkeypatch.setenv("MYTRITON_F32_DOT", "half")
    with pytest.raises(CompileValueError, match="MYTRITON_F32_DOT=half: must be one of ieee, tf32"):
        product[(1,)](*blocks(n=16), N=16, num_warps=4)


@pytest.mark.parametrize("target", ["cpu", "interpret", "cudasim"])
def test_f32_products_are_exact_elsewhere(target):
    a, b, c = blocks(n=16)
    a += np.float32(2.0**-20)
    product[(1,)](a, b, c, N=16, target=target)
    np.testing.assert_array_equal(c, (a.astype(np.float64) @ b).astype(np.float32))
    product[(1,)](a, b, c, N=16, P="tf32", target=target)
    np.testing.assert_array_equal(c, np.full((16, 16), 16, np.float32))


def test_stages_are_those_of_the_launch():
    texts = {}
    for stages in (1, 2, 5, None):
        given = {} if stages is None else {"num_stages": stages}
        compiled = product[(1,)](*blocks(np.float32), N=64, num_warps=4, **given)
        texts[stages] = str(compiled.cuda_src)
        assert compiled.metadata.num_stages == (3 if stages is None else stages)
        assert compiled.metadata.shared > 0
    assert "copy_async" not in texts[1]


@needs_nvrtc
def test_registers_are_limited_and_spills_counted():
    free = product[(1,)](*blocks(np.float16), N=64, num_warps=1)
    tight = product[(1,)](*blocks(np.float16), N=64, num_warps=1, maxnreg=32)
    assert free.n_spills == 0
    assert free.n_regs > 32 >= tight.n_regs
    assert tight.n_spills > 0


@needs_nvrtc
def test_fusion_can_be_turned_off():
    given = [np.ones(64, np.float32) for _ in range(3)]
    for warps in ({}, {"num_warps": 2}):
        assert "fma.rn" in fused[(1,)](*given, N=64, **warps).asm["ptx"]
        assert "fma.rn" not in fused[(1,)](*given, N=64, **warps, enable_fp_fusion=False).asm["ptx"]
