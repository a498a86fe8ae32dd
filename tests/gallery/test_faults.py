"""The kernels of the gallery that the compiler once got wrong, made small; one test a fault."""

from __future__ import annotations

import pytest
import torch

import mytriton as triton
import mytriton.language as tl

TARGETS = pytest.mark.parametrize("target", ["interpret", "cpu"])


@triton.jit
def swap_pairs(x_ptr, y_ptr, BLOCK: tl.constexpr):
    pairs = tl.arange(0, BLOCK)[:, None] * 2 + tl.arange(0, 2)[None, :]
    a, b = tl.split(tl.load(x_ptr + pairs))
    tl.store(y_ptr + pairs, tl.join(b - tl.cos(a), a))


@TARGETS
@pytest.mark.parametrize("block", [1, 16])
def test_both_halves_of_a_split_are_used_in_one_loop(target: str, block: int) -> None:
    x, y = torch.rand(block, 2), torch.empty(block, 2)
    with triton.target(target):
        swap_pairs[(1,)](x, y, BLOCK=block)
    torch.testing.assert_close(y, torch.stack([x[:, 1] - x[:, 0].cos(), x[:, 0]], dim=1))


@triton.jit
def copy_masked(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n, other=0.0))


@TARGETS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_a_masked_load_of_one_small_float(target: str, dtype: torch.dtype) -> None:
    x, y = torch.ones(1, dtype=dtype), torch.full((1,), 2.0, dtype=dtype)
    for n in (1, 0):
        with triton.target(target):
            copy_masked[(1,)](x, y, n, BLOCK=1)
        assert y.item() == n
