"""Loops, branches and early exits on run-time values, on every target."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import KernelError
from tests.support.backends import run_everywhere


def per_program(kernel, count, reference, *arguments, dtype=np.int32, **constexprs):
    """Program i of `count` stores reference(i) at out[i]."""
    expected = np.array([reference(i) for i in range(count)], dtype)
    out = np.full(count, -1, dtype)
    run_everywhere(kernel, (count,), out, *arguments, expected={"out": expected}, **constexprs)


@triton.jit
def collatz_kernel(out):
    pid = tl.program_id(0)
    n = pid + 1
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(out + pid, steps)


def test_a_while_with_a_branch():
    def steps(i):
        n, count = i + 1, 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    per_program(collatz_kernel, 30, steps)


@triton.jit
def range_kernel(out, start, stop, step):
    pid = tl.program_id(0)
    total = 0
    for i in range(start + pid, stop, step):
        total = total * 3 + i
    tl.store(out + pid, total)


@pytest.mark.parametrize("bounds", [(0, 10, 1), (10, -5, -3), (5, 5, 1), (7, 3, 2), (-4, 4, 3)])
def test_ranges_with_run_time_bounds_and_steps(bounds):
    start, stop, step = bounds

    def reference(i):
        total = 0
        for k in range(start + i, stop, step):
            total = total * 3 + k
        return total

    per_program(range_kernel, 3, reference, *bounds)


@triton.jit
def wide_range_kernel(out, start: tl.int64, stop: tl.int64):
    total = start - start
    for i in range(start, stop, 2):
        total += i
    tl.store(out + tl.program_id(0), total)


def test_a_range_beyond_32_bits():
    start = 2**40
    expected = sum(range(start, start + 9, 2))
    per_program(wide_range_kernel, 1, lambda i: expected, start, start + 9, dtype=np.int64)


@triton.jit
def first_divisor_kernel(out, limit):
    """The least divisor above 1 of each program's number, by a `break`; primes in between count."""
    pid = tl.program_id(0)
    n = pid + 2
    found = n
    for candidate in range(2, limit):
        if candidate >= n:
            break
        if n % candidate != 0:
            continue
        found = candidate
        break
    tl.store(out + pid, found)


def test_break_and_continue():
    def divisor(i):
        return next(d for d in range(2, i + 3) if (i + 2) % d == 0)

    per_program(first_divisor_kernel, 40, divisor, 100)


@triton.jit
def nested_break_kernel(out, n):
    """How many pairs (i, j) come before the first with i * j > pid in each row; rows end at 5."""
    pid = tl.program_id(0)
    count = 0
    for i in range(n):
        if i > 5:
            break
        for j in range(n):
            if i * j > pid:
                break
            if (i + j) % 3 == 0:
                continue
            count += 1
    tl.store(out + pid, count)


def test_breaks_and_continues_of_nested_loops():
    def reference(pid):
        count = 0
        for i in range(10):
            if i > 5:
                break
            for j in range(10):
                if i * j > pid:
                    break
                if (i + j) % 3 == 0:
                    continue
                count += 1
        return count

    per_program(nested_break_kernel, 12, reference, 10)


@triton.jit
def early_return_kernel(out, n):
    pid = tl.program_id(0)
    if pid % 2 == 1:
        tl.store(out + pid, 100)
        return
    for i in range(n):
        if i * i > pid:
            tl.store(out + pid, i)
            return
    tl.store(out + pid, 200)


def test_return_from_a_branch_and_from_a_loop():
    def reference(pid):
        if pid % 2:
            return 100
        return next((i for i in range(4) if i * i > pid), 200)

    per_program(early_return_kernel, 20, reference, 4)


