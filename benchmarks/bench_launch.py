"""What a launch costs beside its work: 64 elements added, all caches warm."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

import mytriton as triton
import mytriton.language as tl
from benchmarks.harness import Benchmark

SIZE = 64


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, total, mask=mask)


@numba.njit
def add_numba(x, y, out):
    for i in range(len(x)):
        out[i] = x[i] + y[i]


def compiled_anew(x, y, out) -> None:
    add_kernel.clear_cache()
    add_kernel[(1,)](x, y, out, SIZE, BLOCK=SIZE)


def benchmarks() -> Iterator[Benchmark]:
    x, y, out = np.random.default_rng(0).random((3, SIZE), np.float32)

    def launch() -> None:
        add_kernel[(1,)](x, y, out, SIZE, BLOCK=SIZE, target="cpu")

    def check() -> None:
        assert np.array_equal(out, x + y)

    peers = {
        "mytriton": launch,
        "numpy": lambda: np.add(x, y, out=out),
        "numba": lambda: add_numba(x, y, out),
    }
    yield Benchmark("launch, 64 f32 added", peers, check=check)
    yield Benchmark(
        "add_kernel, Python to CUDA text", {"mytriton": lambda: compiled_anew(x, y, out)}
    )
