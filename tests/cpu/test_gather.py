"""Gather on the CPU target reads nothing outside the block."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl


@triton.jit
def pick_kernel(x, index, out, N: tl.constexpr, M: tl.constexpr):
    picked = tl.gather(tl.load(x + tl.arange(0, N)), tl.load(index + tl.arange(0, M)), 0)
    tl.store(out + tl.arange(0, M), picked)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
def test_an_index_outside_the_block_takes_the_nearest_element(dtype: type) -> None:
    x = np.arange(100, 300, dtype=np.float32)
    ends = np.iinfo(dtype)
    index = np.array([0, 1, ends.max, ends.min, 99, ends.max - 1, 5], dtype)
    out = np.zeros(7, np.float32)
    pick_kernel[(1,)](x, index, out, N=200, M=7, target="cpu")
    inside = [min(max(int(i), 0), 199) for i in index]
    np.testing.assert_array_equal(out, x[inside])
