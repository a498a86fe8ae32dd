"""A block that a loop carries is another one in each turn, in whatever layout it is asked for; an
op's operands are brought to their places before its use of shared memory begins."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere

ROWS, COLUMNS, TURNS = 8, 32, 3


@triton.jit
def by_for(x, out, n):
    r, c = tl.arange(0, 8)[:, None], tl.arange(0, 32)[None, :]
    block = tl.load(x + r * 32 + c)
    for k in range(n):
        tl.store(out + k * 256 + c * 8 + r, block)
        block = tl.cumsum(block, 0)


@triton.jit
def by_while(x, out, n):
    r, c = tl.arange(0, 8)[:, None], tl.arange(0, 32)[None, :]
    block = tl.load(x + r * 32 + c)
    k = n * 0
    while k < n:
        tl.store(out + k * 256 + c * 8 + r, block)
        block = tl.cumsum(block, 0)
        k += 1


@pytest.mark.parametrize("kernel", [by_for, by_while], ids=["for", "while"])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_a_carried_block_in_another_layout(kernel, warps):
    x = np.random.default_rng(warps).integers(0, 9, (ROWS, COLUMNS)).astype(np.int32)
    turns = [x]
    while len(turns) < TURNS:
        turns.append(np.cumsum(turns[-1], 0, dtype=np.int32))
    expected = np.stack([turn.T for turn in turns])
    out = np.zeros_like(expected)
    run_everywhere(kernel, (1,), x, out, TURNS, expected={"out": expected}, num_warps=warps)


@triton.jit
def product_of_what_moves(x, out):
    r, c = tl.arange(0, 8)[:, None], tl.arange(0, 8)[None, :]
    block = tl.load(x + r * 8 + c)
    other = block - tl.max(block, 1, keep_dims=True)
    product = tl.dot((block & 7).to(tl.int8), tl.trans((other & 7).to(tl.int8)))
    picked = tl.gather(product, tl.trans(block) & 7, 1)
    tl.store(out + r * 8 + c, picked)


@pytest.mark.parametrize("warps", [1, 4, 8])
def test_operands_are_moved_before_an_op_uses_shared_memory(warps):
    x = np.random.default_rng(warps).integers(0, 99, (8, 8)).astype(np.int32)
    other = x - x.max(1, keepdims=True)
    expected = np.take_along_axis((x & 7) @ (other & 7).T, x.T & 7, 1)
    out = np.zeros_like(x)
    run_everywhere(product_of_what_moves, (1,), x, out, expected={"out": expected}, num_warps=warps)
