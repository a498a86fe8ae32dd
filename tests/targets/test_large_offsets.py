"""Addresses past 2³¹ bytes and elements, on arrays of which only a few pages exist."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import available, launch

FAR = (1 << 31) + 4096


@pytest.fixture(scope="module")
def huge():
    """Three GiB of bytes; memory is taken for what is touched."""
    return np.empty(3 << 30, np.uint8)


@triton.jit
def far_kernel(x, out, start: tl.int64, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(x + start + lanes, (lanes * 3).to(tl.uint8))
    tl.store(out + lanes, tl.load(x + (start + lanes)))


@triton.jit
def strided_kernel(x, out, stride: tl.int64, BLOCK: tl.constexpr):
    """Rows so far apart that the last one begins past 2³¹."""
    rows = tl.arange(0, BLOCK)
    tl.store(x + rows * stride, rows.to(tl.uint8))
    tl.store(out + rows, tl.load(x + rows * stride))


@pytest.mark.parametrize("target", available())
@pytest.mark.parametrize("start", [FAR, (1 << 31) - 8])
def test_a_block_past_two_gigabytes(huge, target, start):
    out = np.zeros(16, np.uint8)
    launch(target, far_kernel, (1,), huge, out, start, BLOCK=16)
    assert out.tolist() == list(range(0, 48, 3))
    assert huge[start : start + 16].tolist() == out.tolist()


@pytest.mark.parametrize("target", available())
def test_rows_that_are_far_apart(huge, target):
    stride = 700_000_000
    out = np.zeros(4, np.uint8)
    launch(target, strided_kernel, (1,), huge, out, stride, BLOCK=4)
    assert out.tolist() == [0, 1, 2, 3]
    assert huge[::stride][:4].tolist() == [0, 1, 2, 3]


@triton.jit
def wrapping_kernel(out, stride):
    """program_id * stride wraps at 32 bits; the wrapped number is stored, not used as an offset."""
    pid = tl.program_id(0)
    tl.store(out + pid, pid * stride)


@pytest.mark.parametrize("target", available())
def test_an_i32_offset_wraps(target):
    out = np.zeros(4, np.int64)
    launch(target, wrapping_kernel, (4,), out, 1 << 30)
    assert out.tolist() == [0, 1 << 30, -(1 << 31), -(1 << 30)]
