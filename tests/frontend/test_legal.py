"""Kernels that Python allows and a compiler might not: recursion that ends while compiling, names
outside ASCII, names of the compiler's own, and functions without a source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError

TARGETS = ("interpret", "cpu", "cudasim")


@triton.jit
def halves(x, N: tl.constexpr):
    if N == 1:
        return x
    return halves(x * 2, N // 2) + 1


@triton.jit
def factorial(N: tl.constexpr):
    return 1 if N <= 1 else N * factorial(N - 1)


@triton.jit
def is_even(n, N: tl.constexpr):
    if N == 0:
        return n
    return is_odd(n + 1, N - 1)


@triton.jit
def is_odd(n, N: tl.constexpr):
    if N == 0:
        return -n
    return is_even(n * 2, N - 1)


@triton.jit
def recursive(out, x):
    tl.store(out, halves(x, 8) + factorial(5) + is_even(x, 5))


@triton.jit
def launch(out, x):
    tl.store(out, x + 1)


@triton.jit
def main(out, x):
    tl.store(out, x + 2)


@triton.jit
def köln(ausgabe, größe):
    doppelt_größer = größe * 2
    if größe > 1:
        doppelt_größer += 1
    tl.store(ausgabe, doppelt_größer)


def without_source() -> Any:
    space: dict[str, Any] = {"tl": tl, "triton": triton}
    text = """
def kernel(out, x):
    total = x
    for i in range(3):
        total += i
    if x is not None:
        tl.store(out, total if True else 0)
"""
    exec(text, space)
    return triton.jit(space["kernel"])


def wanted_of_recursive(x: int) -> int:
    return (x * 8 + 3) + 120 - ((((x + 1) * 2 + 1) * 2) + 1)


KERNELS = [
    (recursive, wanted_of_recursive),
    (launch, lambda x: x + 1),
    (main, lambda x: x + 2),
    (köln, lambda x: 2 * x + (x > 1)),
    (without_source(), lambda x: x + 3),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("kernel", "wanted"), KERNELS, ids=lambda k: getattr(k, "__name__", ""))
def test_runs(kernel: Any, wanted: Any, target: str) -> None:
    for x in (1, 4):
        out = np.zeros(1, np.int32)
        kernel[(1,)](out, x, target=target)
        assert out[0] == wanted(x)


@triton.jit
def endless(x, n):
    if n == 0:
        return x
    return endless(x + 1, n - 1)


@triton.jit
def endless_kernel(out, n):
    tl.store(out, endless(1, n))


def test_recursion_that_only_the_run_would_end_is_refused() -> None:
    with pytest.raises(CompileError, match=r"endless calls itself \(endless → endless\)") as caught:
        endless_kernel[(1,)](np.zeros(1, np.int32), 3, target="interpret")
    assert caught.value.where[0].text == "return endless(x + 1, n - 1)"
    assert ", 98 times" in str(caught.value)


def test_a_condition_on_the_run_needs_the_source() -> None:
    space: dict[str, Any] = {"tl": tl}
    exec("def kernel(out, n):\n    if n > 2:\n        tl.store(out, 5)\n", space)
    with pytest.raises(CompileError, match="known only at run time"):
        triton.jit(space["kernel"])[(1,)](np.zeros(1, np.int32), 3, target="interpret")
