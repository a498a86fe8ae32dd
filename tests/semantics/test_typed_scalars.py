"""Numbers that are assigned to names: typed scalars whose value stays known."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileTypeError
from tests.support.backends import run_everywhere

NAMES = {1: "one", 8: "eight"}


def log2_of(n):
    return (n - 1).bit_length()


@triton.jit
def python_uses(out, n, BLOCK: tl.constexpr):
    half = BLOCK // 2
    size = math.sqrt(half * 2)
    lanes = tl.arange(0, half)
    rows = [0] * half
    total = 0
    for row in range(half):
        total += row
    if half == 8:
        total += 100
    text = f"{half:3d}|{half}|{size:.1f}"
    assert text == "  8|8|4.0"
    assert NAMES[half] == "eight" and half in (4, 8) and len(rows) == half
    assert round(size) == 4 and "ab" * (half // 4) == "abab" and (1, 2, 3)[half // 4] == 3
    assert np.log2(half) == 3 and np.prod(np.zeros((half, 2)).shape) == 16
    assert half.bit_length() == 4 and size.is_integer() and log2_of(half) == 3
    assert (np.int64(3) * half).dtype == tl.int32 and np.float32(0.5) * lanes is not None
    assert max(half, 3) == 8 and min(half, 3) == 3 and divmod(17, 5) == (3, 2)
    assert half.dtype == tl.int32 and size.dtype == tl.float32 and half.shape == []
    while half > 1:
        half = half // 2
        total += 1000
    tl.store(out + lanes, lanes * total + tl.zeros([BLOCK // 2], tl.int32) + n)


def test_a_typed_scalar_serves_where_python_needs_a_number():
    wanted = np.arange(8, dtype=np.int32) * (28 + 100 + 3000) + 5
    run_everywhere(python_uses, (1,), np.zeros(8, np.int32), 5, BLOCK=16, expected={"out": wanted})


class Config(NamedTuple):
    scale: float
    count: int


@triton.jit
def halve(x):
    if tl.sum(x, 0) > 1e6:
        return x * 0.0
    return x * 0.5


@triton.jit
def factor(n):
    if n > 2:
        return 0.5
    return 0.25


@triton.jit
def same_factor(n):
    if n > 2:
        return 0.5
    return 0.5


@triton.jit
def values_kernel(x, out, n, SCALE: tl.constexpr, CONFIG: tl.constexpr):
    lanes = tl.arange(0, 4)
    h = tl.load(x + lanes)
    weak: tl.constexpr = 0.1
    typed = 0.1
    config = CONFIG
    items = [0.1, 3]
    tl.store(out + lanes, h * weak)
    tl.store(out + 4 + lanes, h * typed)
    tl.store(out + 8 + lanes, h * config.scale + config.count)
    tl.store(out + 12 + lanes, h * items[0] + items[1])
    tl.store(out + 16 + lanes, h * factor(n))
    tl.store(out + 20 + lanes, h * (0.1 if n > 2 else 0.2))
    tl.store(out + 24 + lanes, h * SCALE)
    tl.store(out + 28 + lanes, halve(h))
    for i in tl.static_range(3):
        h += i * 0.1
    tl.store(out + 32 + lanes, h)
    tl.store(out + 36 + lanes, h * same_factor(n) * 0.1)
    tl.store(out + 40 + lanes, (-7) // 2 + lanes)
    seven = -7
    tl.store(out + 44 + lanes, seven // 2 + lanes + seven % 4)


def test_weak_and_typed_numbers_have_their_values_everywhere():
    """An f16 block times a weak number is rounded to f16, times a typed one it stays f32."""
    x = np.array([1, 3, 1000, 0.001], np.float16)
    f, h = np.float32, np.float16
    wide, tenth = x.astype(f), f(0.1)
    steps = x
    for i in range(3):
        steps = (steps + h(i * 0.1)).astype(h)
    rows = [
        x * h(0.1),
        wide * tenth,
        wide * f(0.3) + 2,
        wide * tenth + 3,
        wide * f(0.5),
        wide * tenth,
        x * h(0.7),
        x * h(0.5),
        steps,
        steps.astype(f) * f(0.5) * tenth,
        np.arange(4) - 4,
        np.arange(4) - 3 - 3,
    ]
    wanted = np.concatenate([np.asarray(row, f) for row in rows])
    run_everywhere(
        values_kernel, (1,), x, np.zeros(48, f), 3, SCALE=0.7, CONFIG=Config(0.3, 2),
        expected={"out": wanted},
    )  # fmt: skip


@triton.jit
def flags_kernel(out, n):
    found = False
    count = 0
    for i in range(n):
        if i == 3:
            found = True
        if found:
            count += 1
    big = 0x9E3779B9
    lanes = tl.arange(0, 2)
    tl.store(out + lanes, (big * count + lanes).to(tl.int64))


def test_flags_and_wrapping_of_typed_scalars():
    wanted = (np.arange(2) + 0x9E3779B9 * 4) % 2**32
    run_everywhere(flags_kernel, (1,), np.zeros(2, np.int64), 7, expected={"out": wanted})


@triton.jit
def loop_kernel(out, n):
    total = 0
    for i in range(n):
        total = total + 0.5
    tl.store(out, total)


def test_a_carried_scalar_that_changes_its_type_is_named():
    out = np.zeros(1, np.float32)
    with pytest.raises(CompileTypeError, match=r"`total` is changed by the loop to another type"):
        loop_kernel[(1,)](out, 3)


@triton.jit
def print_kernel(out, n):
    three = 3
    tenth = 0.1
    print("three is", three, "tenth", tenth)
    tl.static_print(f"{three}|{tenth:.2f}|{n.dtype}", three)
    tl.store(out, three)


def test_a_typed_scalar_prints_as_its_number(capsys):
    print_kernel[(1,)](np.zeros(1, np.int32), 1, target="interpret")
    shown = capsys.readouterr().out.splitlines()
    assert shown == ["3|0.10|i32 3", "pid (0, 0, 0) three is 3 tenth 0.1"]


@triton.jit
def fields_kernel(x, n):
    pair = tl.tuple([1, 0.5], tl.tuple_type([tl.int32, tl.float32], ["total", "scale"]))
    for i in range(n):
        pair = pair.rebuilt([pair.total + i, pair.scale * 2.0])
    if n > 2:
        pair = pair.rebuilt([pair.total + 100, pair.scale])
    shape = tl.zeros([4, 2], tl.float32).shape
    tl.static_assert(shape == [4, 2] and shape != [4, 3] and shape[0].dtype == tl.int32)
    tl.store(x + tl.arange(0, shape[0]), tl.zeros([shape[0]], tl.float32) + pair.total + pair.scale)


def test_named_items_keep_their_names_and_types():
    wanted = np.full(4, 1 + 3 + 100 + 0.5 * 8, np.float32)
    run_everywhere(fields_kernel, (1,), np.zeros(4, np.float32), 3, expected={"x": wanted})
