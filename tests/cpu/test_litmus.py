"""Order between programs: litmus tests, with more threads than processors.

What a release publishes, an acquire sees (message passing, locks, flags); an atomic counter gives
each number once (work queues). The slow versions run a hundred thousand rounds each.
"""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.ir.nodes import walk
from mytriton.passes.spinning import may_spin

ROUNDS = [200, pytest.param(100_000, marks=pytest.mark.slow)]


@triton.jit
def messages_kernel(data, flags, wrong, n, B: tl.constexpr):
    """Programs in pairs: the first writes a block and then its flag, the second waits for the flag
    and then reads the block, and says so."""
    pair = tl.program_id(0) // 2
    block, flag = data + pair * B + tl.arange(0, B), flags + pair * 32
    for turn in range(n):
        if tl.program_id(0) % 2 == 0:
            while tl.atomic_add(flag + 16, 0, sem="acquire") != turn:
                pass
            tl.store(block, turn + 1)
            tl.atomic_xchg(flag, turn + 1, sem="release")
        else:
            while tl.atomic_add(flag, 0, sem="acquire") != turn + 1:
                pass
            bad = tl.sum((tl.load(block) != turn + 1).to(tl.int32), axis=0)
            tl.store(wrong + pair, tl.load(wrong + pair) + bad)
            tl.atomic_xchg(flag + 16, turn + 1, sem="release")


@pytest.mark.parametrize("n", ROUNDS)
@pytest.mark.parametrize("block", [1, 33])
def test_a_message_is_there_when_its_flag_is(block, n):
    pairs = 3
    data, wrong = np.zeros(pairs * block, np.int32), np.zeros(pairs, np.int32)
    flags = np.zeros(pairs * 32, np.int32)
    messages_kernel[(2 * pairs,)](data, flags, wrong, n, B=block, target="cpu")
    assert wrong.tolist() == [0] * pairs
    assert (data == n).all()


@triton.jit
def lock_kernel(lock, counts, n, B: tl.constexpr):
    lanes = tl.arange(0, B)
    for _ in range(n):
        while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
            pass
        tl.store(counts + lanes, tl.load(counts + lanes) + 1)
        tl.atomic_xchg(lock, 0, sem="release")


@pytest.mark.parametrize("n", ROUNDS)
@pytest.mark.parametrize("block", [1, 33])
def test_a_lock_keeps_programs_apart(block, n):
    lock, counts = np.zeros(1, np.int32), np.zeros(block, np.int64)
    lock_kernel[(7,)](lock, counts, n, B=block, target="cpu")
    assert counts.tolist() == [7 * n] * block and lock[0] == 0


@triton.jit
def queue_kernel(counter, x, out, n, B: tl.constexpr):
    tile = tl.atomic_add(counter, 1, sem="relaxed")
    while tile < n:
        place = tile * B + tl.arange(0, B)
        tl.store(out + place, tl.load(out + place) + tl.load(x + place))
        tile = tl.atomic_add(counter, 1, sem="relaxed")


@pytest.mark.parametrize("n", ROUNDS)
def test_a_work_queue_gives_each_tile_once(n):
    """It waits for nobody: the pool runs it, its arrays are distinct, its body is vectors."""
    x = np.arange(n * 32, dtype=np.int64)
    out, counter = np.zeros_like(x), np.zeros(1, np.int32)
    made = queue_kernel[(23,)](counter, x, out, n, B=32, target="cpu")
    np.testing.assert_array_equal(out, x)
    assert counter[0] == n + 23
    assert not any(map(may_spin, walk(made.function.body)))
    assert "noalias %x" in made.llvm and "wait_turn" not in made.llvm


@triton.jit
def breaking_queue_kernel(counter, x, out, n, B: tl.constexpr):
    while True:
        item = tl.atomic_add(counter, 1)
        if n <= item:
            break
        at = item * B + tl.arange(0, B)
        value = tl.load(x + at)
        if tl.sum(value, axis=0) < 0:
            break
        tl.store(out + at, value)


def test_a_queue_that_ends_by_a_break_waits_for_nobody():
    n = 50
    x = np.arange(n * 32, dtype=np.int64)
    out, counter = np.zeros_like(x), np.zeros(1, np.int32)
    made = breaking_queue_kernel[(23,)](counter, x, out, n, B=32, target="cpu")
    np.testing.assert_array_equal(out, x)
    assert counter[0] == n + 23
    assert not any(map(may_spin, walk(made.function.body)))
    assert "noalias %x" in made.llvm and "wait_turn" not in made.llvm


@triton.jit
def waiting_break_kernel(counter, flag, out):
    """The second program raises what the first one's bound is; the counter is not masked off."""
    if tl.program_id(0) == 0:
        while True:
            seen = tl.atomic_add(counter, 0)
            if seen >= 1:
                break
        tl.store(out, tl.load(flag))
    else:
        tl.store(flag, 7)
        tl.atomic_add(counter, 1)


@triton.jit
def moving_bound_kernel(counter, bound, out):
    """The counter runs after a bound that is read again each turn: it may never get there."""
    while True:
        taken = tl.atomic_add(counter, 1)
        if taken >= tl.load(bound):
            break
    tl.store(out, 1)


def test_a_break_that_another_program_decides_is_waited_for():
    counter, flag, out = (np.zeros(1, np.int32) for _ in range(3))
    made = waiting_break_kernel[(2,)](counter, flag, out, target="cpu")
    assert out[0] == 7 and any(map(may_spin, walk(made.function.body)))
    made = moving_bound_kernel[(2,)](counter, flag, out, target="cpu")
    assert out[0] == 1 and any(map(may_spin, walk(made.function.body)))


@triton.jit
def last_kernel(partial, count, out, P: tl.constexpr, B: tl.constexpr):
    program, lanes = tl.program_id(0), tl.arange(0, B)
    tl.store(partial + program * B + lanes, program + lanes)
    if tl.atomic_add(count, 1) == P - 1:
        tl.store(out, tl.sum(tl.load(partial + tl.arange(0, P * B)), axis=0))


@pytest.mark.parametrize("n", ROUNDS)
def test_the_last_program_sees_what_the_others_stored(n):
    programs, block = 16, 5
    expected = sum(p + i for p in range(programs) for i in range(block))
    for _ in range(n):
        partial, out = np.zeros(programs * block, np.int32), np.zeros(1, np.int32)
        count = np.zeros(1, np.int32)
        last_kernel[(programs,)](partial, count, out, P=programs, B=block, target="cpu")
        assert out[0] == expected


SEMANTICS = ("relaxed", "acquire", "release", "acq_rel")


@triton.jit
def ordered_kernel(x, SEM: tl.constexpr):
    tl.atomic_add(x, 1, sem=SEM)
    tl.atomic_cas(x + 1, 0, 1, sem=SEM)


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_an_atomic_has_the_ordering_it_asks_for(semantics):
    x = np.zeros(2, np.int32)
    text = ordered_kernel[(1,)](x, SEM=semantics, target="cpu").llvm
    assert x.tolist() == [1, 1]
    program = text[text.index("@program(") : text.index("@run(")]
    word = "monotonic" if semantics == "relaxed" else semantics
    (add,) = [line for line in program.splitlines() if "atomicrmw add" in line]
    (swap,) = [line for line in program.splitlines() if "cmpxchg" in line]
    assert f"i32 1 {word}," in add and f"i32 1 {word} " in swap
