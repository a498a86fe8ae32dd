"""Loads, stores, windows and atomics at random places of memory."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import available, launch, run_on
from tests.support.compare import Array, quiet, require_equal
from tests.support.dtypes import DTYPES, FLOATS, INTS

from .inputs import anything, dtypes, examples, seeds, small

TARGETS = [name for name in ("traced", "interpret", "eager", "cpu") if name in available()]
blocks = st.sampled_from([1, 2, 3, 7, 16, 17, 64, 100, 1000])


@triton.jit
def masked_kernel(x, out, n, start, MASK: tl.constexpr, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (lanes < n) & (lanes >= start)
    if MASK == "odd":
        mask = mask & (lanes % 3 != 1)
    if OTHER is None:
        value = tl.load(x + lanes, mask=mask)
    else:
        value = tl.load(x + lanes, mask=mask, other=OTHER)
    tl.store(out + lanes, value, mask=lanes < n + 2)


@examples(20)
@given(
    blocks,
    st.integers(1, 3),
    st.integers(0, 40),
    st.integers(0, 5),
    st.sampled_from(["range", "odd"]),
    st.sampled_from([None, 0, 1, 100]),
    dtypes([*INTS, *FLOATS]),
    seeds,
)
def test_masks_and_other(block, programs, cut, start, mask, other, name, seed):
    """Lanes that are off give `other`, or zero; stores reach where their mask is on."""
    size = block * programs
    n = max(1, size - cut)
    x, out = anything(name, (size,), seed), small(name, (size,), seed, 3)
    lanes = np.arange(size)
    on = (lanes < n) & (lanes >= start) & ((lanes % 3 != 1) | (mask == "range"))
    rest = np.array(0 if other is None else other).astype(x.dtype)
    wanted = np.where(lanes < n + 2, np.where(on, quiet(x), rest), out)
    for target in TARGETS:
        got = run_on(
            target,
            masked_kernel,
            (programs,),
            x,
            out,
            n,
            start,
            MASK=mask,
            OTHER=other,
            BLOCK=block,
        )
        require_equal(got["out"], wanted, target)


@triton.jit
def moved_kernel(x, y, out, step, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    a = tl.load(x + lanes)
    b = tl.load(y + lanes * step)
    tl.store(out + lanes, a + b * 3)
    tl.store(y + lanes, tl.load(x + lanes) - a)


@examples(20)
@given(
    st.sampled_from([1, 3, 16, 17, 64]),
    *[st.integers(0, 20)] * 3,
    st.integers(0, 2),
    st.sampled_from(["int32", "int8", "int64"]),
    seeds,
)
def test_arguments_that_overlap(block, first, second, third, step, name, seed):
    """A statement loads all it needs before the next one stores."""
    if step == 0 and block > 1:
        step = 1
    whole = anything(name, (200,), seed)

    def views(memory: Array) -> tuple[Array, ...]:
        return memory[first : first + 70], memory[second : second + 150], memory[third : third + 70]

    wanted = whole.copy()
    x, y, out = views(wanted)
    lanes = np.arange(block)
    with np.errstate(over="ignore"):
        a, b = x[lanes].copy(), y[lanes * step].copy()
        out[lanes] = a + b * wanted.dtype.type(3)
        y[lanes] = x[lanes] - a
    for target in TARGETS:
        memory = whole.copy()
        launch(target, moved_kernel, (1,), *views(memory), step, BLOCK=block)
        require_equal(memory, wanted, target)


# -- windows

PAD = ("", "zero", "nan")


@triton.jit
def pointer_kernel(
    x, out, m, n, rs, cs, r, c,
    BM: tl.constexpr, BN: tl.constexpr, CHECK: tl.constexpr, PAD: tl.constexpr,
    ORDER: tl.constexpr,
):  # fmt: skip
    window = tl.make_block_ptr(x, (m, n), (rs, cs), (r, 0), (BM, BN), ORDER)
    window = tl.advance(window, (0, c))
    value = tl.load(window, boundary_check=CHECK, padding_option=PAD)
    copy = tl.make_block_ptr(out, (m, n), (rs, cs), (r, c), (BM, BN), ORDER)
    tl.store(copy, value + 1, boundary_check=(0, 1))


@triton.jit
def descriptor_kernel(
    x, out, whole, m, n, rs, r, c, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr
):
    source = tl.make_tensor_descriptor(x, [m, n], [rs, 1], [BM, BN], padding_option=PAD)
    target = tl.make_tensor_descriptor(out, [m, n], [rs, 1], [BM, BN])
    value = source.load([r, c])
    target.store([r, c], value + 1)
    place = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(whole + place, value)


extents = st.integers(1, 9)
offsets = st.integers(-6, 12)


def window_of(x: Array, r: int, c: int, bm: int, bn: int, fill: float) -> tuple[Array, Array]:
    """The block at an offset of the array, and which of it lies inside."""
    rows, columns = np.arange(r, r + bm)[:, None], np.arange(c, c + bn)[None, :]
    m, n = x.shape
    inside = (rows >= 0) & (rows < m) & (columns >= 0) & (columns < n)
    clipped = x[np.clip(rows, 0, m - 1), np.clip(columns, 0, n - 1)]
    return np.where(inside, clipped, np.array(fill).astype(x.dtype)), inside


@examples(20)
@given(
    extents, extents, offsets, offsets, extents, extents, st.booleans(), st.sampled_from(PAD), seeds
)
def test_block_pointers(m, n, r, c, bm, bn, columns, pad, seed):
    """Column-major arrays too; what is outside pads, and is not written."""
    x = small("fp32", (m, n), seed, 50)
    out = np.zeros((m, n), np.float32)
    block, inside = window_of(x, r, c, bm, bn, np.nan if pad == "nan" else 0)
    wanted = out.copy()
    rows, cols = (np.arange(s, s + e) for s, e in ((r, bm), (c, bn)))
    at = np.argwhere(inside)
    wanted[rows[at[:, 0]], cols[at[:, 1]]] = block[inside] + 1
    strides = (1, m) if columns else (n, 1)
    held = [np.ascontiguousarray(a.T if columns else a) for a in (x, out)]
    order = (0, 1) if columns else (1, 0)
    for target in TARGETS:
        got = run_on(
            target, pointer_kernel, (1,), *held, m, n, *strides, r, c,
            BM=bm, BN=bn, CHECK=(0, 1), PAD=pad, ORDER=order,
        )["out"]  # fmt: skip
        require_equal(got.T if columns else got, wanted, target)


@examples(10)
@given(extents, extents, st.integers(0, 5), st.integers(0, 5), st.sampled_from([0, 1]), seeds)
def test_a_check_of_one_axis(bm, bn, r, c, axis, seed):
    """The other is known to be inside."""
    m, n = r + bm - (axis == 0), c + bn - (axis == 1)
    if m < 1 or n < 1:
        return
    x, out = small("fp32", (m, n), seed, 50), np.zeros((m, n), np.float32)
    block, inside = window_of(x, r, c, bm, bn, 0)
    wanted = out.copy()
    wanted[r:, c:] = (block + 1)[: m - r, : n - c]
    for target in TARGETS:
        got = run_on(
            target, pointer_kernel, (1,), x, out, m, n, n, 1, r, c,
            BM=bm, BN=bn, CHECK=(axis,), PAD="", ORDER=(1, 0),
        )["out"]  # fmt: skip
        require_equal(got, wanted, target)


@examples(20)
@given(
    extents, extents, offsets, offsets, extents, extents, st.sampled_from(["zero", "nan"]), seeds
)
def test_descriptors(m, n, r, c, bm, bn, pad, seed):
    x, out = small("fp32", (m, n), seed, 50), np.zeros((m, n), np.float32)
    block, inside = window_of(x, r, c, bm, bn, np.nan if pad == "nan" else 0)
    wanted = out.copy()
    rows, cols = (np.arange(s, s + e) for s, e in ((r, bm), (c, bn)))
    at = np.argwhere(inside)
    wanted[rows[at[:, 0]], cols[at[:, 1]]] = block[inside] + 1
    for target in TARGETS:
        got = run_on(
            target, descriptor_kernel, (1,), x, out, np.zeros((bm, bn), np.float32), m, n, n, r, c,
            BM=bm, BN=bn, PAD=pad,
        )  # fmt: skip
        require_equal(got["out"], wanted, target)
        require_equal(got["whole"], block, target)


# -- atomics

KINDS = ("add", "max", "min", "and", "or", "xor", "xchg")
STEP: dict[str, Any] = {
    "add": np.add,
    "max": np.fmax,
    "min": np.fmin,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "xchg": lambda old, new: new,
}


@triton.jit
def atomic_kernel(
    memory, index, value, mask, olds, KIND: tl.constexpr, SEM: tl.constexpr, BLOCK: tl.constexpr
):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    on = tl.load(mask + lanes)
    old = getattr(tl, f"atomic_{KIND}")(
        memory + tl.load(index + lanes), tl.load(value + lanes), mask=on, sem=SEM
    )
    tl.store(olds + lanes, old, mask=on)


def explained(start: Any, steps: list[tuple[Any, Any]], end: Any, step: Any) -> bool:
    """Whether the updates, each (what was given, what was there), can have happened one after the
    other in some order."""
    if not steps:
        return bool(start == end)
    tried: set[Any] = set()
    for place, (given_value, old) in enumerate(steps):
        if old == start and (given_value.item(), old.item()) not in tried:
            tried.add((given_value.item(), old.item()))
            after = step(start, given_value)
            if explained(after, steps[:place] + steps[place + 1 :], end, step):
                return True
    return False


ATOMIC = ["int32", "uint32", "int64", "uint64", "fp16", "bf16", "fp32", "fp64"]


@pytest.mark.parametrize("kind", KINDS)
@examples(8)
@given(
    st.sampled_from([1, 3, 16, 33]),
    st.integers(1, 3),
    st.sampled_from(["different", "some", "one"]),
    dtypes(ATOMIC),
    st.sampled_from([None, "relaxed", "acquire", "release", "acq_rel"]),
    seeds,
)
def test_atomics_happen_one_after_the_other(kind, block, programs, spread, name, sem, seed):
    if kind in ("and", "or", "xor") and name not in INTS:
        name = "int32"
    size, random = block * programs, np.random.default_rng(seed)
    memory = small(name, (size,), seed, 6)
    index = {
        "different": random.permutation(size),
        "some": random.integers(0, -(-size // 3), size),
        "one": np.zeros(size),
    }[spread].astype(np.int32)
    value = small(name, (size,), seed + 1, 6)
    mask = random.integers(0, 4, size) > 0
    for target in TARGETS:
        got = run_on(
            target, atomic_kernel, (programs,), memory, index, value, mask, np.zeros_like(value),
            KIND=kind, SEM=sem, BLOCK=block,
        )  # fmt: skip
        require_explained(target, kind, (memory, index, value, mask), got["memory"], got["olds"])


def require_explained(
    target: str, kind: str, given_arrays: tuple[Array, ...], after: Array, olds: Array
) -> None:
    memory, index, value, mask = given_arrays
    assert (olds[~mask] == 0).all(), target
    step, counts = STEP[kind], Counter(index[mask].tolist())
    for place in range(len(memory)):
        mine = mask & (index == place)
        if counts[place] <= 12:
            steps = list(zip(value[mine], olds[mine]))
            assert explained(memory[place], steps, after[place], step), (target, place)
        elif kind != "xchg":
            wanted = memory[place]
            for one in value[mine]:
                wanted = step(wanted, one)
            assert wanted == after[place], (target, place)
        else:
            both = Counter([*value[mine].tolist(), memory[place].item()])
            assert both == Counter([*olds[mine].tolist(), after[place].item()]), (target, place)


@triton.jit
def cas_kernel(memory, index, expected, value, olds, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    place = memory + tl.load(index + lanes)
    old = tl.atomic_cas(place, tl.load(expected + lanes), tl.load(value + lanes))
    tl.store(olds + lanes, old)


@examples(15)
@given(
    st.sampled_from([1, 3, 16, 33]),
    dtypes(["int32", "int64", "uint32", "uint64", "fp32", "fp64", "fp16", "bf16"]),
    seeds,
)
def test_compare_and_swap_compares_bits(block, name, seed):
    """Minus zero is not zero, and a NaN is itself."""
    random = np.random.default_rng(seed)
    pool = np.array([0, 1, 2, 3] if name in INTS else [0.0, -0.0, 1, np.nan]).astype(DTYPES[name])
    memory, expected, value = (pool[random.integers(0, 4, block)] for _ in range(3))
    index = random.permutation(block).astype(np.int32)
    bits = np.dtype(f"u{pool.itemsize}")
    old = memory[index]
    wanted = memory.copy()
    wanted[index] = np.where(old.view(bits) == expected.view(bits), value, old)
    for target in TARGETS:
        got = run_on(
            target, cas_kernel, (1,), memory, index, expected, value, np.zeros_like(value),
            BLOCK=block,
        )  # fmt: skip
        np.testing.assert_array_equal(got["memory"].view(bits), wanted.view(bits), target)
        np.testing.assert_array_equal(got["olds"].view(bits), old.view(bits), target)


@pytest.mark.parametrize("name", ["int8", "int16", "bf16"])
def test_explained_can_say_no(name):
    one, two = np.array([1, 2], DTYPES[name])
    assert explained(one, [(two, one)], two, STEP["xchg"])
    assert not explained(one, [(two, two)], two, STEP["xchg"])
