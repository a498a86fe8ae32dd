"""Memory, rule by rule; docs/semantics.md says which rule is which test.

Elsewhere: masks, overlap, windows and atomics at random in tests/properties/test_memory.py; spin
locks and consumers before producers in tests/targets/test_atomics.py; Philox by the published
numbers in tests/language/test_random.py.
"""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.language.names.on_blocks import OFFSETS, SEED, normals, uniform, words
from tests.support.backends import available, launch, run_everywhere, run_on
from tests.support.block_functions import check_value


@triton.jit
def masked_kernel(x, out, n):
    lanes = tl.arange(0, 64)
    value = tl.load(x + lanes, mask=lanes < n)
    tl.store(out + lanes, value)
    tl.store(x + lanes, value + 1, mask=lanes < n)
    tl.atomic_add(x + lanes, 1, mask=lanes < n)


@pytest.mark.parametrize("target", [t for t in available() if t != "cudasim"])
def test_a_masked_off_lane_touches_no_memory(target):
    """The array ends with its page, and the next one cannot be touched."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(address + page), page, 0) == 0
    try:
        x = np.frombuffer(memory, np.int32, 5, page - 20)
        x[:] = range(5)
        out = np.full(64, 9, np.int32)
        launch(target, masked_kernel, (1,), x, out, 5)
        assert out.tolist() == [0, 1, 2, 3, 4] + [0] * 59
        assert x.tolist() == [2, 3, 4, 5, 6]
    finally:
        libc.mprotect(ctypes.c_void_p(address + page), page, 3)


@triton.jit
def scalar_kernel(out, n):
    tl.store(out, 5, mask=n > 3)
    tl.store(out + 1, 6, mask=n > 30)
    tl.store(out + 2, tl.load(out + 1000000, mask=n > 30, other=8))


def test_a_scalar_access_obeys_its_mask():
    run_everywhere(scalar_kernel, (1,), np.zeros(3, np.int32), 10, expected={"out": [5, 0, 8]})


@triton.jit
def counting_kernel(count, olds):
    lanes = tl.arange(0, 32)
    old = tl.atomic_add(count + lanes * 0, 1)
    tl.static_assert(old.dtype == tl.int64)
    tl.store(olds + tl.program_id(0) * 32 + lanes, old)


def test_repeated_addresses_of_an_atomic_all_land_and_the_old_values_come_back():
    for target in available():
        got = run_on(target, counting_kernel, (4,), np.zeros(1, np.int64), np.zeros(128, np.int64))
        assert got["count"][0] == 128, target
        assert sorted(got["olds"]) == list(range(128)), target


@triton.jit
def bits_kernel(x, cmp):
    lanes = tl.arange(0, 4)
    tl.atomic_cas(x + lanes, tl.load(cmp + lanes), 5.0)


def test_compare_and_swap_compares_bits():
    x = np.array([0.0, -0.0, np.nan, 1], np.float32)
    cmp = np.array([-0.0, -0.0, np.nan, 1], np.float32)
    run_everywhere(bits_kernel, (1,), x, cmp, expected={"x": [0, 5, 5, 5]}, signs=True)


@triton.jit
def zeros_kernel(x, y):
    lanes = tl.arange(0, 4)
    value = tl.load(y + lanes)
    tl.atomic_max(x + lanes, value)
    tl.atomic_min(x + 4 + lanes, value)


def test_float_atomic_extremes_take_both_zeros_for_zero():
    x = np.array([-0.0, 0.0, -1, 2] * 2, np.float32)
    y = np.array([0.0, -0.0, 1, 1], np.float32)
    run_everywhere(zeros_kernel, (1,), x, y, expected={"x": [0, 0, 1, 2, 0, 0, -1, 1]})


@triton.jit
def shift_kernel(x):
    lanes = tl.arange(0, 63)
    tl.store(x + lanes + 1, tl.load(x + lanes))
    tl.store(x + lanes, tl.load(x + lanes + 1) * 2)


def test_a_statement_loads_all_before_it_stores():
    x = np.arange(64, dtype=np.int32)
    wanted = x.copy()
    wanted[1:] = x[:-1]
    wanted[:-1] = wanted[1:].copy() * 2
    run_everywhere(shift_kernel, (1,), x, expected={"x": wanted})


@triton.jit
def handed_kernel(flags, data, out):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(data, 42)
        tl.debug_barrier()
        tl.atomic_xchg(flags, 1, sem="release")
    else:
        while tl.atomic_add(flags, 0, sem="acquire") == 0:
            pass
        tl.store(out + pid, tl.load(data, volatile=True))


def test_what_is_released_is_seen_by_who_acquires():
    run_everywhere(
        handed_kernel, (4,), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(4, np.int32),
        expected={"flags": [1], "data": [42], "out": [0, 42, 42, 42]},
    )  # fmt: skip


@triton.jit
def window_kernel(x, out, PAD: tl.constexpr, CHECK: tl.constexpr):
    window = tl.make_block_ptr(x, (3, 4), (1, 3), (2, 2), (2, 2), (0, 1))
    corner = tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :]
    tl.store(out + corner, tl.load(window, boundary_check=CHECK, padding_option=PAD))
    if CHECK == (0, 1):
        tl.store(window, 9.0, boundary_check=CHECK)


@pytest.mark.parametrize(("pad", "fill"), [("", 0), ("zero", 0), ("nan", np.nan)])
def test_windows_pad_outside_and_store_nothing_there(pad, fill):
    """Of a column-major array; checked along both axes, and along the one that is crossed."""
    x = np.arange(12, dtype=np.float32)  # element (r, c) at r + 3 c
    wanted = np.array([[2 + 6, 2 + 9], [fill, fill]], np.float32)
    after = x.copy()
    after[[8, 11]] = 9
    out = np.zeros((2, 2), np.float32)
    run_everywhere(window_kernel, (1,), x, out, PAD=pad, CHECK=(0, 1),
                   expected={"x": after, "out": wanted})  # fmt: skip
    run_everywhere(window_kernel, (1,), x, out, PAD=pad, CHECK=(0,), expected={"out": wanted})


@triton.jit
def descriptor_kernel(x, out, PAD: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [3, 4], [4, 1], [2, 4], padding_option=PAD)
    target = tl.make_tensor_descriptor(out, [3, 4], [4, 1], [2, 4])
    target.store([1, 1], source.load([2, 2]))


@pytest.mark.parametrize(("pad", "fill"), [("zero", 0), ("nan", np.nan)])
def test_descriptors_pad_and_clip(pad, fill):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    wanted = np.full((3, 4), 5, np.float32)
    wanted[1, 1:], wanted[2, 1:] = [x[2, 2], x[2, 3], fill], fill
    run_everywhere(
        descriptor_kernel, (1,), x, np.full((3, 4), 5, np.float32), PAD=pad,
        expected={"out": wanted},
    )  # fmt: skip


def test_random_numbers_are_philox():
    """Against the ten rounds in Python's ints; that are the published ones is in test_random.py."""
    check_value(lambda o: tl.randint4x(SEED, o), words(OFFSETS), OFFSETS)
    check_value(lambda o: tl.rand(SEED, o), uniform(words(OFFSETS)[0]), OFFSETS)
    check_value(lambda o: tl.randn4x(SEED, o), normals(OFFSETS), OFFSETS, rtol=1e-3)
