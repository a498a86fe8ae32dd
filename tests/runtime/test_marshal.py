"""The quick way of a CPU launch gives what the long way gives, and leaves it what is amiss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl
from mytriton.runtime.jit import Plan

from .kernels import add_kernel


def plan_of(kernel: Any, *values: Any) -> Plan:
    bound, parts = kernel._bind(*values)
    plan: Plan = kernel._plan(bound, parts, {"target": "cpu"}, False)
    return plan


@pytest.mark.parametrize("make", [np.zeros, torch.zeros])
def test_plain_arrays_and_numbers_go_the_quick_way(make: Any) -> None:
    x, y, out = (make(64) for _ in range(3))
    plan = plan_of(add_kernel, x, y, out, 64, 64)
    assert plan.marshal is not None
    given, overlap = plan.marshal((x, y, out, 64, 64))
    long = plan.arguments((x, y, out, 64, 64))
    assert list(given) == [*(buffer.address for buffer in long[:3]), 64] and not overlap
    assert plan.marshal((x, x, out, 64, 64))[1] is False  # none of the two is written
    for values in ((x, y, x), (x, y, y), (x, y, y[1:]), (y[3:], x, y)):
        assert plan.marshal((*values, 64, 64))[1] is True


def test_what_is_amiss_is_left_to_the_long_way() -> None:
    x, y, out = np.zeros((3, 64), np.float32)
    plan = plan_of(add_kernel, x, y, out, 64, 64)
    unaligned = np.zeros(257, np.uint8)[1:].view(np.float32)
    locked = out.copy()
    locked.flags.writeable = False
    assert plan.marshal is not None
    assert plan.marshal((unaligned, y, out, 64, 64)) is None
    assert plan.marshal((x, y, locked, 64, 64)) is None
    assert plan.marshal((locked, y, out, 64, 64)) is not None
    tensors = torch.zeros(3, 64)
    plan = plan_of(add_kernel, *tensors, 64, 64)
    negated = torch.zeros(64, dtype=torch.complex64).conj().imag
    assert plan.marshal is not None
    assert plan.marshal((tensors[0], negated, tensors[2], 64, 64)) is None


def test_numpy_numbers_after_python_s() -> None:
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    given: list[tuple[Any, ...]] = [
        (16, 2.0, True),
        (np.int64(16), np.float32(2), np.bool_(True)),
        (np.uint8(16), np.float64(2), np.bool_(False)),
        (16, np.float16(2), False),
    ]
    for numbers in given:
        shift_kernel[(1,)](x, out, *numbers, BLOCK=16, target="cpu")
        np.testing.assert_array_equal(out, 2 * x if numbers[2] else -2 * x)
    assert len(shift_kernel.compilations) == 1


@triton.jit
def shift_kernel(x, out, n, scale, flag, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n) * scale
    tl.store(out + offsets, tl.where(flag, value, -value), mask=offsets < n)


@given(
    first=st.integers(0, 20),
    second=st.integers(0, 20),
    n=st.integers(0, 12),
    scale=st.floats(-4, 4, width=32),
    flag=st.booleans(),
    use_torch=st.booleans(),
)
def test_overlapping_views(
    first: int, second: int, n: int, scale: float, flag: bool, use_torch: bool
) -> None:
    """All of a program's loads come before its stores, wherever the arrays lie."""
    memory = np.arange(40, dtype=np.float32)
    x = memory[first : first + 16].copy()
    made = torch.from_numpy(memory) if use_torch else memory
    shift_kernel[(1,)](
        made[first:], made[second:], n, scale, flag, BLOCK=16, target="cpu"
    )  # fmt: skip
    want = np.arange(40, dtype=np.float32)
    want[second : second + n] = (x if flag else -x)[:n] * np.float32(scale)
    np.testing.assert_array_equal(memory, want)


@pytest.mark.parametrize("empty", [np.zeros(0, np.float32), torch.zeros(0)])
def test_empty_arrays(empty: Any) -> None:
    shift_kernel[(1,)](empty, empty, 0, 1.0, True, BLOCK=16, target="cpu")
