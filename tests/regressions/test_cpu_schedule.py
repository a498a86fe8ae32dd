"""A load sees memory as it was before the stores that follow it in the program, whatever its
address and the stores depend on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere

KERNELS: list[Any] = []


def kernel(function: Any) -> Any:
    made = triton.jit(function)
    KERNELS.append(pytest.param(made, id=function.__name__))
    return made


@kernel
def a_load_at_a_sum(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(y + at))
    value = tl.load(x + total + at)
    tl.store(x + at, 7)
    tl.store(out + at, value)


@kernel
def a_value_with_a_later_sum(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    tl.store(x + BLOCK - 1 - at, at)
    total = tl.sum(tl.load(y + at))
    tl.store(out + at, tl.cumsum(value * total * value + total, 0))


@kernel
def a_load_between_two_atomics(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    p = tl.atomic_add(y, 1)
    value = tl.load(x + p + at)
    q = tl.atomic_add(x + 3, p)
    tl.store(out + at, tl.cumsum(value, 0) + q)


@kernel
def a_load_through_a_load_before_a_loop(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    p = tl.atomic_add(y, 1)
    one = tl.load(x + p + at)
    two = tl.load(x + one + at)
    for i in range(n):
        tl.store(x + i, i)
    value = two * tl.load(x + 2) + one
    tl.store(out + at, tl.cumsum(value, 0) + tl.sum(value))


@kernel
def loads_around_a_loop_that_stores(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    p = tl.atomic_add(y, 1)
    one = tl.load(x + at + p)
    while p < 4:
        p = tl.atomic_add(y, 1)
        tl.store(x + p, p)
    two = tl.load(x + one + p)
    three = tl.load(x + at)
    tl.store(x + at, two)
    most = tl.max(three * one, 0)
    tl.store(out + at, tl.sort(two * most + three + one))


def answers(kernel: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    """What the kernel leaves, by the interpreter's eager driver: it knows no schedule."""
    left = {name: array.copy() for name, array in arrays.items()}
    kernel[(1,)](*left.values(), 5, BLOCK=32, target="eager")
    return left


@pytest.mark.parametrize("kernel", KERNELS)
def test_loads_stay_before_later_stores(kernel: Any) -> None:
    numbers = np.random.default_rng(0).integers(0, 2, 200).astype(np.int32)
    arrays = {"x": numbers[:64], "y": numbers[64:96], "out": np.zeros(32, np.int32)}
    run_everywhere(kernel, (1,), *arrays.values(), 5, BLOCK=32, expected=answers(kernel, arrays))


@pytest.mark.parametrize("kernel", KERNELS)
def test_loads_stay_before_later_stores_where_arguments_overlap(kernel: Any) -> None:
    numbers = np.random.default_rng(0).integers(0, 2, 200).astype(np.int32)
    left = {}
    for target in ("eager", "cpu"):
        memory = numbers.copy()
        kernel[(1,)](memory[:64], memory[40:90], memory[100:132], 5, BLOCK=32, target=target)
        left[target] = memory
    np.testing.assert_array_equal(left["cpu"], left["eager"])
