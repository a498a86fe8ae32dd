"""Which accesses keep their order: around an atomic, an assert, a pointer out of memory."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import KernelAssertionError
from tests.support.backends import run_everywhere


@triton.jit
def last_program_kernel(partial, count, out, P: tl.constexpr, BLOCK: tl.constexpr):
    """Every program stores its part; the one that counts last adds up all of them."""
    program, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(partial + program * BLOCK + lanes, program + lanes)
    done = tl.atomic_add(count, 1)
    if done == P - 1:
        parts = tl.load(partial + tl.arange(0, P * BLOCK))
        tl.store(out, tl.sum(parts, axis=0))


@pytest.mark.parametrize("block", [1, 64, 100])
def test_an_atomic_releases_the_stores_before_it(block):
    programs, expected = 64, sum(p + i for p in range(64) for i in range(block))
    for _ in range(200):
        partial, out = np.zeros(programs * block, np.int32), np.zeros(1, np.int32)
        count = np.zeros(1, np.int32)
        last_program_kernel[(programs,)](partial, count, out, P=programs, BLOCK=block, target="cpu")
        assert out[0] == expected


def at(text: str, part: str) -> int:
    assert part in text, text
    return text.index(part)


def test_the_code_of_a_releasing_atomic_follows_the_stores_before_it():
    arrays = [np.zeros(64 * 64, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)]
    text = last_program_kernel[(64,)](*arrays, P=64, BLOCK=64, target="cpu").llvm
    program = text[at(text, "@program(") :]
    assert at(program, "store <") < at(program, "atomicrmw") < at(program, "= load <")


@triton.jit
def table_kernel(table, x, out, BLOCK: tl.constexpr):
    """A pointer out of memory that leads to an argument."""
    lanes = tl.arange(0, BLOCK)
    inside = tl.load(table).to(tl.pointer_type(tl.int32))
    before = tl.load(inside + lanes)
    tl.store(x + lanes, before + 1)
    tl.store(out + lanes, tl.load(inside + lanes))


@pytest.mark.parametrize("block", [1, 64])
def test_a_pointer_out_of_memory_may_lead_to_an_argument(block):
    x, out = np.arange(block, dtype=np.int32), np.zeros(block, np.int32)
    table = np.array([x.ctypes.data], np.int64)
    for target in ("interpret", "cpu"):
        x[:] = range(block)
        table_kernel[(1,)](table, x, out, BLOCK=block, target=target)
        np.testing.assert_array_equal(out, np.arange(block) + 1, target)


@triton.jit
def narrow_kernel(x, BITS: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, N).to(tl.uint8 if BITS == 8 else tl.int16)
    tl.store(x + offsets, tl.load(x + offsets) + 1)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("n", [128, 512])
def test_a_narrowing_cast_may_repeat_addresses(bits, n):
    """Every lane loads before any stores, so each touched place is one more than before."""
    x = np.zeros(512, np.int32)
    expected = (np.arange(512) < (min(n, 256) if bits == 8 else n)).astype(np.int32)
    run_everywhere(narrow_kernel, (1,), x, BITS=bits, N=n, expected={"x": expected})


@triton.jit
def one_place_kernel(x, out, N: tl.constexpr):
    offsets = tl.broadcast_to(tl.arange(0, 1), (N,))
    tl.store(x + offsets, tl.load(x + offsets) + 1)
    tl.store(out + tl.arange(0, N), tl.load(x + offsets))


def test_a_stretched_arange_repeats_its_address():
    x, out = np.zeros(1, np.int32), np.zeros(64, np.int32)
    run_everywhere(one_place_kernel, (1,), x, out, N=64, expected={"x": [1], "out": [1] * 64})


@triton.jit
def assert_kernel(x, y, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    for i in range(n):
        tl.device_assert(tl.load(x + i) > 0, "positive")
    tl.store(y + lanes, lanes)


@pytest.mark.parametrize("target", ["interpret", "cpu"])
@pytest.mark.parametrize("block", [1, 32])
def test_nothing_is_stored_after_a_failed_assert_in_a_loop(target, block):
    x, y = np.array([1, 1, 0, 1], np.int32), np.full(block, 7, np.int32)
    with pytest.raises(KernelAssertionError, match="positive"):
        assert_kernel[(1,)](x, y, 4, BLOCK=block, target=target)
    assert (y == 7).all()


@triton.jit
def halves_kernel(flag, x, y, BLOCK: tl.constexpr):
    """The two stores touch different elements, but both come after the loop, and after the load."""
    lanes = tl.arange(0, BLOCK)
    before = tl.load(x + lanes * 2)
    while tl.load(flag, volatile=True) == 0:
        pass
    tl.store(x + lanes, lanes)
    tl.store(x + BLOCK + lanes, lanes)
    tl.store(y + lanes, before)


def test_stores_of_different_elements_all_follow_what_was_before_them():
    """The checker of plans refuses a store that overtakes the loop."""
    x, y = np.arange(100, 228, dtype=np.int32), np.zeros(64, np.int32)
    expected = x[::2].copy()
    halves_kernel[(1,)](np.ones(1, np.int32), x, y, BLOCK=64, target="cpu")
    np.testing.assert_array_equal(x, np.tile(np.arange(64), 2))
    np.testing.assert_array_equal(y, expected)
