"""Gather on the CPU target reads nothing outside the block."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl


@triton.jit
def pick_kernel(x, index, out, N: tl.constexpr, M: tl.constexpr):
    picked = tl.gather(tl.load(x + tl.arange(0, N)), tl.load(index + tl.arange(0, M)), 0)
    tl.store(out + tl.arange(0, M), picked)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
def test_an_index_outside_the_block_takes_the_nearest_element(dtype: type) -> None:
    x = np.arange(100, 300, dtype=np.float32)
    ends = np.iinfo(dtype)
    index = np.array([0, 1, ends.max, ends.min, 99, ends.max - 1, 5], dtype)
    out = np.zeros(7, np.float32)
    pick_kernel[(1,)](x, index, out, N=200, M=7, target="cpu")
    inside = [min(max(int(i), 0), 199) for i in index]
    np.testing.assert_array_equal(out, x[inside])


def _late(length: int) -> str:
    names = [f"v{k}" for k in range(length)]
    lines = ["def late(index, x, out, n, N: tl.constexpr):"]
    lines += [f"    {name} = 0" for name in names]
    lines += ["    for i in range(n):"]
    lines += [f"        {name} = {before}" for name, before in zip(names[:0:-1], names[-2::-1])]
    lines += ["        v0 = tl.load(index + i)", "        block = tl.load(x + tl.arange(0, N))"]
    lines += [f"        where = tl.full((1,), {names[-1]}, tl.int32)"]
    lines += ["        tl.store(out + i + tl.arange(0, 1), tl.gather(block, where, 0))"]
    return "\n".join(lines)


@pytest.mark.parametrize("length", [3, 44, 100])
def test_an_index_that_reaches_the_gather_after_many_rounds(length: int) -> None:
    """A shift register of that many values: what it holds is known only after as many rounds."""
    space = {"tl": tl}
    source = _late(length)
    file = f"<late {length}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), space)
    late = triton.jit(space["late"])
    rounds = length + 3
    index = np.full(rounds, 2_000_000_000, np.int32)
    index[1] = 5
    out = np.zeros(rounds, np.float32)
    late[(1,)](index, np.arange(16, dtype=np.float32), out, rounds, N=16, target="cpu")
    expected = [0.0] * (length - 1) + [15.0, 5.0, 15.0, 15.0]
    np.testing.assert_array_equal(out, expected)
