"""What holds at the edges: arguments that overlap, the ends of 64 and of 32 bits, narrow constants,
long chains, names, and a cache that cannot be used."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cuda import generate
from mytriton.targets.cuda.emit.numbering import numbers_leave_32_bits
from tests.support.backends import run_everywhere
from tests.support.cuda import check_simulated, compile_everywhere, traced


@triton.jit
def doubled(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i) * 2)


@pytest.mark.parametrize("options", [{}, {"num_warps": 1}, {"num_warps": 4}])
@pytest.mark.parametrize("target", ["cpu", "interpret", "cudasim"])
@pytest.mark.parametrize("distance", [-3, -1, 1, 5])
def test_loads_come_before_later_stores_where_arguments_overlap(target, distance, options):
    b = np.arange(1, 200, dtype=np.float32)
    want = b.copy()
    start = max(0, -distance)
    x, o = slice(start, start + 128), slice(start + distance, start + distance + 128)
    want[o] = want[x] * 2
    doubled[(1,)](b[x], b[o], BLOCK=128, target=target, **options)
    np.testing.assert_array_equal(b, want)


@triton.jit
def counted(out, start, end, step, STEP: tl.constexpr):
    n = 0
    last = start
    for i in range(start, end, STEP or step):
        n += 1
        last = i
    tl.store(out, n)
    tl.store(out + 1, last)


@pytest.mark.parametrize("constant", [0, 3])
@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        (2**63 - 8, 2**63 - 1, 3),
        (2**63 - 7, 2**63 - 1, 3),
        (-(2**63), -(2**63) + 7, 3),
        (2**63 - 1, -(2**63), 3),
        (2**62, -(2**62), -(2**61) - 5),
        (-(2**63) + 9, -(2**63), -4),
        (2**40, 2**40 + 10, 3),
    ],
)
def test_ranges_end_at_the_ends_of_64_bits(start, end, step, constant):
    if constant and step != constant:
        pytest.skip("another step")
    turns = range(start, end, step)
    want = [len(turns), turns[-1] if turns else start]
    out = np.zeros(2, np.int64)
    expected = {"out": np.array(want, np.int64)}
    run_everywhere(counted, (1,), out, start, end, step, expected=expected, STEP=constant)


@triton.jit
def narrow(x, out):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    tl.store(out + i, tl.minimum(v, 5) + tl.maximum(v, 3) + v // 3 + v % 5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_narrow_constants_are_of_the_narrow_type(dtype):
    x = np.arange(32).astype(dtype)
    expected = {"out": np.minimum(x, 5) + np.maximum(x, 3) + x // 3 + x % 5}
    run_everywhere(narrow, (1,), x, np.zeros_like(x), expected=expected)


def chain(x, out, N: tl.constexpr):
    i = tl.arange(0, 32)
    v = tl.load(x + i)
    number = i
    for _ in tl.static_range(N):
        v = v * 3 + i
        number = number + 7
    tl.store(out + i, v + number)


@pytest.mark.parametrize("warps", [None, 1])
def test_a_chain_of_many_ops(warps):
    function = traced(chain, x="*i32", out="*i32", N=700)
    assert len(generate(function, num_warps=warps).kernel.splitlines()) > 700


def launch(x, out):
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i) + 1)


def größe(ä, thread, scratch):
    i = tl.arange(0, 16)
    tl.store(scratch + i, tl.load(ä + i) + thread)


def named(r, q, n, k, m, a, b):
    i, j = tl.arange(0, 16), tl.arange(0, 32)
    at = i[:, None] * 32 + j[None, :]
    total = tl.sum(tl.load(a + at) * r + q, 1) + n
    tl.store(b + i, total + k * m)


def test_parameters_may_have_the_names_that_the_text_uses_itself():
    a = np.arange(512, dtype=np.int32)
    function = traced(named, r="i32", q="i32", n="i32", k="i32", m="i32", a="*i32", b="*i32")
    got = check_simulated(function, 3, 5, 7, 11, 13, a, np.zeros(16, np.int32))[-1]
    np.testing.assert_array_equal(got, (a.reshape(16, 32) * 3 + 5).sum(1) + 7 + 143)


def test_kernels_and_parameters_may_have_any_name():
    x = np.arange(16, dtype=np.int32)
    check_simulated(traced(launch, x="*i32", out="*i32"), x, np.zeros_like(x))
    function = traced(größe, ä="*i32", thread="i32", scratch="*i32")
    check_simulated(function, x, 5, np.zeros_like(x))
    compile_everywhere(generate(function, num_warps=2))


def numbered(out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at % 64, at)


def test_numbers_of_elements_wrap_where_a_grid_has_more_than_32_bits():
    function = traced(numbered, out="*i32", BLOCK=1024)
    assert not numbers_leave_32_bits(function, (2**21 - 1, 1, 1))
    assert numbers_leave_32_bits(function, (2**21 + 1, 1, 1))
    assert "(v0 * 1024)" in generate(function).kernel
    wrapped = generate(function, wraps=True)
    assert "(int)((unsigned int)v0 * 1024)" in wrapped.kernel
    compile_everywhere(wrapped)
