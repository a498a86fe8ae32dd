"""Loops and branches: their C text, and that every order of threads computes what the interpreter
does."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.targets.cuda import generate, sim
from tests.support.cuda import check_simulated, ssa, traced
from tests.support.memory import arguments_of


def block_sum(x, out, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.full((BLOCK,), 0.0, tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x + start + lane, mask=start + lane < n, other=0.0)
    tl.store(out + lane, total)


def collatz(x, out):
    value = tl.load(x + tl.program_id(0))
    steps = 0
    while value > 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(out + tl.program_id(0), steps)


def swap(out, n):
    a = tl.program_id(0)
    b = 10
    c = 100
    for _ in range(n):
        a, b, c = b, c, a
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)


def walk(x, out, n, BLOCK: tl.constexpr):
    source = x + tl.arange(0, BLOCK)
    target = out
    for i in range(n):
        value = tl.load(source)
        tl.store(target + tl.arange(0, BLOCK), value * 2)
        source += BLOCK
        target += BLOCK


def choose(x, y, out, flag, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    if flag > 0:
        source = x
        scale = 2.0
    elif flag == 0:
        source = y
        scale = 3.0
    else:
        source = y + 1
        scale = 4.0
    tl.store(out + lane, tl.load(source + lane) * scale)


def nested(out, n, m):
    total = 0
    for i in range(n):
        for j in range(i, m, 2):
            if (i + j) % 3 == 0:
                total += i * j
            else:
                total -= 1
    tl.store(out, total)


def test_texts(expected, nvrtc):
    texts = [
        generate(traced(block_sum, x="*f32", out="*f32", n="i32", BLOCK=64)),
        generate(traced(collatz, x="*i32", out="*i32")),
        generate(traced(swap, out="*i32", n="i32")),
        generate(traced(walk, x="*f32", out="*f32", n="i32", BLOCK=32)),
        generate(traced(choose, x="*f32", y="*f32", out="*f32", flag="i32", BLOCK=8)),
        generate(traced(nested, out="*i32", n="i32", m="i32")),
    ]
    for source in texts:
        nvrtc(source)
    expected("cuda_control.cu", "\n\n".join(source.text for source in texts))


@pytest.mark.parametrize("n", [0, 1, 64, 200])
def test_a_loop_that_carries_a_block(n):
    function = traced(block_sum, x="*f32", out="*f32", n="i32", BLOCK=64)
    x = np.arange(max(n, 1), dtype=np.float32)
    _, out, _ = check_simulated(function, x, np.zeros(64, np.float32), n)
    padded = np.zeros(-(-n // 64) * 64, np.float32)
    padded[:n] = x[:n]
    assert np.array_equal(out, padded.reshape(-1, 64).sum(0))


def test_a_while_with_a_branch():
    x = np.array([1, 2, 3, 7, 27], np.int32)
    function = traced(collatz, x="*i32", out="*i32")
    _, out = check_simulated(function, x, np.zeros(5, np.int32), grid=(5, 1, 1))
    assert out.tolist() == [0, 1, 7, 16, 111]


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4])
def test_carried_values_are_assigned_at_once(turns):
    function = traced(swap, out="*i32", n="i32")
    out, _ = check_simulated(function, np.zeros(3, np.int32), turns)
    values = [0, 10, 100]
    assert out.tolist() == [values[(i + turns) % 3] for i in range(3)]


def test_carried_pointers():
    function = traced(walk, x="*f32", out="*f32", n="i32", BLOCK=32)
    x = np.arange(96, dtype=np.float32)
    _, out, _ = check_simulated(function, x, np.zeros(96, np.float32), 3)
    assert np.array_equal(out, 2 * x)


@pytest.mark.parametrize("flag", [1, 0, -1])
def test_branches_that_choose_pointers(flag):
    function = traced(choose, x="*f32", y="*f32", out="*f32", flag="i32", BLOCK=8)
    x, y = np.arange(9, dtype=np.float32), np.arange(100, 109, dtype=np.float32)
    *_, out, _ = check_simulated(function, x, y, np.zeros(8, np.float32), flag)
    want = {1: x[:8] * 2, 0: y[:8] * 3, -1: y[1:] * 4}[flag]
    assert np.array_equal(out, want)


def test_nested_loops_and_branches():
    function = traced(nested, out="*i32", n="i32", m="i32")
    out, *_ = check_simulated(function, np.zeros(1, np.int32), 7, 9)
    terms = [(i, j) for i in range(7) for j in range(i, 9, 2)]
    assert out[0] == sum(i * j if (i + j) % 3 == 0 else -1 for i, j in terms)


def count(bounds: str):
    text = """
        count(out: ptr<i32>, lo: i32, hi: i32, step: i32) {
            %3 = for BOUNDS, 0 : i32 (%0 i : i32, %1 turns : i32) {
                %2 = add %1, 1 : i32
                yield %2
            }
            store out, %3, none
        }
    """
    return ssa(text.replace("BOUNDS", bounds))


@pytest.mark.parametrize(
    ("bounds", "lo", "hi", "step"),
    [
        ("lo, hi, step", 0, 10, 3),
        ("lo, hi, step", 10, 0, -3),
        ("lo, hi, step", 5, 5, 1),
        ("lo, hi, step", 5, 0, 1),
        ("lo, hi, step", -(2**31), 2**31 - 1, 2**30),
        ("lo, hi, step", 2**31 - 20, 2**31 - 1, 7),
        ("lo, hi, step", -(2**31) + 20, -(2**31), -7),
        ("lo, hi, 7", 2**31 - 20, 2**31 - 1, 7),
        ("lo, hi, 1", 2**31 - 20, 2**31 - 1, 1),
        ("lo, hi, -1", 3, -2, -1),
        ("lo, 2147483647, 5", 2**31 - 9, 2**31 - 1, 5),
        ("0, 10, 4", 0, 10, 4),
    ],
)
def test_how_often_a_loop_runs(bounds, lo, hi, step):
    out, *_ = check_simulated(count(bounds), np.zeros(1, np.int32), lo, hi, step)
    assert out[0] == len(range(lo, hi, step))


def test_a_loop_whose_index_may_pass_its_type_counts_in_64_bits(nvrtc):
    source = generate(count("lo, hi, 7"))
    assert "for (long long i0 = lo; i0 < hi; i0 += 7) {" in source.text
    nvrtc(source)


def test_an_if_without_else_has_none(nvrtc):
    source = generate(
        ssa("""
            k(x: ptr<f32>, flag: i32) {
                %0 = cmp_gt flag, 0 : bool
                if %0 {
                    store x, 1.0, none
                } else {
                }
            }
        """)
    )
    assert "else" not in source.text
    nvrtc(source)


def test_a_function_of_scalars_on_every_element():
    """Each thread takes its own way through the function's branches."""
    function = ssa("""
        k(x: ptr<i32>, out: ptr<i32>) {
            %0 = arange {start=0, end=16} : vector<16 x i32>
            %1 = addptr x, %0 : vector<16 x ptr<i32>>
            %2 = load %1, none, none : vector<16 x i32>
            %7 = map %2 : vector<16 x i32> (%3 a : i32) {
                %4 = cmp_lt %3, 0 : bool
                %6 = if %4 : i32 {
                    %5 = neg %3 : i32
                    yield %5
                } else {
                    yield 7
                }
                yield %6
            }
            %8 = addptr out, %0 : vector<16 x ptr<i32>>
            store %8, %7, none
        }
    """)
    x = np.arange(-8, 8, dtype=np.int32)
    _, out = check_simulated(function, x, np.zeros(16, np.int32))
    assert np.array_equal(out, np.where(x < 0, -x, 7))


def reversed_after_loop(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, i)
    for turn in range(n):
        tl.debug_barrier()
    tl.store(out + i, tl.load(x + (N - 1) - i))


def test_a_barrier_inside_a_loop_without_turns_orders_nothing():
    function = traced(reversed_after_loop, x="*i32", out="*i32", n="i32", N=64)
    for warps in (None, 4):
        source = generate(function, num_warps=warps)
        for order in sim.ORDERS:
            x, out = np.zeros(64, np.int32), np.zeros(64, np.int32)
            sim.run(source, (1, 1, 1), arguments_of(function, (x, out, 0)), order=order)
            np.testing.assert_array_equal(out, np.arange(64)[::-1])
