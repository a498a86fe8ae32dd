"""A kernel's control flow does what Python's does, whether its conditions are known or not.

Each kernel is a plain Python function of ints; it is run as Python, and as a kernel whose arguments
come at run time, on the interpreter (finished IR and eager). The results must be equal.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl


def early_return(a, b):
    if a > b:
        return a
    return b


def return_in_branches(a, b):
    if a > b:
        if a > 3:
            return 1
        c = 5
    elif a == b:
        return 2
    else:
        c = 7
    return c + a


def return_in_loop(a, b):
    for i in range(a):
        if i * i > b:
            return i
    return -1


def return_in_nested_loops(a, b):
    total = 0
    for i in range(a):
        for j in range(b):
            total += i
            if i + j > 5:
                return total
        total += 100
    return -total


def break_and_continue(a, b):
    total = 0
    for i in range(a):
        if i == 2:
            continue
        if i > b:
            break
        total += i
    return total


def break_else(a, b):
    total = 0
    for i in range(a):
        if i == b:
            total += 100
            break
        total += i
    else:
        total += 1000
    return total


def while_break_else(a, b):
    total = 0
    while total < a:
        total += 2
        if total == b:
            break
    else:
        total += 1000
    return total


def while_true(a, b):
    n = a
    steps = 0
    while True:
        if n <= 1 or steps > 40:
            break
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps + b


def while_return(a, b):
    i = 0
    while i < a:
        if i == b:
            return i * 10
        i += 1
    return i


def while_continue(a, b):
    i = 0
    total = 0
    while i < a:
        i += 1
        if i % 3 == b:
            continue
        total += i
    return total


def while_int(a, b):
    total = b
    while a:
        a = a - 1
        total += a
    return total


def nested_break(a, b):
    total = 0
    for i in range(a):
        for j in range(a):
            if j > i:
                break
            if i == b:
                continue
            total += 10 * i + j
        total += 1
    return total


def static_loop_with_break(a, b):
    total = 0
    for i in (1, 2, 3, 4):
        if i > a:
            break
        total += i * b
    return total


def static_loop_with_return(a, b):
    for i in (1, 2, 3, 4):
        if i == a:
            return i + 10 * b
    return b


def static_unrolled_range(a, b):
    total = 0
    for i in tl.static_range(4):
        if i == b:
            continue
        total += a * i
    return total


def negative_step(a, b):
    total = 0
    for i in range(a, -1, -2):
        total = total * 3 + i
    return total + b


def runtime_step(a, b):
    total = 0
    for i in range(0, 20, b + 1):
        total += i
    return total + a


def loop_variable_after(a, b):
    i = 50
    for i in range(a):
        b += i
    return b * 100 + i


def fibonacci(a, b):
    x, y = 0, 1
    for _ in range(a):
        x, y = y, x + y
    return x + b


def carried_list(a, b):
    state = [a, b]
    for i in range(a):
        state[0] = state[0] + i
        state[1] = state[0] - state[1]
    return state[0] * 100 + state[1]


def carried_tuple(a, b):
    pair = (a, (b, 1))
    for _ in range(b):
        pair = (pair[1][0] + 1, (pair[0], pair[1][1] + 1))
    return pair[0] * 100 + pair[1][0] * 10 + pair[1][1]


def if_list(a, b):
    values = [1, 2]
    if a > b:
        values[0] = a
    else:
        values.append(3)
        values.pop()
        values[1] = b
    return values[0] * 10 + values[1]


def chained_comparison(a, b):
    return 1 if 0 < a < b else 2 if 0 <= a <= b <= 3 else 3


def conditional_expression(a, b):
    return (a if a > b else b) + (1 if a == b else 0)


def logic(a, b):
    result = 0
    if a > 2 and b > 2:
        result += 1
    if a > 2 or b > 2:
        result += 10
    if not (a > b):
        result += 100
    if not a:
        result += 1000
    return result


def boolean_flag(a, b):
    found = False
    for i in range(a):
        if i == b:
            found = True
    return 1 if found else 0


def builtins_on_tensors(a, b):
    return min(a, b, 3) * 100 + max(a, b) * 10 + abs(a - b) + int(a > b)


def huge_range_with_break(a, b):
    total = 0
    for i in range(b, 2147483647, 3):
        if i > 20:
            break
        total += i
    return total + a


def huge_negative_range_with_return(a, b):
    total = 0
    for i in range(a, -2147483647, -2):
        if i < -5:
            return total * 100 + i
        total += b
    return -1


def leaving_at_the_last_round(a, b):
    n = 0
    i = 2147483640
    for i in range(2147483640, 2147483647, 5):
        n += 1
        if n > a:
            break
    return n * 10 + (i - 2147483640) * b


def swap_in_branch(a, b):
    if a > b:
        a, b = b, a
    return a * 10 + b


def augmented(a, b):
    if a > 1:
        b += a
        b *= 2
    return b


def elif_chain(a, b):
    if a == 0:
        r = b
    elif a == 1:
        r = b + 10
    elif a == 2:
        r = b + 20
    elif a == 3:
        r = b + 30
    else:
        r = b + 40
    return r


def inner_function(a, b):
    def larger(x, y):
        if x > y:
            return x
        return y

    return larger(a, 2) * 10 + larger(2, b)


def lambda_with_condition(a, b):
    pick = lambda x, y: x if x < y else y  # noqa: E731
    return pick(a, b) + sum([x if a > x else 0 for x in (1, 2, 3)])


def jumps_in_every_way(a, b):
    total = 0
    for i in range(a):
        if i == 1:
            continue
        for j in range(5):
            if j == b:
                break
            if i * j > 6:
                return total * 10
            total += j
        else:
            total += 50
        if total > 100:
            break
    else:
        total += 1
    return total


def walrus(a, b):
    if (c := a + b) > 4:
        c += 1
    return c


def bound_before_break(a, b):
    value = 0
    for i in range(a):
        value = i * 2
        if i == b:
            break
        value = value + 100
    return value


def dead_after(a, b):
    if a > b:
        t = a * 2
        u = t + 1
    else:
        u = b
    return u


def assert_known(a, b):
    assert 1 < 2, "no"
    return a - b


KERNELS = [
    value
    for value in list(globals().values())
    if inspect.isfunction(value)
    and value.__module__ == __name__
    and list(inspect.signature(value).parameters) == ["a", "b"]
]


@triton.jit
def store_result(out, a, b, FUNCTION: tl.constexpr):
    tl.store(out, FUNCTION(a, b))


def launch(function: Any, a: int, b: int, target: str) -> int:
    out = np.full(1, -77, np.int32)
    store_result[(1,)](out, a, b, FUNCTION=function, target=target)
    return int(out[0])


@pytest.mark.parametrize("target", ["interpret", "eager"])
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_as_in_python(function: Callable[[int, int], int], target: str) -> None:
    jitted = triton.jit(function)
    for a, b in itertools.product(range(6), range(5)):
        assert launch(jitted, a, b, target) == int(function(a, b)), (a, b)


def test_enough_kernels() -> None:
    assert len(KERNELS) >= 37
