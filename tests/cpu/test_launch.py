"""Launches: threads share programs, programs wait for each other, faults stop them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import KernelAssertionError, KernelError
from mytriton.targets.cpu.launch import cooperative_launch


@triton.jit
def count_kernel(out, work, WORK: tl.constexpr):
    pid = tl.program_id(0) + tl.program_id(1) * 10 + tl.program_id(2) * 100
    total = tl.sum(tl.arange(0, WORK) + pid, axis=0)
    tl.atomic_add(out + pid, 1)
    tl.atomic_add(work, total.to(tl.int64))


def run_count() -> None:
    out, work = np.zeros(1000, np.int32), np.zeros(1, np.int64)
    for turn in range(1, 6):
        count_kernel[(10, 10, 10)](out, work, WORK=1024, target="cpu")
        np.testing.assert_array_equal(out, turn)
    lanes = np.arange(1024, dtype=np.int64).sum()
    assert work[0] == 5 * (1000 * lanes + 1024 * np.arange(1000).sum())


def test_every_program_runs_once():
    run_count()


def test_launches_from_several_threads():
    failures: list[BaseException] = []

    def run() -> None:
        try:
            run_count()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@triton.jit
def chain_kernel(flags, out, n):
    pid = tl.program_id(0)
    while tl.atomic_add(flags + pid + 1, 0) == 0:
        pass
    tl.store(out + pid, pid)
    tl.atomic_xchg(flags + pid, 1)


def test_programs_wait_for_later_ones():
    flags, out = np.zeros(65, np.int32), np.zeros(64, np.int32)
    flags[64] = 1
    chain_kernel[(64,)](flags, out, 64, target="cpu")
    np.testing.assert_array_equal(out, np.arange(64))


@pytest.mark.parametrize("programs", [1, 3])
def test_programs_that_wait_for_ever_are_stopped(programs, monkeypatch):
    monkeypatch.setattr(cooperative_launch, "DEADLOCK_SECONDS", 0.2)
    flags, out = np.zeros(65, np.int32), np.zeros(64, np.int32)
    with pytest.raises(KernelError, match="deadlock"):
        chain_kernel[(programs,)](flags, out, 64, target="cpu")


@triton.jit
def assert_kernel(x, out, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets)
    tl.device_assert(value < 100, "too large")
    tl.store(out + offsets, value)


def test_a_failed_assert_names_the_program_and_the_line():
    x, out = np.arange(256, dtype=np.int32) % 90, np.full(256, -1, np.int32)
    x[130] = 100
    with pytest.raises(KernelAssertionError, match=r"too large, in program \(2, 0, 0\)") as caught:
        assert_kernel[(4,)](x, out, BLOCK=64, target="cpu")
    assert "tl.device_assert" in str(caught.value)
    np.testing.assert_array_equal(out[128:192], -1)


@triton.jit
def print_kernel(x, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.device_print("half", tl.load(x + pid * BLOCK + tl.arange(0, BLOCK)) * 0.5)


def test_programs_print_in_order(capsys):
    print_kernel[(3,)](np.arange(6, dtype=np.float32), BLOCK=2, target="cpu")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(")")[0] for line in lines] == [f"pid ({i}, 0, 0" for i in range(3)]
    assert lines[2].endswith("[2.  2.5]")
