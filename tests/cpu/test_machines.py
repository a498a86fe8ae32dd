"""The same kernels made for smaller machines than this one: no masks, no gathers, no f16."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.host import made_for

from .machines import HERE, MACHINES

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or HERE.vector_bytes < 32,
    reason="needs an x86 processor with AVX2",
)


@pytest.fixture(params=[name for name in MACHINES if name != "here"])
def machine(request):
    """Makes code for another machine."""
    with made_for(MACHINES[request.param]) as other:
        yield other


@triton.jit
def rows_kernel(x, out, index, n, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    mask = columns < n
    value = tl.load(x + row * n + columns, mask, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, axis=0))
    result = power / tl.sum(power, axis=0)
    picked = tl.load(index + columns, mask, other=0)
    tl.store(out + row * n + picked, result.to(out.dtype.element_ty), mask)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 64, 100])
def test_a_softmax_scattered(machine, dtype, n):
    generator = np.random.default_rng(n)
    x, out = generator.standard_normal((5, n)).astype(dtype), np.zeros((5, n), dtype)
    index = generator.permutation(n).astype(np.int32)
    rows_kernel.clear_cache()
    rows_kernel[(5,)](x, out, index, n, BLOCK=128, target="cpu")
    rows_kernel.clear_cache()
    power = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    expected = np.zeros((5, n))
    expected[:, index] = power / power.sum(1, keepdims=True)
    tolerance = 1e-3 if dtype == np.float16 else 1e-6
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=tolerance, atol=tolerance)


@triton.jit
def product_kernel(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(left, right))


@pytest.mark.parametrize("extents", [(1, 1, 1), (13, 7, 5), (16, 33, 20), (37, 64, 16)])
def test_products(machine, extents):
    m, n, k = extents
    a, b = (np.random.default_rng(s).integers(-9, 9, e) for s, e in ((0, (m, k)), (1, (k, n))))
    out = np.zeros((m, n), np.float32)
    product_kernel.clear_cache()
    product_kernel[(1,)](
        a.astype(np.float32), b.astype(np.float32), out, M=m, N=n, K=k, target="cpu"
    )
    product_kernel.clear_cache()
    np.testing.assert_array_equal(out, a @ b)


@triton.jit
def bytes_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets < n) & (offsets % 3 != 0)
    tl.store(out + offsets, tl.load(x + offsets, mask, other=1) * 3, mask)


@pytest.mark.parametrize("n", [0, 5, 200, 255])
def test_masked_bytes(machine, n):
    x, out = np.arange(256).astype(np.int8), np.full(256, 77, np.int8)
    place = np.arange(256)
    bytes_kernel.clear_cache()
    bytes_kernel[(2,)](x, out, n, BLOCK=128, target="cpu")
    bytes_kernel.clear_cache()
    expected = np.where((place < n) & (place % 3 != 0), x * np.int8(3), 77)
    np.testing.assert_array_equal(out, expected.astype(np.int8))
