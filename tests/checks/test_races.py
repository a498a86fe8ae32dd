"""Races between programs and between the lanes of one, and results that depend on the order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl

from .test_sanitize import TARGETS, found, line_of, one

F32, I32 = np.float32, np.int32


@triton.jit
def copies(x, out, n, step, BLOCK: tl.constexpr):
    i = tl.program_id(0) * step + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, value, mask=i < n)


@triton.jit
def shifts(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(out + i, value, mask=i < n)


@triton.jit
def turns(x, BLOCK: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, i.to(tl.float32))
    if BARRIER:
        tl.debug_barrier()
    value = tl.load(x + (i + 1) % BLOCK)
    tl.debug_barrier()
    tl.store(x + i, value)


@triton.jit
def sums(x, out, BLOCK: tl.constexpr, ATOMIC: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + i), axis=0)
    if ATOMIC:
        tl.atomic_add(out, total)
    else:
        before = tl.load(out)
        tl.store(out, before + total)


@triton.jit
def last_adds(x, part, count, out, BLOCK: tl.constexpr, P: tl.constexpr, SEM: tl.constexpr):
    p = tl.program_id(0)
    total = tl.sum(tl.load(x + p * BLOCK + tl.arange(0, BLOCK)), axis=0)
    tl.store(part + p, total)
    done = tl.atomic_add(count, 1, sem=SEM)
    if done == P - 1:
        parts = tl.load(part + tl.arange(0, P))
        tl.store(out, tl.sum(parts, axis=0))


@triton.jit
def locked(lock, total, n, UNLOCK: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + n)
    tl.atomic_xchg(lock, 0, sem=UNLOCK)


@triton.jit
def mixes(counts, out):
    tl.atomic_add(counts, 1, sem="relaxed")
    tl.store(out + tl.program_id(0), tl.load(counts))


def ones(*sizes: int) -> list[np.ndarray]:
    return [np.ones(size, F32) for size in sizes]


@pytest.mark.parametrize("target", TARGETS)
def test_programs_that_write_apart(target: str) -> None:
    x, out = ones(1000, 1000)
    assert not found(target, "races", copies, 4, x, out, 1000, 256, BLOCK=256)


@pytest.mark.parametrize("target", TARGETS)
def test_two_programs_write_an_element(target: str) -> None:
    x, out = ones(1000, 1000)
    finding = one(
        found(target, "races", copies, 4, x, out, 1000, 250, BLOCK=256), copies, "tl.store"
    )
    assert finding.array == "out"
    assert (finding.program, finding.lane) == ((1, 0, 0), (0,))
    assert "program 0 has written" in finding.message


@pytest.mark.parametrize("target", TARGETS)
def test_one_reads_what_another_writes(target: str) -> None:
    """In place, program 0 reads the first element of program 1, which writes it."""
    (x,) = ones(1000)
    finding = one(found(target, "races", shifts, 4, x, x, 1000, BLOCK=256), shifts, "tl.store")
    assert "program 0 has read" in finding.message
    assert finding.notes[0].where[0].line == line_of(shifts, "tl.load")
    assert not found(target, "races", shifts, 4, *ones(1000, 1000), 1000, BLOCK=256)


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_need_a_barrier(target: str) -> None:
    (x,) = ones(64)
    assert not found(target, "races", turns, 1, x, BLOCK=64, BARRIER=True)
    finding = one(found(target, "races", turns, 1, x, BLOCK=64, BARRIER=False), turns, "tl.load")
    assert "debug_barrier" in finding.help
    assert finding.notes[0].where[0].line == line_of(turns, "i.to(tl.float32)")


@pytest.mark.parametrize("target", TARGETS)
def test_a_sum_without_an_atomic(target: str) -> None:
    x, out = ones(1024, 1)
    assert not found(target, "races", sums, 4, x, out, BLOCK=256, ATOMIC=True)
    findings = found(target, "races", sums, 4, x, out, BLOCK=256, ATOMIC=False)
    lines = {finding.where[0].line for finding in findings}
    assert lines == {line_of(sums, "tl.load(out)"), line_of(sums, "tl.store")}


@pytest.mark.parametrize("target", TARGETS)
def test_the_last_program_reads_what_all_have_released(target: str) -> None:
    def arguments() -> tuple[Any, ...]:
        return (*ones(512, 8), np.zeros(1, I32), *ones(1))

    shape = {"BLOCK": 64, "P": 8}
    assert not found(target, "races", last_adds, 8, *arguments(), **shape, SEM="acq_rel")
    for weak in ("relaxed", "acquire", "release"):
        findings = found(target, "races", last_adds, 8, *arguments(), **shape, SEM=weak)
        between = [f for f in findings if "has written" in f.message and "lane of" not in f.message]
        assert any(f.where[0].line == line_of(last_adds, "parts =") for f in findings), weak
        assert between or weak == "acquire"


@pytest.mark.parametrize("target", TARGETS)
def test_a_lock_orders_its_holders(target: str) -> None:
    total = np.zeros(1, F32)
    assert not found(target, "races", locked, 6, np.zeros(1, I32), total, 2.0, UNLOCK="release")
    assert total[0] == 12
    weak = found(target, "races", locked, 6, np.zeros(1, I32), total, 2.0, UNLOCK="relaxed")
    assert not weak or weak[0].array == "total"  # the compare-and-swap still releases


@pytest.mark.parametrize("target", TARGETS)
def test_an_atomic_and_a_plain_load(target: str) -> None:
    finding = one(
        found(target, "races", mixes, 4, np.zeros(1, I32), np.zeros(4, I32)), mixes, "atomic_add"
    )
    assert finding.array == "counts"
    assert finding.notes[0].where[0].line == line_of(mixes, "tl.load")


@pytest.mark.parametrize("target", TARGETS)
def test_a_sum_of_floats_depends_on_the_order(target: str) -> None:
    x = np.random.default_rng(0).standard_normal(64 * 40).astype(F32) * 1000
    out = np.zeros(1, F32)
    findings = found(target, "order", sums, 40, x, out, BLOCK=64, ATOMIC=True)
    finding = one(findings, sums, "tl.atomic_add")
    assert finding.array == "out"
    assert abs(out[0] - x.astype(float).sum()) < 1  # the arrays are left as the launch left them
    assert not found(target, "order", copies, 40, x, np.zeros_like(x), x.size, 64, BLOCK=64)


@triton.jit
def numbers(out, nx, ny):
    place = (tl.program_id(2) * ny + tl.program_id(1)) * nx + tl.program_id(0)
    tl.store(out + place, place + 7)


@pytest.mark.parametrize("target", TARGETS)
def test_every_program_runs_in_every_order(target: str) -> None:
    out = np.zeros(3 * 5 * 2, I32)
    with triton.target(target), triton.sanitize("order", handler=lambda finding: None) as session:
        numbers[(3, 5, 2)](out, 3, 5)
    assert not session.findings
    assert out.tolist() == list(range(7, 37))


@triton.jit
def hands_over(x, part, flag, out, BLOCK: tl.constexpr, BARRIER: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(part + i, tl.load(x + i))
        if BARRIER:
            tl.debug_barrier()
        tl.atomic_xchg(flag, 1, sem="release")
    else:
        while tl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
        value = tl.load(part + i)
        tl.store(out + i, value)


@pytest.mark.parametrize("target", TARGETS)
def test_the_threads_of_a_block_meet_before_one_releases(target: str) -> None:
    def arguments() -> tuple[Any, ...]:
        return (*ones(64, 64), np.zeros(1, I32), *ones(64))

    assert not found(target, "races", hands_over, 2, *arguments(), BLOCK=64, BARRIER=True)
    findings = found(target, "races", hands_over, 2, *arguments(), BLOCK=64, BARRIER=False)
    finding = one(findings, hands_over, "value = ")
    assert finding.notes[0].where[0].line == line_of(hands_over, "tl.store(part")
