"""Sorting on every kind of machine: stable, NaN last either way, minus zero equal to zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.host import made_for

from .machines import MACHINES, runs_here

TYPES = ("f4", "f2", "f8", "i4", "u4", "i1", "u1", "i2", "i8", "u8")


@triton.jit
def sort_kernel(x, out, index, N: tl.constexpr, DOWN: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(out + i, tl.sort(value, descending=DOWN))
    tl.store(index + i, tl.argsort(value, descending=DOWN))


@triton.jit
def sort_columns_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), dim=0))


def hostile(dtype: str, count: int) -> Any:
    """Many equal elements, the ends of the type, and every kind of float."""
    random = np.random.default_rng(count)
    if dtype.startswith("f"):
        x = random.standard_normal(count).astype(dtype)
        for value in (0.0, -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).tiny / 2):
            x[random.random(count) < 0.12] = value
        return x
    ends = np.iinfo(dtype)
    x = random.integers(ends.min, ends.max, count, dtype=dtype, endpoint=True)
    x[random.random(count) < 0.2], x[random.random(count) < 0.2] = ends.max, ends.min
    return x


def order(x: Any, down: bool) -> list[int]:
    """Python's own stable sort."""
    values = x.tolist()

    def key(i: int) -> tuple[bool, Any]:
        lost = isinstance(values[i], float) and math.isnan(values[i])
        return lost, 0 if lost else -values[i] if down else values[i]

    return sorted(range(len(values)), key=key)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("dtype", TYPES)
def test_sorted_as_python_sorts(dtype: str, machine: str) -> None:
    if not runs_here(machine):
        pytest.skip("this processor cannot run that code")
    sort_kernel.clear_cache()
    with made_for(MACHINES[machine]):
        for count in (1, 3, 16, 17, 100, 256):
            for down in (False, True):
                x = hostile(dtype, count)
                out, index = np.zeros_like(x), np.full(count, -1, np.int32)
                sort_kernel[(1,)](x, out, index, N=count, DOWN=down, target="cpu")
                wanted = order(x, down)
                assert index.tolist() == wanted, (count, down)
                assert out.tobytes() == x[wanted].tobytes(), (count, down)
    sort_kernel.clear_cache()


@pytest.mark.parametrize("shape", [(5, 7), (64, 3), (16, 16), (33, 40)])
def test_columns_are_sorted_one_by_one(shape: tuple[int, int]) -> None:
    x = hostile("i4", shape[0] * shape[1]).reshape(shape)
    out = np.zeros_like(x)
    sort_columns_kernel[(1,)](x, out, M=shape[0], N=shape[1], target="cpu")
    np.testing.assert_array_equal(out, np.sort(x, axis=0))