@triton.jit
def root(n):
    """The integer square root, by a `return` inside a loop of an inlined function."""
    guess = n
    for _ in range(40):
        following = (guess + n // guess) // 2
        if following >= guess:
            return guess
        guess = following
    return guess


@triton.jit
def root_kernel(out):
    pid = tl.program_id(0)
    tl.store(out + pid, root(pid + 1))


def test_return_inside_a_loop_of_an_inner_function():
    import math

    per_program(root_kernel, 50, lambda i: math.isqrt(i + 1))


@triton.jit
def block_loop_kernel(x, out, n, BLOCK: tl.constexpr):
    """A block carried through a loop: out[i] = sum over k of x[i] ** k, k < n."""
    lanes = tl.arange(0, BLOCK)
    value = tl.load(x + lanes)
    power = tl.full([BLOCK], 1, tl.int32)
    total = tl.zeros([BLOCK], tl.int32)
    for _ in range(n):
        total += power
        power = power * value
    tl.store(out + lanes, total)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_blocks_carried_by_a_loop(n):
    x = np.arange(-8, 8, dtype=np.int32)
    expected = sum((x**k for k in range(n)), np.zeros_like(x))
    run_everywhere(
        block_loop_kernel, (1,), x, np.ones_like(x), n, BLOCK=16, expected={"out": expected}
    )


@triton.jit
def endless_kernel(out):
    pid = tl.program_id(0)
    n = 0
    while True:
        n += 1
        if n * n > pid:
            break
    tl.store(out + pid, n)


def test_a_loop_left_only_by_break():
    import math

    per_program(endless_kernel, 20, lambda i: math.isqrt(i) + 1)


@triton.jit
def forever(n):
    guess = n
    while True:
        following = (guess + n // guess) // 2
        if following >= guess:
            return guess
        guess = following


@triton.jit
def forever_kernel(out):
    pid = tl.program_id(0)
    tl.store(out + pid, forever(pid + 1))


def test_a_loop_left_only_by_return():
    import math

    per_program(forever_kernel, 50, lambda i: math.isqrt(i + 1))


@triton.jit
def swap_kernel(out, n):
    """Two names that exchange their values at every step (Fibonacci)."""
    pid = tl.program_id(0)
    a, b = 0, 1
    for _ in range(pid + n):
        a, b = b, a + b
    tl.store(out + pid, a)


def test_carried_names_change_together():
    numbers = [0, 1]
    while len(numbers) < 20:
        numbers.append(numbers[-1] + numbers[-2])
    per_program(swap_kernel, 10, lambda i: numbers[i + 2], 2)


@triton.jit
def logic_kernel(out, a, b):
    pid = tl.program_id(0)
    inside = a < pid < b
    if (inside and not pid == 5) or pid == 0:
        value = 1 if pid % 2 == 0 else 2
    elif pid >= b:
        value = 3
    else:
        value = 4
    tl.store(out + pid, value)


def test_and_or_not_chains_and_conditional_expressions():
    def reference(pid):
        if (2 < pid < 8 and not pid == 5) or pid == 0:
            return 1 if pid % 2 == 0 else 2
        return 3 if pid >= 8 else 4

    per_program(logic_kernel, 12, reference, 2, 8)


@triton.jit
def static_kernel(out, WIDTHS: tl.constexpr, DOUBLE: tl.constexpr):
    total = 0
    for width in tl.static_range(3):
        total += width
    for width in WIDTHS:
        total += width * (2 if DOUBLE else 1)
    tl.store(out + tl.program_id(0), total)


@pytest.mark.parametrize("double", [False, True])
def test_python_is_the_metalanguage(double):
    per_program(
        static_kernel,
        2,
        lambda i: 3 + 60 * (2 if double else 1),
        WIDTHS=(10, 20, 30),
        DOUBLE=double,
    )


@triton.jit
def step_kernel(out, low, high, step):
    turns = 0
    for _ in range(low, high, step):
        turns += 1
    tl.store(out, turns)


@pytest.mark.parametrize("target", ["interpret", "cpu", "cudasim"])
def test_a_range_with_a_step_of_0_is_a_fault_at_its_line(target):
    out = np.full(1, 7, np.int32)
    with pytest.raises(KernelError, match=r"range\(\) with a step of 0.*program") as caught:
        step_kernel[(1,)](out, 0, 10, 0, target=target)
    line = step_kernel.fn.__code__.co_firstlineno + 3
    assert f"test_control_flow.py:{line} in step_kernel" in str(caught.value) and out[0] == 7
    step_kernel[(1,)](out, 0, 10, 3, target=target)
    assert out[0] == 4
