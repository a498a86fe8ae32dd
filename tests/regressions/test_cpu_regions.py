"""Reductions, scans and maps call functions with control flow once an element, as they stand."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere


@triton.jit
def add_slowly(a, b):
    while b > 1000.0:
        b -= 1
    return a + b


@triton.jit
def combined(x, total, running, FUNCTION: tl.constexpr):
    at = tl.arange(0, 8)
    values = tl.load(x + at)
    tl.store(total, tl.reduce(values, 0, FUNCTION))
    tl.store(running + at, tl.associative_scan(values, 0, FUNCTION))


@triton.jit
def add_program(value, place):
    return value + tl.program_id(0)


@triton.jit
def add_block(value, place):
    return tl.sum(tl.arange(0, 4)) + value


@triton.jit
def mapped(x, out, FUNCTION: tl.constexpr):
    at = tl.arange(0, 8)
    tl.store(out + at, tl.map_elementwise(FUNCTION, tl.load(x + at), x + at))


def test_a_combine_function_that_loops() -> None:
    x = np.arange(8, dtype=np.float32)
    arrays = x, np.zeros(1, np.float32), np.zeros(8, np.float32)
    expected = {"total": x.sum(keepdims=True), "running": x.cumsum()}
    run_everywhere(combined, (1,), *arrays, FUNCTION=add_slowly, expected=expected)


@pytest.mark.parametrize(
    "function, change",
    [(add_program, lambda x: x), (add_block, lambda x: x + 6)],
)
def test_mapped_functions_that_do_more_than_arithmetic(function, change) -> None:
    x = np.arange(8, dtype=np.float32)
    out = np.zeros(8, np.float32)
    run_everywhere(mapped, (1,), x, out, FUNCTION=function, expected={"out": change(x)})
