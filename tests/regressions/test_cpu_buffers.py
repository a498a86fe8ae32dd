"""A block computed before a branch or loop can be read after it, whether that ran or not."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere


@triton.jit
def turned_in_a_branch(out, n):
    at = tl.arange(0, 32)
    value = at
    if n > 5:
        value = tl.flip(at)
    tl.store(out + at, value + at)


@triton.jit
def turned_in_a_loop(out, n):
    at = tl.arange(0, 32)
    value = at * 0
    for _ in range(n):
        value += tl.flip(at)
    tl.store(out + at, value + at)


@triton.jit
def turned_in_a_branch_that_stores(x, out, n):
    at = tl.arange(0, 32)
    turned = tl.ravel(tl.trans(tl.reshape(at, (8, 4))))
    if n > 5:
        tl.store(x + at, turned)
    tl.store(out + at, turned)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_a_block_turned_in_a_branch(n: int) -> None:
    at, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    expected = {"out": np.full(32, 31, np.int32) if n > 5 else at * 2}
    run_everywhere(turned_in_a_branch, (1,), out, n, expected=expected)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_a_block_turned_in_a_loop(n: int) -> None:
    at, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    run_everywhere(turned_in_a_loop, (1,), out, n, expected={"out": at + n * at[::-1]})


@pytest.mark.parametrize("n", [0, 9])
def test_a_block_turned_for_a_store_in_a_branch(n: int) -> None:
    turned = np.arange(32, dtype=np.int32).reshape(8, 4).T.ravel()
    x, out = np.zeros(32, np.int32), np.zeros(32, np.int32)
    expected = {"x": turned if n > 5 else x, "out": turned}
    run_everywhere(turned_in_a_branch_that_stores, (1,), x, out, n, expected=expected)
