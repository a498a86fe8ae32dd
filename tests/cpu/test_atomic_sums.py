"""Atomic additions of ints that nobody reads back are summed up by each thread, and all land."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.atomic_sums import SLOTS
from mytriton.targets.cpu.host import made_for

from .guarded import guarded
from .machines import MACHINES, runs_here


@triton.jit
def count_kernel(x, weights, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    on = i < n
    tl.atomic_add(bins + tl.load(x + i, on, other=1 << 30), tl.load(weights + i, on), on)


@triton.jit
def two_blocks_kernel(x, bins, n, BLOCK: tl.constexpr):
    """Two atomics on the same addresses, and one on few."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(x + i, i < n, other=0)
    tl.atomic_add(bins + at, 1, i < n)
    tl.atomic_add(bins + at // 2, 2, (i < n) & (at % 3 == 0), sem="relaxed")


@triton.jit
def read_back_kernel(bins, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(bins + i % 4, 1)
    tl.store(out + i, tl.load(bins + i % 4))


@triton.jit
def old_value_kernel(bins, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.atomic_add(bins + i % 4, 1))


@triton.jit
def last_kernel(bins, done, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(bins + i % 4, 1)
    if tl.atomic_add(done, 1) == tl.num_programs(0) - 1:
        tl.store(out + i % 4, tl.load(bins + i % 4))


def is_summed(made: Any) -> bool:
    return "add_table" in made.llvm


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("dtype", ["i4", "u4", "i8"])
@pytest.mark.parametrize("places", [1, 7, 1024, 5 * SLOTS])
def test_all_additions_land(places: int, dtype: str, machine: str) -> None:
    if not runs_here(machine):
        pytest.skip("this processor cannot run that code")
    random, n = np.random.default_rng(places), 5000
    ends = np.iinfo(dtype)
    x = guarded(random.integers(0, places, n, dtype=np.int32), True)
    weights = random.integers(ends.min, ends.max, n, dtype=dtype, endpoint=True)
    weights[::3] = 1
    bins = guarded(random.integers(0, 9, places).astype(dtype), True)
    wanted = bins.copy()
    np.add.at(wanted, x, weights)
    count_kernel.clear_cache()
    with made_for(MACHINES[machine]):
        made = count_kernel[(12,)](x, weights, bins, n, BLOCK=512, target="cpu")
    count_kernel.clear_cache()
    assert is_summed(made)
    np.testing.assert_array_equal(bins, wanted)


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_threads_and_several_atomics(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYTRITON_THREADS", threads)
    n = 200_000
    x = np.random.default_rng(0).integers(0, 100, n, dtype=np.int32)
    for _ in range(5):
        bins, wanted = np.zeros(100, np.int32), np.zeros(100, np.int64)
        made = two_blocks_kernel[(-(-n // 256),)](x, bins, n, BLOCK=256, target="cpu")
        np.add.at(wanted, x, 1)
        np.add.at(wanted, x[x % 3 == 0] // 2, 2)
        assert is_summed(made)
        np.testing.assert_array_equal(bins, wanted)


def test_what_somebody_may_see_happens_at_once() -> None:
    bins, out = np.zeros(4, np.int32), np.zeros(64, np.int32)
    made = read_back_kernel[(1,)](bins, out, BLOCK=64, target="cpu")
    assert not is_summed(made) and (out == 16).all() and (bins == 16).all()
    bins[:] = 0
    made = old_value_kernel[(1,)](bins, out, BLOCK=64, target="cpu")
    assert not is_summed(made) and sorted(out) == sorted([*range(16)] * 4)
    bins, out, done = np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros(1, np.int32)
    made = last_kernel[(40,)](bins, done, out, BLOCK=64, target="cpu")
    assert not is_summed(made) and (out == 40 * 16).all()


@triton.jit
def in_order_kernel(x, bins, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(bins + i, 1)
    tl.atomic_add(bins + tl.load(x + i), 10)


def test_arguments_that_overlap_are_added_to_at_once() -> None:
    """The indices lie in the bins, so the first addition changes where the second goes."""
    memory, apart, bins = (np.zeros(64, np.int32) for _ in range(3))
    in_order_kernel[(1,)](memory, memory, BLOCK=64, target="cpu")
    wanted = np.ones(64, np.int32)
    wanted[1] += 640
    np.testing.assert_array_equal(memory, wanted)
    assert is_summed(in_order_kernel[(1,)](apart, bins, BLOCK=64, target="cpu"))
    assert bins[0] == 641 and (bins[1:] == 1).all()
