"""A recorded launch: what each program touches, and that nothing is changed by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.explorer.touches import runs


@triton.jit
def shifted(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i + 1, tl.load(x + i, mask=i < n) + 1.0, mask=i < n)


def elements(record: Any, write: bool, program: int) -> list[int]:
    """The elements that a program touches, as the document's runs say."""
    (access,) = [a for a in record.accesses if a.write == write]
    found = [t.runs for t in access.touched if t.program == program]
    return [start + k * step for run in found for start, count, step in run for k in range(count)]


def test_programs_and_arrays() -> None:
    x, out = np.arange(10, dtype=np.float32), np.zeros(16, np.float32)
    run = shifted.explain(x, out, 10, grid=(3,), BLOCK=4).document.run
    assert run.grid == (3, 1, 1)
    assert run.programs == ((0, 0, 0), (1, 0, 0), (2, 0, 0))
    assert elements(run, False, 2) == [8, 9]
    assert elements(run, True, 1) == [5, 6, 7, 8]
    first, second = run.arrays
    assert (first.name, first.shape, first.untouched) == ("x", (10,), 0)
    assert (second.untouched, second.first_untouched) == (6, 0)
    assert second.overlapping == 0
    assert run.complete
    assert not out.any(), "the arrays themselves are left alone"


def test_stores_that_overlap_are_counted() -> None:
    @triton.jit
    def all_store(out):
        i = tl.program_id(0) * 3 + tl.arange(0, 4)
        tl.store(out + i, 1.0)

    run = all_store.explain(np.zeros(16, np.float32), grid=(4,)).document.run
    (out,) = run.arrays
    assert (out.overlapping, out.first_overlapping) == (3, 3)


def test_a_view_is_its_own_elements() -> None:
    """Of a transposed view every other column is touched; what lies between its elements is none of
    its elements."""
    whole = torch.zeros(8, 6)
    view = whole[:, ::2]

    @triton.jit
    def columns(x, row, column, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
        i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
        tl.store(x + i * row + j * column, 1.0)

    run = columns.explain(view, *view.stride(), grid=(1,), ROWS=8, COLUMNS=2).document.run
    (x,) = run.arrays
    assert x.shape == (8, 3)
    assert (x.untouched, x.first_untouched, x.outside) == (8, 2, 0)
    run = columns.explain(view, 6, 1, grid=(1,), ROWS=8, COLUMNS=2).document.run
    assert run.arrays[0].outside == 8
    assert not whole.any()


def test_arrays_that_share_memory_share_it_in_the_copy() -> None:
    @triton.jit
    def twice(x, y, out):
        tl.store(y, 5.0)
        tl.store(out, tl.load(x + 1))
        tl.device_assert(tl.load(x + 1) == 5.0)

    whole = np.zeros(4, np.float32)
    twice.explain(whole, whole[1:], np.zeros(1, np.float32), grid=(1,))
    assert not whole.any()


def test_a_large_grid_is_recorded_in_part() -> None:
    x = np.zeros(4 * 1000, np.float32)
    run = shifted.explain(x, np.zeros(4001, np.float32), 4000, grid=(1000,), BLOCK=4).document.run
    assert run.grid == (1000, 1, 1)
    assert 0 < len(run.programs) <= 256
    assert run.arrays[0].untouched == 4000 - 4 * len(run.programs)


def test_programs_that_wait_are_all_run() -> None:
    @triton.jit
    def last_first(flag, out, n):
        pid = tl.program_id(0)
        if pid < n - 1:
            while tl.atomic_add(flag, 0) == 0:
                pass
        else:
            tl.atomic_xchg(flag, 1)
        tl.store(out + pid, 1.0)

    arrays = np.zeros(1, np.int32), np.zeros(300, np.float32)
    run = last_first.explain(*arrays, 300, grid=(300,)).document.run
    assert len(run.programs) == 300
    assert run.arrays[1].untouched == 0


def test_what_goes_wrong_is_said() -> None:
    """A fault of the launch is on the page, which shows the rest."""
    document = shifted.explain(
        np.zeros(8, np.float32), np.zeros(8, np.float32), 8, grid=(2,), BLOCK=4
    ).document
    assert document.run is None
    assert "`out` (8 elements of f32), which is outside every array" in document.not_recorded
    assert document.performance.accesses
    assert document.performance.totals is None


def test_memory_without_a_copy_is_left_alone() -> None:
    """A kernel that follows pointers out of memory could change what they lead to."""

    @triton.jit
    def follow(table):
        where = tl.load(table).to(tl.pointer_type(tl.float32))
        tl.store(where, 7.0)

    held = np.zeros(1, np.float32)
    table = np.array([held.ctypes.data], np.int64)
    document = follow.explain(table, grid=(1,)).document
    assert document.run is None
    assert "follows pointers" in document.not_recorded
    assert held[0] == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_runs_are_the_numbers(seed: int) -> None:
    random = np.random.default_rng(seed)
    numbers = np.flatnonzero(random.random(200) < random.choice([0.1, 0.5, 0.95]))
    if seed % 3 == 0:
        numbers = np.union1d(numbers, np.arange(0, 400, 7))
    found = runs(numbers)
    back = [start + k * step for start, count, step in found for k in range(count)]
    assert back == numbers.tolist()
    assert len(found) <= len(numbers)


def test_long_runs_are_one() -> None:
    assert runs(np.arange(5, 500)) == ((5, 495, 1),)
    assert runs(np.arange(0, 4000, 40)) == ((0, 100, 40),)
    assert runs(np.array([3])) == ((3, 1, 1),)
