"""Products that pack their operands: kept from program to program, several turns of K at once."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.host import made_for

from .machines import MACHINES, runs_here


@triton.jit
def matmul(
    x, y, out, m, n, k, xm, xk, yk, yn,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K)
        if LEFT:
            at = x + rows[None, :] * xm + depth[:, None] * xk
            left = tl.trans(tl.load(at, (rows[None, :] < m) & (depth[:, None] < k), other=0.0))
        else:
            at = x + rows[:, None] * xm + depth[None, :] * xk
            left = tl.load(at, (rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        if RIGHT:
            at = y + columns[:, None] * yn + depth[None, :] * yk
            right = tl.trans(tl.load(at, (columns[:, None] < n) & (depth[None, :] < k), other=0.0))
        else:
            at = y + columns[None, :] * yn + depth[:, None] * yk
            right = tl.load(at, (columns[None, :] < n) & (depth[:, None] < k), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(out + rows[:, None] * n + columns[None, :], total, inside)


def run(machine: str, sizes: tuple[int, int, int], tile: tuple[int, int, int], form: int) -> None:
    (m, n, k), (M, N, K) = sizes, tile
    generator = np.random.default_rng(m + n + k)
    x, y = generator.standard_normal((m, k)), generator.standard_normal((k, n))
    a, b = x.astype(np.float32), y.astype(np.float32)
    expected = a.astype(np.float64) @ b
    left, right = bool(form & 1), bool(form & 2)
    a, xs = (np.ascontiguousarray(a.T), (1, m)) if left else (a, (k, 1))
    b, ys = (np.ascontiguousarray(b.T), (1, k)) if right else (b, (n, 1))
    out, grid = np.full((m, n), np.nan, np.float32), (-(-m // M), -(-n // N))
    matmul.clear_cache()
    with made_for(MACHINES[machine]):
        for _ in range(2):  # a second launch must not see what the first kept
            strides = (*xs, *ys)
            shape = {"M": M, "N": N, "K": K, "LEFT": left, "RIGHT": right}
            matmul[grid](a, b, out, m, n, k, *strides, **shape, target="cpu")
            bound = 2e-6 * k * (np.abs(expected).max() + 1)
            np.testing.assert_allclose(out, expected, atol=bound, rtol=0)
            b *= 2
            expected = expected * 2
    matmul.clear_cache()


@pytest.mark.parametrize("machine", [name for name in MACHINES if runs_here(name)])
@pytest.mark.parametrize("form", range(4))
def test_layouts_and_extents(machine: str, form: int) -> None:
    for sizes, tile in (
        ((100, 100, 100), (32, 32, 16)), ((64, 64, 640), (32, 32, 64)), ((17, 33, 3), (17, 33, 3)),
        ((1, 100, 64), (1, 16, 32)), ((100, 1, 300), (16, 1, 100)), ((48, 20, 2), (16, 10, 1)),
    ):  # fmt: skip
        run(machine, sizes, tile, form)


@triton.jit
def in_place(x, out, n, N: tl.constexpr):
    """Stores to what the next turn's operands are made of."""
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    total = tl.zeros((N, N), tl.float32)
    for _ in range(n):
        block = tl.load(x + i * N + j)
        total = tl.dot(block, block, total)
        tl.store(x + i * N + j, block * 0.5)
    tl.store(out + i * N + j, total)


def test_operands_that_the_loop_writes_are_read_each_turn() -> None:
    x = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    exact, out = x.astype(np.float64), np.zeros_like(x)
    expected = sum((exact * 0.5**t) @ (exact * 0.5**t) for t in range(5))
    in_place[(1,)](x, out, 5, N=16, target="cpu")
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
