"""Reads strict_cases.txt: what strict mode refuses, each beside its portable form.

The kernels' names are X, Y (pointers to f32), B (to i8), n, k (i32), f (f32), C = 16 and D = 5
(constexprs); x, y are blocks of 16 loaded from X and Y, b from B, s a scalar from X, i the offsets.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Case(NamedTuple):
    """One construct. deprecated: Triton 3.9 accepts it, older versions do not."""

    name: str
    deprecated: bool
    message: str
    refused: str
    portable: str


HEADER = """
from collections import namedtuple
import {package} as triton
import {package}.language as tl

SCALE = 3
KNOWN = tl.constexpr(3)
Pair = namedtuple("Pair", ["a", "b"])

def plain(x):
    return x + 1

@triton.jit
def twice(x):
    return 2 * x

@triton.jit
def add(a, b):
    return a + b

@triton.jit
def found(x, n):
    for j in range(n):
        if j > 3:
            return x  # here
    return x + 1

@triton.jit
def searched(x, n):
    result = x + 1
    if n > 4:
        result = x
    return result

@triton.jit
def halved(x, N: tl.constexpr):
    if N == 1:
        return x
    return halved(x * 0.5, N // 2)  # here

@triton.jit
def halves(x, N: tl.constexpr):
    for _ in tl.static_range(3):
        x = x * 0.5
    return x

@triton.jit
def kernel(X, Y, B, n, k, f, C: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, C)
    x = tl.load(X + i)
    y = tl.load(Y + i)
    b = tl.load(B + i)
    s = tl.load(X)
"""

BLOCK = re.compile(r"^== (.+?)( \(deprecated\))?: (.+)\n((?:.*\n)*?)--\n((?:.+\n)+)", re.M)


def cases() -> list[Case]:
    """Every case of the file."""
    file = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    return [Case(name, bool(old), *rest) for name, old, *rest in BLOCK.findall(file)]


CASES = cases()


def text(body: str, package: str) -> str:
    """The module with a kernel of that body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return HEADER.replace("{package}", package) + lines
