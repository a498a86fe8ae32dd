"""All loads of a statement come before its stores, whatever the arguments share."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl


@triton.jit
def shift_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask), mask)


@pytest.mark.parametrize("n", [1, 5, 64, 255, 256])
@pytest.mark.parametrize("distance", [-17, -1, 0, 1, 16, 40])
def test_a_copy_over_itself_reads_all_first(n, distance):
    memory = np.arange(400, dtype=np.float32)
    source, target = memory[50 : 50 + n], memory[50 + distance : 50 + distance + n]
    expected = memory.copy()
    expected[50 + distance : 50 + distance + n] = source
    shift_kernel[(1,)](source, target, n, BLOCK=256, target="cpu")
    np.testing.assert_array_equal(memory, expected)


@triton.jit
def move_within_kernel(x, n, distance, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x + distance + offsets, tl.load(x + offsets, mask), mask)


@pytest.mark.parametrize("distance", [0, 1, 16, 100])
def test_one_argument_at_two_offsets(distance):
    memory = np.arange(400, dtype=np.float32)
    expected = memory.copy()
    expected[distance : distance + 200] = memory[:200]
    move_within_kernel[(1,)](memory, 200, distance, BLOCK=256, target="cpu")
    np.testing.assert_array_equal(memory, expected)


@triton.jit
def swap_kernel(x, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    left, right = tl.load(x + offsets), tl.load(y + offsets)
    tl.store(x + offsets, right)
    tl.store(y + offsets, left)


@pytest.mark.parametrize("overlap", [False, True])
def test_a_swap(overlap):
    memory = np.arange(128, dtype=np.int32)
    x, y = memory[:64], memory[64 - 16 * overlap : 128 - 16 * overlap]
    left, right = x.copy(), y.copy()
    swap_kernel[(1,)](x, y, BLOCK=64, target="cpu")
    np.testing.assert_array_equal(y, left)
    if not overlap:
        np.testing.assert_array_equal(x, right)


@triton.jit
def read_back_kernel(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    before = tl.load(x + offsets)
    tl.store(x + BLOCK - 1 - offsets, before + 1)
    after = tl.load(x + offsets)
    tl.store(out + offsets, before * 1000 + after)


@pytest.mark.parametrize("block", [1, 16, 100, 257])
def test_a_load_after_a_store_sees_it_and_one_before_does_not(block):
    x, out = np.arange(block, dtype=np.int32), np.zeros(block, np.int32)
    before = x.copy()
    read_back_kernel[(1,)](x, out, BLOCK=block, target="cpu")
    np.testing.assert_array_equal(x, before[::-1] + 1)
    np.testing.assert_array_equal(out, before * 1000 + before[::-1] + 1)


@triton.jit
def reverse_rows_kernel(x, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + rows * N + columns)
    tl.store(x + (M - 1 - rows) * N + (N - 1 - columns), value)


def test_a_block_reversed_in_place():
    x = np.arange(7 * 24, dtype=np.float64).reshape(7, 24)
    expected = x[::-1, ::-1].copy()
    reverse_rows_kernel[(1,)](x, M=7, N=24, target="cpu")
    np.testing.assert_array_equal(x, expected)


@triton.jit
def fill_kernel(x, y, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + offsets), axis=0)
    tl.store(y, total)
    tl.store(out + offsets, tl.load(x + offsets) + total)


def test_a_scalar_store_into_what_is_read_again():
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    total = x.sum()
    expected = x + total
    expected[3] = 2 * total
    fill_kernel[(1,)](x, x[3:], out, BLOCK=64, target="cpu")
    np.testing.assert_array_equal(out, expected)
