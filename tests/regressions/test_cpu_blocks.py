"""Blocks at the edges of the CPU's loops: short rows, reduced axes, blocks carried by loops."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere
from tests.support.block_functions import check_everywhere


def test_a_masked_load_inside_the_loop_over_the_reduced_axis():
    """Its address depends on that loop and is computed inside it."""
    x = np.arange(8 * 33, dtype=np.int32).reshape(8, 33)
    check_everywhere(lambda x: tl.sum(x, 0), lambda x: x.sum(0, dtype=np.int32), [x])


def test_a_reduced_axis_of_extent_one_beside_a_long_one():
    x = np.arange(2, dtype=np.int32).reshape(2, 1)
    check_everywhere(lambda x: tl.sum(x, 1), lambda x: x.sum(1, dtype=np.int32), [x])


def test_an_ordered_reduction_of_each_row():
    x = np.arange(4, dtype=np.int32).reshape(2, 2)
    check_everywhere(lambda x: tl.reduce(x, 1, lambda a, b: a), lambda x: x[:, 0].copy(), [x])


def test_a_row_a_little_longer_than_a_vector():
    """The elements past the last whole vector are computed one by one."""
    index = (np.arange(17) * 29 + 1) % 17

    def body(x):
        rows = (tl.arange(0, 17) * 29 + 1) % 17
        return tl.broadcast_to(rows[None, :, None], (4, 17, 4)) + x

    x = np.zeros((4, 17, 4), np.int32)
    check_everywhere(body, lambda x: x + index[None, :, None].astype(np.int32), [x])


def test_a_sort_beside_the_loop_over_programs():
    """An intrinsic that both need is declared once."""
    x = np.array([3, 1, 2], np.int32)
    check_everywhere(lambda x: tl.sort(x), np.sort, [x])


@triton.jit
def grown_kernel(blocks, n, m):
    lanes = tl.arange(0, 5)
    v = tl.load(blocks + lanes)
    if n > m:
        for _ in range(n):
            v = v + n
    tl.store(blocks + lanes, v)


def test_a_block_that_a_loop_in_a_branch_carries():
    """After the loop it is where the rest of the program reads it."""
    blocks = np.arange(5, dtype=np.int32)
    for n, wanted in ((3, blocks + 9), (1, blocks)):
        run_everywhere(grown_kernel, (1,), blocks, n, 2, expected={"blocks": wanted})


@triton.jit
def entering_kernel(x, out, n, first, BLOCK: tl.constexpr):
    places = first + tl.arange(0, BLOCK)
    inside = (places >= 0) & (places < n)
    tl.store(out + places, tl.load(x + places, mask=inside) + 1, mask=inside)


def test_a_block_that_begins_before_the_array():
    """A lower bound that the first lane misses says nothing of the lanes after it."""
    x = np.arange(5, dtype=np.float32) + 3
    for first, wanted in ((-1, x[:1]), (-3, x[:0]), (2, x[2:4])):
        out = np.zeros(5, np.float32)
        expected = out.copy()
        expected[max(first, 0) : max(first, 0) + len(wanted)] = wanted + 1
        run_everywhere(entering_kernel, (1,), x, out, 5, first, BLOCK=2, expected={"out": expected})
