"""Products of bytes and of bf16 by the processor's own instructions, and where there are none."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.host import host, made_for

HERE = host()
WITHOUT_TILES = replace(HERE, features=HERE.features.replace("+amx-bf16", "-amx-bf16"), tiles=False)
MACHINES = pytest.mark.parametrize("machine", [HERE, WITHOUT_TILES], ids=["here", "without tiles"])
SHAPES = [(1, 4, 4), (16, 16, 16), (13, 20, 8), (12, 32, 2), (5, 36, 12), (24, 48, 30), (3, 7, 5)]
SHAPES += [(40, 96, 64), (2, 64, 100), (16, 16, 64), (32, 32, 128), (48, 80, 192), (16, 48, 32)]


@triton.jit
def product_kernel(x, y, acc, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    left = tl.load(x + rows * K + depth[None, :])
    right = tl.load(y + depth[:, None] * N + columns)
    place = rows * N + columns
    tl.store(out + place, tl.dot(left, right, tl.load(acc + place), out_dtype=acc.dtype.element_ty))


@MACHINES
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_products_of_bytes(machine, m, n, k):
    """Also those whose correction is largest, and sums that wrap."""
    generator = np.random.default_rng(m)
    for low, high in ((-128, 128), (-128, -127), (127, 128)):
        x = generator.integers(low, high, (m, k)).astype(np.int8)
        y = generator.integers(low, high, (k, n)).astype(np.int8)
        acc = generator.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
        out = np.zeros((m, n), np.int32)
        product_kernel.clear_cache()
        with made_for(machine):
            made = product_kernel[(1,)](x, y, acc, out, M=m, N=n, K=k, target="cpu")
            text = made.llvm
        np.testing.assert_array_equal(out, acc + x.astype(np.int32) @ y.astype(np.int32))
    product_kernel.clear_cache()
    tiles = machine.tiles and m % 16 == n % 16 == k % 64 == 0
    assert ("tdpbssd" in text) == tiles
    if machine.has("avx512vnni") and not tiles:
        assert ("vpdpbusd" in text) == (n % 4 == 0 and k % 4 == 0)


@MACHINES
@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_products_of_bf16(machine, m, n, k):
    generator = np.random.default_rng(m)
    x = generator.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
    y = generator.standard_normal((k, n)).astype(ml_dtypes.bfloat16)
    x[0, 0], y[0, 0] = 3e38, np.inf
    acc, out = generator.standard_normal((m, n)).astype(np.float32), np.zeros((m, n), np.float32)
    product_kernel.clear_cache()
    with made_for(machine):
        made = product_kernel[(1,)](x, y, acc, out, M=m, N=n, K=k, target="cpu")
        text = made.llvm
    product_kernel.clear_cache()
    with np.errstate(all="ignore"):
        exact = acc + x.astype(np.float64) @ y.astype(np.float64)
        np.testing.assert_allclose(out, exact.astype(np.float32), rtol=1e-5, atol=1e-5)
    assert ("tdpbf16ps" in text) == (machine.tiles and m % 16 == n % 16 == k % 32 == 0)
    if machine.has("avx512bf16") and not machine.has("amx-bf16"):
        assert ("dpbf16ps" in text) == (n % 4 == 0 and k % 2 == 0)


@triton.jit
def batch_kernel(x, y, out, B: tl.constexpr, M: tl.constexpr):
    batch = tl.arange(0, B)[:, None, None] * M * M
    place = batch + tl.arange(0, M)[None, :, None] * M + tl.arange(0, M)[None, None, :]
    tl.store(out + place, tl.dot(tl.load(x + place), tl.load(y + place), out_dtype=tl.int32))


def test_a_batch_of_products_of_bytes():
    x, y = np.random.default_rng(0).integers(-128, 128, (2, 3, 16, 16)).astype(np.int8)
    out = np.zeros((3, 16, 16), np.int32)
    batch_kernel[(1,)](x, y, out, B=3, M=16, target="cpu")
    np.testing.assert_array_equal(out, x.astype(np.int32) @ y.astype(np.int32))


@triton.jit
def printing_kernel(x, y, out, n, M: tl.constexpr, K: tl.constexpr):
    left = tl.load(x + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    right = tl.load(y + tl.arange(0, K)[:, None] * M + tl.arange(0, M)[None, :])
    total = tl.zeros((M, M), tl.int32)
    for turn in range(n):
        total = tl.dot(left, right, total, out_dtype=tl.int32)
        tl.device_print("turn", turn)
    tl.store(out + tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :], total)


def test_a_print_may_use_the_matrix_unit_itself(monkeypatch):
    x, y = np.random.default_rng(0).integers(-128, 128, (2, 64 * 64)).astype(np.int8)
    out, other = np.zeros((64, 64), np.int32), np.zeros((16, 16), np.int32)
    acc = np.zeros_like(other)

    def shown(*_):
        product_kernel[(1,)](x, y, acc, other, M=16, N=16, K=64, target="cpu")

    monkeypatch.setattr("builtins.print", shown)
    printing_kernel[(1,)](x, y, out, 3, M=64, K=64, target="cpu")
    expected = 3 * (x.reshape(64, 64).astype(np.int32) @ y.reshape(64, 64).astype(np.int32))
    np.testing.assert_array_equal(out, expected)
