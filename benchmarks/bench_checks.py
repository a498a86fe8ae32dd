"""What checks cost on the CPU target: the benchmark's kernels plain, with `debug=True`, and with
all kinds of the sanitizer but "order", which launches three times.

The launches are the same, so "is faster by" is how many times as long a checked launch takes. Races
are looked for one program after the other: on one thread what a plain launch does on several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mytriton as triton
from benchmarks.bench_cpu import (
    COLUMNS,
    ROWS,
    SIDE,
    SIZE,
    add_kernel,
    layer_norm_kernel,
    matmul_kernel,
    numbers,
    sigmoid_kernel,
    softmax_kernel,
)
from benchmarks.harness import Benchmark

KINDS = {
    "bounds (debug=True)": ("bounds",),
    "undefined": ("undefined",),
    "nan": ("nan",),
    "overflow": ("overflow",),
    "races": ("races",),
    "all": ("bounds", "undefined", "races", "overflow", "nan"),
}


def peers(launch: Callable[[], object]) -> dict[str, Callable[[], object]]:
    """The launch without checks, and with each set of kinds."""

    def checked(kinds: tuple[str, ...]) -> Callable[[], object]:
        def call() -> object:
            with triton.sanitize(*kinds) as session:
                launch()
            assert not session.findings
            return session

        return call

    return {"mytriton": launch, **{name: checked(kinds) for name, kinds in KINDS.items()}}


def launches() -> Iterator[tuple[str, Callable[[], Any]]]:
    """The launches, by name."""
    x, y, out = numbers(SIZE), numbers(SIZE), np.empty(SIZE, np.float32)
    flat = (triton.cdiv(SIZE, 4096),)
    yield "add, 4M f32", lambda: add_kernel[flat](x, y, out, SIZE, BLOCK=4096, target="cpu")
    yield "sigmoid, 4M f32", lambda: sigmoid_kernel[flat](x, out, SIZE, BLOCK=4096, target="cpu")
    rows, made = numbers(ROWS, 781), np.empty((ROWS, 781), np.float32)
    yield (
        "softmax, 4096 x 781 f32",
        lambda: softmax_kernel[(ROWS,)](rows, made, 781, 781, BLOCK=1024, target="cpu"),
    )
    wide, weight, bias = numbers(ROWS, COLUMNS), numbers(COLUMNS), numbers(COLUMNS)
    normed = np.empty_like(wide)
    yield (
        "layer norm, 4096 x 1024 f32",
        lambda: layer_norm_kernel[(ROWS,)](
            wide, weight, bias, normed, COLUMNS, COLUMNS, 1e-5, BLOCK=1024, target="cpu"
        ),
    )
    a, b, c = numbers(SIDE, SIDE), numbers(SIDE, SIDE), np.empty((SIDE, SIDE), np.float32)
    tiles = (SIDE // 64, SIDE // 64)
    strides = (SIDE, 1) * 3
    yield (
        "matmul, 512 cubed f32",
        lambda: matmul_kernel[tiles](
            a, b, c, SIDE, SIDE, SIDE, *strides, BM=64, BN=64, BK=64, target="cpu"
        ),
    )


def benchmarks() -> Iterator[Benchmark]:
    """One a launch."""
    for name, launch in launches():
        yield Benchmark(name, peers(launch))
