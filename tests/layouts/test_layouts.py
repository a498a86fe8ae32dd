"""Layouts hold every element, and conversion plans move each one to where the target wants it,
without bank conflicts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mytriton.layouts import Layout, Permute, Shared, Shuffle, blocked, convert, picture
from mytriton.layouts.linear import Span, combine, padded, ravel, unravel
from mytriton.layouts.shapes import mma_operand, mma_result
from mytriton.layouts.simulate import held, indices, simulate
from mytriton.layouts.swizzle import Swizzle, complement, conflicts, intersection, swizzle

PAIRS = 2000


def random_layout(rng: random.Random, bits: int, warps: int, copies: bool, mixed: bool) -> Layout:
    """A layout of `1 << bits` elements in which every element is held; `mixed`: bases are sums."""
    threads = 5 + warps
    units = [1 << bit for bit in range(bits)]
    rng.shuffle(units)
    if mixed:
        units = [u ^ (units[i - 1] if i and rng.random() < 0.5 else 0) for i, u in enumerate(units)]
    zeros = rng.randint(0, threads) if copies else 0
    slots = units + [0] * max(zeros, threads - len(units))
    rng.shuffle(slots)
    split = len(slots) - threads
    return Layout((1 << bits,), tuple(slots[:split]), tuple(slots[split : split + 5]),
                  tuple(slots[split + 5 :]))  # fmt: skip


def random_pair(seed: int) -> tuple[Layout, Layout, int]:
    rng = random.Random(seed)
    bits, warps = rng.randint(0, 11), rng.choice([0, 1, 2, 3])
    copies, mixed = rng.random() < 0.4, rng.random() < 0.3
    one, other = (random_layout(rng, bits, warps, copies, mixed) for _ in range(2))
    if rng.random() < 0.3:  # often only a little differs
        slots = list(one.register)
        rng.shuffle(slots)
        other = Layout(one.shape, tuple(slots), one.lane, one.warp)
        if rng.random() < 0.5:
            lanes = list(one.lane)
            rng.shuffle(lanes)
            other = Layout(one.shape, tuple(slots), tuple(lanes), one.warp)
    return one, other, rng.choice([1, 2, 4, 8, 16])


@pytest.mark.parametrize("chunk", range(10))
def test_plans_move_every_element_without_bank_conflicts(chunk):
    kinds = set()
    for seed in range(chunk * PAIRS // 10, (chunk + 1) * PAIRS // 10):
        source, target, size = random_pair(seed)
        assert source.is_surjective
        block = np.random.default_rng(seed).permutation(source.shape[0])
        plan = convert(source, target, size)
        got = simulate(plan, source, target, held(source, block))
        np.testing.assert_array_equal(got, held(target, block), err_msg=f"{source}\n{target}")
        kinds.add(type(plan))
        if isinstance(plan, Shared):
            for side in (source, target):
                assert conflicts(side, plan.swizzle, size) == 1, f"{seed}: {source}\n{target}"
    assert kinds == {Permute, Shuffle, Shared}


def test_a_placement_that_is_not_swizzled_has_conflicts():
    """The counter of conflicts can say no: a transposed square in row-major order."""
    rows = blocked((32, 32), 1)
    columns = blocked((32, 32), 1, order=(0, 1))
    plain = Swizzle(tuple(1 << bit for bit in range(10)), 1)
    assert conflicts(rows, plain, 4) == 1
    assert conflicts(columns, plain, 4) == 32
    assert conflicts(columns, swizzle(rows, columns, 4), 4) == 1


def test_vector_accesses_use_common_registers():
    rows = blocked((64, 64), 4, vector=8)
    assert swizzle(rows, rows, 2).vector == 8
    assert swizzle(rows, rows, 8).vector == 2
    assert swizzle(rows, rows.transpose((1, 0)), 2).vector == 1


@pytest.mark.parametrize("warps", [1, 4, 8, 32])
@pytest.mark.parametrize("shape", [(1,), (16,), (4096,), (16, 64), (128, 2), (2, 4, 8), (1, 1)])
def test_blocked_layouts_hold_every_element(shape, warps):
    layout = blocked(shape, warps, 4)
    assert layout.is_surjective
    assert layout.threads == 32 * warps
    held_once = indices(layout)[[t for t in range(layout.threads) if not t & layout.copies]]
    assert sorted(held_once.ravel()) == list(range(int(np.prod(shape))))


def test_the_accumulator_of_mma_is_as_the_manual_draws_it():
    """PTX ISA: row is lane/4 for c0, c1 and 8 more for c2, c3; the column is lane%4*2 + i%2."""
    layout = mma_result((16, 8), (1, 1))
    for lane in range(32):
        for i in range(4):
            row, column = lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2
            assert unravel(layout.index(i, lane), (16, 8)) == (row, column)


def test_the_operands_of_mma_are_as_the_manual_draws_them():
    """m16n8k16 with 16-bit elements: A holds i in 0…7, B holds i in 0…3."""
    a, b = mma_operand((16, 16), (1, 1), "A", 2), mma_operand((16, 8), (1, 1), "B", 2)
    for lane in range(32):
        for i in range(8):
            row = lane // 4 + (8 if i % 4 >= 2 else 0)
            column = lane % 4 * 2 + i % 2 + (8 if i >= 4 else 0)
            assert unravel(a.index(i, lane), (16, 16)) == (row, column)
        for i in range(4):
            row = lane % 4 * 2 + i % 2 + (8 if i >= 2 else 0)
            assert unravel(b.index(i, lane), (16, 8)) == (row, lane // 4)


def test_slices_stretch_in_place():
    layout = blocked((16, 64), 4, vector=2)
    rows = layout.without(1)
    assert rows.shape == (16,)
    assert rows.reshape((16, 1)) == layout.narrowed((16, 1))
    plan = convert(rows.compact(), rows, 4)
    assert isinstance(plan, Permute)


def test_transposing_twice_is_nothing():
    layout = blocked((8, 16, 4), 2, 4)
    assert layout.transpose((2, 0, 1)).transpose((1, 2, 0)) == layout


def test_the_algebra():
    assert padded((1, 3, 100)) == (1, 4, 128)
    assert unravel(ravel((3, 5, 1), (4, 8, 2)), (4, 8, 2)) == (3, 5, 1)
    span = Span([0b011, 0b101])
    assert 0b110 in span and 0b100 not in span
    assert span.solve(0b110) == 0b11 and span.solve(0b001) is None
    rng = random.Random(1)
    for _ in range(300):
        left, right = ([rng.randrange(64) for _ in range(3)] for _ in range(2))
        units = [1 << i for i in range(6)]
        common = intersection(left, right)
        both = {combine(left, i) for i in range(8)} & {combine(right, i) for i in range(8)}
        assert {combine(common, i) for i in range(1 << len(common))} == both
        if Span(left).dimension == Span(right).dimension:
            other = complement(left, right, units)
            assert len(other) == 6 - Span(left).dimension
            for side in (left, right):
                assert not intersection(other, side)


def test_a_layout_is_shown():
    text = picture(blocked((2, 64), 1, vector=2))
    assert text.splitlines()[0] == "2x64: register (1 64), lane (2 4 8 16 32), warp ()"
    assert text.splitlines()[1].split()[:3] == ["T0:0", "T0:1", "T1:0"]
    assert text.splitlines()[2].split()[0] == "T0:2"
    assert "T0:0+" in picture(blocked((4,), 1))
