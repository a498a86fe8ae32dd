"""The functions that the plans' tests look at: every kernel of the examples, and a few more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

import mytriton as triton
import mytriton.language as tl
from mytriton.ir.nodes import Function
from mytriton.targets import cpu
from tests.gallery.test_every_stage import CALLS
from tests.gallery.test_gallery import EXAMPLES


@triton.jit
def stencil(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i > 0) & (i < n - 1)
    left, right = tl.load(x + i - 1, inside), tl.load(x + i + 1, inside)
    tl.store(out + i, (left + right) * 0.5, inside)


@triton.jit
def transposing_copy(x, out, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    block = tl.trans(tl.load(x + r * N + c))
    tl.store(out + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], block)


@triton.jit
def online_softmax(x, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        value = tl.load(x + start + lanes, start + lanes < n, other=-float("inf"))
        new = tl.maximum(top, value)
        total = total * tl.exp(top - new) + tl.exp(value - new)
        top = new
    best = tl.max(top, axis=0)
    whole = tl.sum(total * tl.exp(top - best), axis=0)
    for start in range(0, n, BLOCK):
        at = start + lanes
        tl.store(out + at, tl.exp(tl.load(x + at, at < n) - best) / whole, at < n)


@triton.jit
def swapped_halves(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    low, high = tl.load(x + i), tl.load(x + BLOCK + i)
    tl.store(x + i, high)
    tl.store(x + BLOCK + i, low)


@triton.jit
def in_place(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, i < n)
    tl.store(x + i, a * 2, i < n)
    tl.store(y + i, a + tl.load(y + i, i < n), i < n)


@triton.jit
def counted(x, bins, count, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(bins + (tl.load(x + i) & 15), 1, sem="relaxed")
    tl.atomic_add(count, 1)


@triton.jit
def joined(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    pair = tl.join(tl.load(x + i), tl.load(x + N + i))
    tl.store(out + tl.arange(0, 2 * N), tl.reshape(pair, (2 * N,)))


@triton.jit
def rolled(x, out, n, BLOCK: tl.constexpr):
    """Carries a block that each turn reads at other indices, so it cannot be overwritten."""
    i = tl.arange(0, BLOCK)
    block = tl.load(x + i)
    for _ in range(n):
        block = tl.flip(block) + 1.0
    tl.store(out + i, block)


@triton.jit
def summed_rows(x, out, n, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + r * N + c, r * N + c < n, other=0.0)
    mean = tl.sum(value, axis=1, keep_dims=True) / N
    tl.store(out + r * N + c, (value - mean) * (value - mean))


@triton.jit
def checked(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.device_assert(value >= 0, "positive")
    tl.store(out + i, tl.sqrt(value))
    tl.store(x + N - 1 - i, value)


@triton.jit
def product(x, y, out, n, N: tl.constexpr, K: tl.constexpr):
    rows, depth = tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, K)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((N, N), tl.float32)
    for k in range(0, n, K):
        left = tl.load(x + rows[:, None] * n + k + depth[None, :])
        total = tl.dot(left, tl.load(y + (k + depth)[:, None] * N + columns[None, :]), total)
    tl.store(out + rows[:, None] * N + columns[None, :], total)


X = np.arange(64, dtype=np.float32)
INTS = np.arange(64, dtype=np.int32)
MORE: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (stencil, (X, X.copy(), 50), {"BLOCK": 64}),
    (transposing_copy, (X, X.copy()), {"M": 4, "N": 16}),
    (online_softmax, (X, X.copy(), 64), {"BLOCK": 16}),
    (swapped_halves, (X.copy(),), {"BLOCK": 32}),
    (in_place, (X.copy(), X.copy(), 50), {"BLOCK": 64}),
    (counted, (INTS, np.zeros(16, np.int32), np.zeros(1, np.int32)), {"N": 64}),
    (joined, (X, X.copy()), {"N": 32}),
    (rolled, (X, X.copy(), 3), {"BLOCK": 64}),
    (summed_rows, (X, X.copy(), 60), {"M": 4, "N": 16}),
    (checked, (X.copy(), X.copy()), {"N": 64}),
    (product, (X, X[::-1].copy(), X.copy(), 8), {"N": 8, "K": 4}),
]


@contextmanager
def compiled() -> Iterator[dict[str, tuple[Function, bool]]]:
    """The functions that are compiled for the CPU inside, by name; of several only the first."""
    found: dict[str, tuple[Function, bool]] = {}
    compile_ = cpu.CpuKernel

    def note(function: Function, overlap: bool) -> Any:
        found.setdefault(function.name, (function, overlap))
        return compile_(function, overlap)

    with patch.object(cpu, "CpuKernel", note), triton.target("cpu"):
        yield found


def kernels_of(name: str) -> dict[str, tuple[Function, bool]]:
    """The kernels of an example, compiled for small inputs; those of this file for "more"."""
    with compiled() as found:
        if name == "more":
            for kernel, arguments, constexprs in MORE:
                kernel.clear_cache()
                kernel[(1,)](*arguments, **constexprs)
        elif name in CALLS:
            function, arguments = CALLS[name]
            _fresh(import_module(f"examples.{name}"), function)(*arguments)
        else:
            module = import_module(f"examples.gallery.{name}")
            given = module.inputs(*EXAMPLES[name].tiny[-1])
            _fresh(module, name)(*given)
    return found


def _fresh(module: Any, name: str) -> Any:
    """A function of a module whose kernels are compiled anew."""
    for value in vars(module).values():
        if hasattr(value, "clear_cache") and hasattr(value, "arg_names"):
            value.clear_cache()
    return getattr(module, name)


NAMES = ["more", *CALLS, *EXAMPLES]
