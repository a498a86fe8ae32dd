"""The CPU target where memory is not read in order: transposes, gathers, scatters, sorts.

All peers use one thread; the kernels too, where MYTRITON_THREADS=1 says so.
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
SIDE = 2048
ROWS, WIDTH = 32768, 128
BINS = 1024

# -- kernels


@triton.jit
def transpose_kernel(x, out, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    columns = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    tl.store(out + columns * N + rows, tl.load(x + rows * N + columns))


@triton.jit
def strided_copy_kernel(x, out, rows, columns, sr, sc, tr, tc, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    mask = (r < rows) & (c < columns)
    tl.store(out + r * tr + c * tc, tl.load(x + r * sr + c * sc, mask), mask)


@triton.jit
def column_sums_kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BN,), tl.float32)
    for start in range(0, M, BM):
        rows = start + tl.arange(0, BM)
        total += tl.sum(tl.load(x + rows[:, None] * N + columns[None, :]), axis=0)
    tl.store(out + columns, total)


@triton.jit
def gather_kernel(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + tl.load(index + i, mask, other=0), mask), mask)


@triton.jit
def select_rows_kernel(x, index, out, width, BLOCK: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    columns = tl.arange(0, BLOCK)
    mask = columns < width
    value = tl.load(x + row * width + columns, mask)
    tl.store(out + tl.program_id(0) * width + columns, value, mask)


@triton.jit
def repeat_kernel(x, out, n, times, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i // times, mask), mask)


@triton.jit
def divide_kernel(x, quotient, remainder, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    value = tl.load(x + i, mask, other=0)
    tl.store(quotient + i, value // by, mask)
    tl.store(remainder + i, value % by, mask)


@triton.jit
def histogram_kernel(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.atomic_add(bins + tl.load(x + i, mask, other=0), 1, mask)


@triton.jit
def add_rows_kernel(x, index, out, width, BLOCK: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    columns = tl.arange(0, BLOCK)
    mask = columns < width
    value = tl.load(x + tl.program_id(0) * width + columns, mask)
    tl.atomic_add(out + row * width + columns, value, mask)


@triton.jit
def sort_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def topk_kernel(x, out, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    best = tl.topk(tl.load(x + row * BLOCK + tl.arange(0, BLOCK)), K)
    tl.store(out + row * K + tl.arange(0, K), best)


@triton.jit
def segment_sums_kernel(x, starts, out, BLOCK: tl.constexpr):
    segment = tl.program_id(0)
    start, end = tl.load(starts + segment), tl.load(starts + segment + 1)
    total = tl.zeros((BLOCK,), tl.float32)
    for at in range(start, end, BLOCK):
        i = at + tl.arange(0, BLOCK)
        total += tl.load(x + i, i < end, other=0.0)
    tl.store(out + segment, tl.sum(total))


# -- peers


@numba.njit(fastmath=True)
def numba_gather(x, index, out):
    for i in range(index.size):
        out[i] = x[index[i]]


@numba.njit(fastmath=True)
def numba_column_sums(x, out):
    out[:] = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[j] += x[i, j]


@numba.njit(fastmath=True)
def numba_copy(x, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j]


@numba.njit(fastmath=True)
def numba_divide(x, quotient, remainder, by):
    for i in range(x.size):
        quotient[i] = np.int32(x[i]) // np.int32(by)
        remainder[i] = np.int32(x[i]) % np.int32(by)


@numba.njit(fastmath=True)
def numba_histogram(x, bins):
    for i in range(x.size):
        bins[x[i]] += 1


@numba.njit(fastmath=True)
def numba_add_rows(x, index, out):
    for i in range(index.size):
        for j in range(x.shape[1]):
            out[index[i], j] += x[i, j]


@numba.njit(fastmath=True)
def numba_segment_sums(x, starts, out):
    for segment in range(out.size):
        total = np.float32(0)
        for i in range(starts[segment], starts[segment + 1]):
            total += x[i]
        out[segment] = total


def floats(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def ints(high: int, *shape: int) -> Any:
    return np.random.default_rng(1).integers(0, high, shape, dtype=np.int32)


def equal(out: Any, expected: Any, tolerance: float = 0.0) -> Callable[[], None]:
    return lambda: np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance)


def transpose() -> Benchmark:
    x, out, other = floats(SIDE, SIDE), floats(SIDE, SIDE), floats(SIDE, SIDE)
    a, c = torch.from_numpy(x), torch.from_numpy(other)
    grid = (SIDE // 64, SIDE // 64)
    peers = {
        "mytriton": lambda: transpose_kernel[grid](x, out, SIDE, BM=64, BN=64, target="cpu"),
        "numpy": lambda: np.copyto(other, x.T),
        "torch": lambda: c.copy_(a.T),
        "numba": lambda: numba_copy(x.T, other),
    }
    name = f"transpose, {SIDE} squared f32"
    return Benchmark(name, peers, bytes=2 * x.nbytes, check=equal(out, x.T))


def strided_copy(name: str, source: Any, out: Any, height: int, width: int) -> Benchmark:
    """A copy by strides given at run time, in blocks of height x width."""
    rows, columns = out.shape
    other = np.empty(out.size, out.dtype).reshape(out.shape)
    strides = [step // 4 for step in (*source.strides, *out.strides)]
    a, c = torch.from_numpy(source), torch.from_numpy(other)
    grid = (triton.cdiv(rows, height), triton.cdiv(columns, width))
    flat_in, flat_out = source.base.reshape(-1), out.base.reshape(-1)

    def ours() -> None:
        given = (flat_in, flat_out, rows, columns, *strides)
        strided_copy_kernel[grid](*given, BM=height, BN=width, target="cpu")

    peers = {
        "mytriton": ours,
        "numpy": lambda: np.copyto(other, source),
        "torch": lambda: c.copy_(a),
        "numba": lambda: numba_copy(source, other),
    }
    return Benchmark(name, peers, bytes=2 * out.nbytes, check=equal(out, source))


def strided_copies() -> Iterator[Benchmark]:
    for name, pick, block in (
        ("copy of every third column", lambda x: x[:, ::3], (8, 512)),
        ("copy of every third row", lambda x: x[::3], (8, 512)),
        ("copy of a transpose by strides", lambda x: x.T, (64, 64)),
    ):
        source = pick(floats(SIDE, SIDE))
        yield strided_copy(name, source, np.empty(source.shape, np.float32)[:], *block)


def column_sums() -> Benchmark:
    x, out, other = floats(4096, 1024), floats(1024), floats(1024)
    a, c = torch.from_numpy(x), torch.from_numpy(other)

    def ours() -> None:
        column_sums_kernel[(8,)](x, out, 4096, 1024, BM=16, BN=128, target="cpu")

    peers = {
        "mytriton": ours,
        "numpy": lambda: np.sum(x, axis=0, out=other),
        "torch": lambda: torch.sum(a, 0, out=c),
        "numba": lambda: numba_column_sums(x, other),
    }
    check = equal(out, x.sum(0, dtype=np.float64), 1e-3)
    return Benchmark("column sums, 4096 x 1024", peers, bytes=x.nbytes, check=check)


def gather() -> Benchmark:
    x, index, out, other = floats(1 << 16), ints(1 << 16, SIZE), floats(SIZE), floats(SIZE)
    a, i, c = torch.from_numpy(x), torch.from_numpy(index), torch.from_numpy(other)
    grid = (SIZE // 4096,)
    peers = {
        "mytriton": lambda: gather_kernel[grid](x, index, out, SIZE, BLOCK=4096, target="cpu"),
        "numpy": lambda: np.take(x, index, out=other, mode="clip"),
        "torch": lambda: torch.index_select(a, 0, i, out=c),
        "numba": lambda: numba_gather(x, index, other),
    }
    return Benchmark("gather 4M of 64K", peers, check=equal(out, x[index]))


def select_rows() -> Benchmark:
    x, index = floats(ROWS, WIDTH), ints(ROWS, ROWS)
    out, other = floats(ROWS, WIDTH), floats(ROWS, WIDTH)
    a, i, c = torch.from_numpy(x), torch.from_numpy(index), torch.from_numpy(other)

    def ours() -> None:
        select_rows_kernel[(ROWS,)](x, index, out, WIDTH, BLOCK=128, target="cpu")

    peers = {
        "mytriton": ours,
        "numpy": lambda: np.take(x, index, axis=0, out=other, mode="clip"),
        "torch": lambda: torch.index_select(a, 0, i, out=c),
    }
    return Benchmark("index_select, 32K rows of 128", peers, check=equal(out, x[index]))


def repeat() -> Benchmark:
    x, out, times = floats(SIZE // 8), floats(SIZE), 8
    a = torch.from_numpy(x)

    def ours() -> None:
        repeat_kernel[(SIZE // 4096,)](x, out, SIZE, times, BLOCK=4096, target="cpu")

    peers = {
        "mytriton": ours,
        "numpy": lambda: np.repeat(x, times),
        "torch": lambda: torch.repeat_interleave(a, times),
    }
    return Benchmark("repeat 8 times, 4M", peers, check=equal(out, np.repeat(x, times)))


def divide() -> Benchmark:
    x = ints(1 << 30, SIZE)
    quotient, remainder, third, fourth = (np.empty_like(x) for _ in range(4))
    a, b, c = (torch.from_numpy(array) for array in (x, third, fourth))
    grid = (SIZE // 4096,)

    def ours() -> None:
        divide_kernel[grid](x, quotient, remainder, SIZE, 7, BLOCK=4096, target="cpu")

    def theirs() -> None:
        torch.div(a, 7, rounding_mode="trunc", out=b)
        torch.remainder(a, 7, out=c)

    peers = {
        "mytriton": ours,
        "numpy": lambda: np.divmod(x, 7, third, fourth),
        "torch": theirs,
        "numba": lambda: numba_divide(x, third, fourth, 7),
    }
    check = equal(quotient, x // 7)
    return Benchmark("// and % by a number, 4M", peers, check=check)


def histogram() -> Benchmark:
    x, bins, other = ints(BINS, SIZE), np.zeros(BINS, np.int32), np.zeros(BINS, np.int32)
    a = torch.from_numpy(x)
    grid = (SIZE // 4096,)

    def check() -> None:
        bins[:] = 0
        histogram_kernel[grid](x, bins, SIZE, BLOCK=4096, target="cpu")
        np.testing.assert_array_equal(bins, np.bincount(x, minlength=BINS))

    peers = {
        "mytriton": lambda: histogram_kernel[grid](x, bins, SIZE, BLOCK=4096, target="cpu"),
        "numpy": lambda: np.bincount(x, minlength=BINS),
        "torch": lambda: torch.bincount(a, minlength=BINS),
        "numba": lambda: numba_histogram(x, other),
    }
    return Benchmark("histogram by atomics, 4M into 1024", peers, check=check)


def add_rows(name: str, rows: int) -> Benchmark:
    """Rows added to rows of a table: index_add, and the gradient of an embedding."""
    x, index = floats(ROWS, WIDTH), ints(rows, ROWS)
    out, other = np.zeros((rows, WIDTH), np.float32), np.zeros((rows, WIDTH), np.float32)
    a, i, c = torch.from_numpy(x), torch.from_numpy(index), torch.from_numpy(other)

    def ours() -> None:
        add_rows_kernel[(ROWS,)](x, index, out, WIDTH, BLOCK=128, target="cpu")

    def check() -> None:
        out[:], other[:] = 0, 0
        ours()
        numba_add_rows(x, index, other)
        np.testing.assert_allclose(out, other, rtol=1e-3, atol=1e-3)

    peers = {
        "mytriton": ours,
        "torch": lambda: c.index_add_(0, i, a),
        "numba": lambda: numba_add_rows(x, index, other),
    }
    return Benchmark(name, peers, check=check)


def sort() -> Benchmark:
    x, out = floats(4096, 256), floats(4096, 256)
    a = torch.from_numpy(x)
    peers = {
        "mytriton": lambda: sort_kernel[(4096,)](x, out, BLOCK=256, target="cpu"),
        "numpy": lambda: np.sort(x, axis=1),
        "torch": lambda: torch.sort(a, 1),
    }
    return Benchmark("sort, 4096 rows of 256", peers, check=equal(out, np.sort(x, axis=1)))


def topk() -> Benchmark:
    x, out = floats(4096, 1024), floats(4096, 8)
    a = torch.from_numpy(x)
    peers = {
        "mytriton": lambda: topk_kernel[(4096,)](x, out, BLOCK=1024, K=8, target="cpu"),
        "torch": lambda: torch.topk(a, 8),
        "numpy": lambda: np.partition(x, 1016, axis=1),
    }
    check = equal(out, torch.topk(a, 8)[0].numpy())
    return Benchmark("top 8, 4096 rows of 1024", peers, check=check)


def segment_sums() -> Benchmark:
    random = np.random.default_rng(2)
    starts = np.zeros(ROWS + 1, np.int32)
    starts[1:] = np.cumsum(random.integers(1, 256, ROWS))
    x, out, other = floats(int(starts[-1])), floats(ROWS), floats(ROWS)
    grid = (ROWS,)
    peers = {
        "mytriton": lambda: segment_sums_kernel[grid](x, starts, out, BLOCK=64, target="cpu"),
        "numpy": lambda: np.add.reduceat(x, starts[:-1], out=other),
        "numba": lambda: numba_segment_sums(x, starts, other),
    }
    check = equal(out, np.add.reduceat(x.astype(np.float64), starts[:-1]), 1e-3)
    return Benchmark("segmented sums, 32K of 1 to 255", peers, check=check)


def benchmarks() -> Iterator[Benchmark]:
    torch.set_num_threads(1)
    yield transpose()
    yield from strided_copies()
    yield column_sums()
    yield gather()
    yield select_rows()
    yield repeat()
    yield divide()
    yield histogram()
    yield add_rows("index_add, 32K rows into 4K", 4096)
    yield add_rows("embedding gradient, 32K rows into 64", 64)
    yield sort()
    yield topk()
    yield segment_sums()
