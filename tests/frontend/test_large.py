"""Kernels of thousands of statements, arms and terms: no recursion limit, and linear time."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.frontend.trace import trace
from mytriton.ir.types import F32, I32, PointerType
from tests.support.counting import calls_of

count = itertools.count()


def kernel_of(text: str) -> Any:
    name = f"<large {next(count)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"tl": tl, "triton": triton}
    exec(compile(text, name, "exec"), space)
    return triton.jit(space["kernel"])


def arms(n: int) -> str:
    lines = ["def kernel(out, n):", "    if n == 0:", "        x = 0.5"]
    for i in range(1, n):
        lines += [f"    elif n == {i}:", f"        x = {i}.0"]
    return "\n".join([*lines, "    else:", "        x = -1.0", "    tl.store(out, x)", ""])


def returns(n: int) -> str:
    lines = ["@triton.jit", "def helper(n):"]
    for i in range(n):
        lines += [f"    if n == {i}:", f"        return {i}.0"]
    lines += ["    return -1.0", "def kernel(out, n):", "    tl.store(out, helper(n))", ""]
    return "\n".join(lines)


def terms(n: int) -> str:
    added = " + ".join(f"x * {i}.0" for i in range(n))
    return f"def kernel(out, n):\n    x = tl.load(out + n)\n    tl.store(out, {added})\n"


def operands(n: int) -> str:
    tests = " or ".join(f"n == {i}" for i in range(n))
    return f"def kernel(out, n):\n    tl.store(out, {tests})\n"


def statements(n: int) -> str:
    lines = ["def kernel(out, n):"]
    for i in range(n):
        lines += [f"    x{i} = tl.load(out + {i})", f"    y{i} = x{i} + {i}.0"]
        lines += [f"    tl.store(out + {i}, y{i})"]
    return "\n".join([*lines, ""])


def work_to_trace(text: str) -> int:
    """The calls that tracing the kernel takes; Python does some ten million a second."""
    kernel = kernel_of(text)
    return calls_of(lambda: trace(kernel.fn, {"out": PointerType(F32), "n": I32}))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [(arms(1000), 70.0), (returns(1000), 70.0), (operands(1000), 1.0), (terms(2500), 3123750.0)],
    ids=["arms", "returns", "operands", "terms"],
)
@pytest.mark.parametrize("target", ["interpret", "cpu", "cudasim"])
def test_large_kernels_run(text: str, wanted: float, target: str) -> None:
    out = np.ones(100, np.float32)
    kernel_of(text)[(1,)](out, 70, target=target)
    assert out[0] == np.float32(wanted)


@pytest.mark.parametrize("write", [arms, returns, terms, operands, statements])
def test_work_grows_with_the_text(write: Any) -> None:
    small, large = work_to_trace(write(100)), work_to_trace(write(800))
    assert large < 1.2 * 8 * small


def test_many_statements_are_quick() -> None:
    assert work_to_trace(statements(800)) < 5_000_000
