"""Small kernels, each with one trait of a kernel of the gallery that is easy to compile wrongly."""

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


@triton.jit
def wait_for_the_next(flags_ptr, out_ptr):
    program = tl.program_id(0)
    if program + 1 < tl.num_programs(0):
        while tl.atomic_add(flags_ptr + program + 1, 0, sem="acquire") == 0:
            pass
        out = tl.load(out_ptr + program + 1) + 1
    else:
        out = 1
    tl.store(out_ptr + program, out)
    tl.debug_barrier()
    tl.atomic_xchg(flags_ptr + program, 1, sem="release")


@TARGETS
def test_programs_that_wait_for_later_ones_make_progress(target: str) -> None:
    flags, out = torch.zeros(2, 40, dtype=torch.int32)
    with triton.target(target):
        wait_for_the_next[(40,)](flags, out)
    assert out.tolist() == list(range(40, 0, -1))


@triton.jit
def softmax_in_turn(turn_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    powers = tl.exp(tl.load(x_ptr + offsets))
    total = tl.sum(powers, axis=0)
    while (tl.atomic_add(turn_ptr, 0, sem="acquire") != program) | (total < 0):
        pass
    tl.store(y_ptr + offsets, powers / total)
    tl.debug_barrier()
    tl.atomic_xchg(turn_ptr, program + 1, sem="release")


@TARGETS
def test_programs_that_wait_have_scratch_memory_of_their_own(target: str) -> None:
    x = torch.randn(5, 200)
    for _ in range(10):
        turn, y = torch.zeros(1, dtype=torch.int32), torch.empty_like(x)
        with triton.target(target):
            softmax_in_turn[(5,)](turn, x, y, BLOCK=200)
        torch.testing.assert_close(y, x.softmax(dim=1))
