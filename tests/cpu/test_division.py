"""`//` and `%` by a number that does not change in the loop: exact on every pair of ints."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.host import made_for

from .machines import MACHINES, runs_here


@triton.jit
def divide_kernel(x, by, quotients, rests, n, B: tl.constexpr):
    place = tl.program_id(0) * B + tl.arange(0, B)
    value, divisor = tl.load(x + place), tl.load(by)
    tl.store(quotients + place, value // divisor)
    tl.store(rests + place, value % divisor)


def hostile(dtype: type, divisor: int) -> np.ndarray:
    """The ends of the type, neighbours of multiples of the divisor, and random numbers."""
    ends, generator = np.iinfo(dtype), np.random.default_rng(0)
    multiples = generator.integers(ends.min, ends.max, 300, dtype) // divisor * divisor
    near = [m + d for m in map(int, multiples) for d in (-1, 0, 1)]
    near += [ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 1, -1, divisor, divisor - 1]
    near += list(map(int, generator.integers(ends.min, ends.max, 115, dtype)))
    return np.array([min(max(n, ends.min), ends.max) for n in near], dtype)


DIVISORS = [1, 2, 3, 7, 10, 127, 641, 65535, 65537, 1000003, 2**31 - 1]


@pytest.mark.parametrize("machine", [name for name in MACHINES if runs_here(name)])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int16, np.uint8])
def test_a_divisor_that_stands_before_the_loop(machine, dtype):
    ends = np.iinfo(dtype)
    every = [*DIVISORS, *(-d for d in DIVISORS), ends.min, ends.max]
    divide_kernel.clear_cache()
    for divisor in {d for d in every if ends.min <= d <= ends.max and d}:
        x = hostile(dtype, divisor)
        quotients, rests = np.zeros_like(x), np.zeros_like(x)
        by = np.array([divisor], dtype)
        with made_for(MACHINES[machine]):
            divide_kernel[(x.size // 64,)](x, by, quotients, rests, 0, B=64, target="cpu")
        whole = [abs(int(v)) // abs(divisor) * (1 if (v < 0) == (divisor < 0) else -1) for v in x]
        expected = np.array(whole, np.int64).astype(dtype)
        np.testing.assert_array_equal(quotients, expected)
        left = np.array([int(v) - q * divisor for v, q in zip(x, whole)], np.int64).astype(dtype)
        np.testing.assert_array_equal(rests, left)
    divide_kernel.clear_cache()
