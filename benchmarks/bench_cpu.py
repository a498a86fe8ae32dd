"""The CPU target against NumPy, torch and Numba: what streams, what reduces rows, what multiplies.

All of them may use every core. The peers write into arrays that are there, as the kernels do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import torch

import mytriton as triton
import mytriton.language as tl
from benchmarks.harness import Benchmark

SIZE = 1 << 22
ROWS, COLUMNS = 4096, 1024
SIDE = 512


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask) + tl.load(y + offsets, mask), mask)


@triton.jit
def sigmoid_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, 1 / (1 + tl.exp(-tl.load(x + offsets, mask))), mask)


@triton.jit
def softmax_kernel(x, out, stride, n, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0) * stride, tl.arange(0, BLOCK)
    mask = columns < n
    value = tl.load(x + row + columns, mask, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row + columns, power / tl.sum(power, axis=0), mask)


@triton.jit
def layer_norm_kernel(x, weight, bias, out, stride, n, eps, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0) * stride, tl.arange(0, BLOCK)
    mask = columns < n
    value = tl.load(x + row + columns, mask, other=0.0)
    centred = tl.where(mask, value - tl.sum(value, axis=0) / n, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    result = centred * scale * tl.load(weight + columns, mask) + tl.load(bias + columns, mask)
    tl.store(out + row + columns, result, mask)


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_ptrs = a + rows[:, None] * am + depth[None, :] * ak
    b_ptrs = b + depth[:, None] * bk + columns[None, :] * bn
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a_ptrs, (rows[:, None] < M) & (depth[None, :] < K - k), other=0.0)
        right = tl.load(b_ptrs, (depth[:, None] < K - k) & (columns[None, :] < N), other=0.0)
        total = tl.dot(left, right, total)
        a_ptrs += BK * ak
        b_ptrs += BK * bk
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * cm + columns[None, :] * cn, total, inside)


@numba.njit(parallel=True, fastmath=False)
def numba_add(x, y, out):
    for i in numba.prange(x.size):
        out[i] = x[i] + y[i]


@numba.njit(parallel=True, fastmath=False)
def numba_sigmoid(x, out):
    for i in numba.prange(x.size):
        out[i] = np.float32(1) / (np.float32(1) + np.exp(-x[i]))


@numba.njit(parallel=True, fastmath=False)
def numba_softmax(x, out):
    for row in numba.prange(x.shape[0]):
        power = np.exp(x[row] - x[row].max())
        out[row] = power / power.sum()


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def torched(*arrays: Any) -> Any:
    return [torch.from_numpy(array) for array in arrays]


def close(out: Any, expected: Callable[[], Any], tolerance: float) -> Callable[[], None]:
    return lambda: np.testing.assert_allclose(out, expected(), rtol=tolerance, atol=tolerance)


def small() -> Benchmark:
    """A launch of one program: what is left is what launching costs."""
    x, y, out = numbers(3, 64)
    tensors = torched(x, y, out)
    return Benchmark(
        "add, 64 f32 (launch overhead)",
        {
            "mytriton": lambda: add_kernel[(1,)](x, y, out, 64, BLOCK=64, target="cpu"),
            "numpy": lambda: np.add(x, y, out=out),
            "torch": lambda: torch.add(tensors[0], tensors[1], out=tensors[2]),
        },
    )


def add() -> Benchmark:
    x, y, out, other = numbers(SIZE), numbers(SIZE), numbers(SIZE), numbers(SIZE)
    a, b, c = torched(x, y, other)
    grid = (SIZE // 4096,)
    return Benchmark(
        "add, 4M f32",
        {
            "mytriton": lambda: add_kernel[grid](x, y, out, SIZE, BLOCK=4096, target="cpu"),
            "numpy": lambda: np.add(x, y, out=other),
            "torch": lambda: torch.add(a, b, out=c),
            "numba": lambda: numba_add(x, y, other),
        },
        bytes=3 * x.nbytes,
        check=close(out, lambda: x + y, 0),
    )


def sigmoid() -> Benchmark:
    x, out, other = numbers(SIZE), numbers(SIZE), numbers(SIZE)
    a, c = torched(x, other)
    grid = (SIZE // 4096,)
    return Benchmark(
        "sigmoid, 4M f32",
        {
            "mytriton": lambda: sigmoid_kernel[grid](x, out, SIZE, BLOCK=4096, target="cpu"),
            "torch": lambda: torch.sigmoid(a, out=c),
            "numba": lambda: numba_sigmoid(x, other),
        },
        bytes=2 * x.nbytes,
        check=close(out, lambda: torch.sigmoid(a).numpy(), 1e-6),
    )


def softmax(columns: int, block: int) -> Benchmark:
    x, out, other = numbers(ROWS, columns), numbers(ROWS, columns), numbers(ROWS, columns)
    a, c = torched(x, other)

    def ours() -> None:
        softmax_kernel[(ROWS,)](x, out, columns, columns, BLOCK=block, target="cpu")

    peers = {
        "mytriton": ours,
        "torch": lambda: torch.softmax(a, 1, out=c),
        "numba": lambda: numba_softmax(x, other),
    }
    name = f"softmax, {ROWS} x {columns} f32"
    check = close(out, lambda: torch.softmax(a, 1).numpy(), 1e-6)
    return Benchmark(name, peers, bytes=2 * x.nbytes, check=check)


def layer_norm() -> Benchmark:
    x, out = numbers(ROWS, COLUMNS), numbers(ROWS, COLUMNS)
    weight, bias = numbers(2, COLUMNS)
    a, w, b = torched(x, weight, bias)

    def ours() -> None:
        arrays = (x, weight, bias, out)
        layer_norm_kernel[(ROWS,)](*arrays, COLUMNS, COLUMNS, 1e-5, BLOCK=1024, target="cpu")

    def theirs() -> Any:
        return torch.nn.functional.layer_norm(a, (COLUMNS,), w, b, 1e-5)

    peers = {"mytriton": ours, "torch": theirs}
    check = close(out, lambda: theirs().numpy(), 1e-5)
    name = f"layer norm, {ROWS} x {COLUMNS} f32"
    return Benchmark(name, peers, bytes=2 * x.nbytes, check=check)


def matmul(transposed: bool) -> Benchmark:
    x, y, out, other = (numbers(SIDE, SIDE) for _ in range(4))
    right = y.T if transposed else y
    a, b, c = torched(x, y, other)
    b = b.T if transposed else b
    strides = (1, SIDE) if transposed else (SIDE, 1)
    grid, block = (SIDE // 128, SIDE // 128), {"BM": 128, "BN": 128, "BK": 64}

    def ours() -> None:
        extents = (SIDE, SIDE, SIDE, SIDE, 1, *strides, SIDE, 1)
        matmul_kernel[grid](x, y, out, *extents, **block, target="cpu")

    peers = {
        "mytriton": ours,
        "numpy": lambda: np.matmul(x, right, out=other),
        "torch": lambda: torch.mm(a, b, out=c),
    }
    name = f"matmul{' by a transpose' if transposed else ''}, {SIDE} cubed f32"
    check = close(out, lambda: x.astype(np.float64) @ right, 1e-3)
    return Benchmark(name, peers, flops=2 * SIDE**3, check=check)


def benchmarks() -> Iterator[Benchmark]:
    yield small()
    yield add()
    yield sigmoid()
    yield softmax(1024, 1024)
    yield softmax(781, 1024)
    yield layer_norm()
    yield matmul(False)
    yield matmul(True)
