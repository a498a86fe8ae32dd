"""Compile time grows with the number of statements, not with its square."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl


@triton.jit
def many_kernel(x, y, n, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    for i in tl.static_range(N):
        value = tl.load(x + lanes + i * 64, mask=lanes < n)
        tl.store(y + lanes + i * 64, value + i, mask=lanes < n)


@triton.jit
def dependent_kernel(x, y, n, N: tl.constexpr):
    """Each statement reads what the one before wrote."""
    lanes = tl.arange(0, 64)
    for i in tl.static_range(N):
        value = tl.load(x + lanes + i * 32, mask=lanes < n)
        tl.store(x + lanes + i * 32 + 32, value + 1, mask=lanes < n)


def seconds(kernel, count: int) -> float:
    x = np.zeros(64 * (count + 1), np.float32)
    start = process_time()
    kernel[(1,)](x, np.zeros_like(x), 50, N=count, target="cpu")
    return process_time() - start


@pytest.mark.parametrize("kernel", [many_kernel, dependent_kernel])
def test_four_times_the_statements_take_about_four_times_as_long(kernel, monkeypatch):
    monkeypatch.setenv("MYTRITON_CHECK", "0")
    seconds(kernel, 8)
    few, many = seconds(kernel, 50), seconds(kernel, 200)
    assert many < 8 * few + 0.2
    x, y = np.arange(64 * 51, dtype=np.float32), np.zeros(64 * 51, np.float32)
    many_kernel[(1,)](x, y, 50, N=50, target="cpu")
    step = np.arange(64 * 51) // 64
    want = np.where((np.arange(64 * 51) % 64 < 50) & (step < 50), x + step, 0)
    np.testing.assert_array_equal(y, want)
