"""`tl.sort(x)` in a loop or branch is a call of a module's function, though lists have a method of
that name: `tl` is no local value that the loop changes.
"""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere


@triton.jit
def sorted_in_a_loop(x, n):
    at = tl.arange(0, 8)
    values = tl.load(x + at)
    for _ in range(n):
        values = tl.sort(values) + 1
    tl.store(x + at, values)


@triton.jit
def sorted_in_a_branch(x, n):
    at = tl.arange(0, 8)
    values = tl.load(x + at)
    if n > 2:
        values = tl.sort(values)
    tl.store(x + at, values)


@triton.jit
def listed_in_a_loop(x, n: tl.constexpr):
    loaded = []
    for i in tl.static_range(n):
        loaded.append(tl.load(x + i))
    for i in tl.static_range(n):
        tl.store(x + i, loaded[n - 1 - i])


def test_sort_in_a_loop() -> None:
    x = np.array([5, 3, 8, 1, 9, 2, 7, 4], np.int32)
    run_everywhere(sorted_in_a_loop, (1,), x, 3, expected={"x": np.sort(x) + 3})


def test_sort_in_a_branch() -> None:
    x = np.array([5, 3, 8, 1, 9, 2, 7, 4], np.int32)
    run_everywhere(sorted_in_a_branch, (1,), x, 3, expected={"x": np.sort(x)})


def test_a_list_that_grows_in_a_loop() -> None:
    x = np.arange(8, dtype=np.int32)
    run_everywhere(listed_in_a_loop, (1,), x, n=8, expected={"x": x[::-1]})
