"""Atomics within and between programs, and programs that wait, on every target."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import outcomes, run_everywhere


@triton.jit
def scatter_kernel(x, index, value, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lanes < n
    place = tl.load(index + lanes, mask=mask, other=0)
    OP(x + place, tl.load(value + lanes, mask=mask, other=0), mask=mask)


@triton.jit
def add_to(pointer, value, mask):
    return tl.atomic_add(pointer, value, mask=mask)


@triton.jit
def max_to(pointer, value, mask):
    return tl.atomic_max(pointer, value, mask=mask)


@triton.jit
def min_to(pointer, value, mask):
    return tl.atomic_min(pointer, value, mask=mask)


@triton.jit
def and_to(pointer, value, mask):
    return tl.atomic_and(pointer, value, mask=mask)


@triton.jit
def or_to(pointer, value, mask):
    return tl.atomic_or(pointer, value, mask=mask)


@triton.jit
def xor_to(pointer, value, mask):
    return tl.atomic_xor(pointer, value, mask=mask)


KINDS = {
    "add": (add_to, np.add),
    "max": (max_to, np.maximum),
    "min": (min_to, np.minimum),
    "and": (and_to, np.bitwise_and),
    "or": (or_to, np.bitwise_or),
    "xor": (xor_to, np.bitwise_xor),
}


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("kind", KINDS)
def test_repeated_addresses_all_land(kind, dtype):
    if dtype[0] == "f" and kind in ("and", "or", "xor"):
        pytest.skip("bitwise atomics are of ints")
    operation, reference = KINDS[kind]
    random = np.random.default_rng(0)
    x = random.integers(0, 100, 7).astype(dtype)
    index = random.integers(0, 7, 300).astype(np.int32)
    value = random.integers(0, 100, 300).astype(dtype)  # whole numbers: any order of sums is exact
    expected = x.copy()
    reference.at(expected, index, value)
    run_everywhere(
        scatter_kernel,
        (3,),
        x,
        index,
        value,
        300,
        OP=operation,
        BLOCK=128,
        expected={"x": expected},
    )


@triton.jit
def ticket_kernel(counter, out, BLOCK: tl.constexpr):
    """Every lane draws a number; together they are a permutation."""
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ticket = tl.atomic_add(counter + tl.zeros([BLOCK], tl.int32), 1)
    tl.store(out + lanes, ticket)


def test_atomics_return_the_old_value():
    counter, out = np.zeros(1, np.int32), np.zeros(256, np.int32)
    for target, got in outcomes(ticket_kernel, (4,), counter, out, BLOCK=64):
        assert sorted(got["out"].tolist()) == list(range(256)), target


@triton.jit
def scalar_kernel(x, old, value):
    pid = tl.program_id(0)
    tl.store(old + pid, tl.atomic_xchg(x + pid, value))
    tl.store(old + 4 + pid, tl.atomic_cas(x + pid, value, pid))
    tl.store(old + 8 + pid, tl.atomic_cas(x + pid, value, 99))
    tl.store(old + 12 + pid, tl.atomic_add(x + pid, 1, mask=pid != 2))


def test_scalar_atomics_exchange_and_compare():
    x, old = np.arange(10, 14, dtype=np.int32), np.zeros(16, np.int32)
    pids = np.arange(4)
    after = pids + (pids != 2)
    for target, got in outcomes(scalar_kernel, (4,), x, old, 7):
        assert got["x"].tolist() == after.tolist(), target
        assert got["old"][:12].tolist() == [10, 11, 12, 13, 7, 7, 7, 7, 0, 1, 2, 3], target
        assert got["old"][[12, 13, 15]].tolist() == [0, 1, 3], target


@triton.jit
def lock_kernel(lock, total, n):
    pid = tl.program_id(0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    value = tl.load(total, volatile=True)
    tl.store(total, value * 3 % n + pid)
    tl.store(total + 1, tl.load(total + 1, volatile=True) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_a_spin_lock_excludes():
    lock, total = np.zeros(1, np.int32), np.zeros(2, np.int32)
    for target, got in outcomes(lock_kernel, (40,), lock, total, 1000):
        assert got["total"][1] == 40, target
        assert got["lock"][0] == 0, target


@triton.jit
def chain_kernel(flags, data):
    """Program i waits until i + 1 is done, and adds one to what it left: the last comes first."""
    pid = tl.program_id(0)
    while tl.atomic_add(flags + pid + 1, 0) == 0:
        pass
    tl.store(data + pid, tl.load(data + pid + 1, volatile=True) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(flags + pid, 1)


def test_consumers_before_producers_make_progress():
    n = 12
    flags, data = np.zeros(n + 1, np.int32), np.zeros(n + 1, np.int32)
    flags[n] = 1
    run_everywhere(
        chain_kernel,
        (n,),
        flags,
        data,
        expected={"flags": np.ones(n + 1), "data": np.arange(n + 1)[::-1]},
    )
