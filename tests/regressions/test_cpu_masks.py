"""A mask that the CPU's unmasked loop takes to be true keeps its value for every other use."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere


@triton.jit
def add_pairs(a, b, c, d):
    return a + c, b + d


@triton.jit
def sum_and_count(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total, count = tl.reduce((tl.load(x + at, at < n, 0.0), (at < n).to(tl.float32)), 0, add_pairs)
    tl.store(out, total)
    tl.store(out + 1, count)


@triton.jit
def count_by_choice(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    chosen = tl.where(at < n, 2.0, 1.0)
    tl.store(out + at, tl.load(x + at, at < n, 0.0) + chosen)


@pytest.mark.parametrize("n", [0, 1, 63, 70, 127, 128])
def test_a_mask_that_is_counted_beside_the_load_it_guards(n: int) -> None:
    """In the masked version of the loop the count sees the mask's own value."""
    x = np.ones(128, np.float32)
    want = np.array([n, n], np.float32)
    run_everywhere(
        sum_and_count, (1,), x, np.zeros(2, np.float32), n, BLOCK=128, expected={"out": want}
    )


@pytest.mark.parametrize("n", [0, 5, 70, 128])
def test_a_mask_that_chooses_beside_the_load_it_guards(n: int) -> None:
    x = np.zeros(128, np.float32)
    want = np.where(np.arange(128) < n, 2.0, 1.0).astype(np.float32)
    out = np.zeros(128, np.float32)
    run_everywhere(count_by_choice, (1,), x, out, n, BLOCK=128, expected={"out": want})
