"""`&` and `|` bind tighter than comparisons: what was hardly meant is refused at its line."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError
from tests.support.backends import run_everywhere


@triton.jit
def chained(out):
    i = tl.arange(0, 8)
    tl.store(out + i, i, mask=i < 5 & i > 2)


@triton.jit
def chained_or(out, n):
    if n < 2 | n > 5:
        tl.store(out, 1)


@triton.jit
def trailing(out, n):
    i = tl.arange(0, 8)
    mask = (i > 2) & i < n
    tl.store(out + i, i, mask=mask)


@triton.jit
def leading(out, n):
    i = tl.arange(0, 8)
    mask = i < n & (i > 2)
    tl.store(out + i, i, mask=mask)


@pytest.mark.parametrize("kernel", [chained, chained_or, trailing, leading])
def test_a_bitwise_operand_of_a_comparison_is_refused(kernel):
    arguments = [np.zeros(8, np.int32)] + [5] * (len(kernel.arg_names) - 1)
    with pytest.raises(CompileError, match=r"`[&|]` binds tighter than a comparison") as caught:
        kernel[(1,)](*arguments, target="interpret")
    (line,) = [where.line for where in caught.value.where]
    assert line in range(kernel.fn.__code__.co_firstlineno, line + 1)


@triton.jit
def meant(out, n, FLAGS: tl.constexpr):
    i = tl.arange(0, 8)
    even = i & 1 == 0
    middle = 0 < (i & 6) < 6
    both = (i > 1) & (i < 7) == (i & n) > 0
    if FLAGS & 4 != 0 and 0 < FLAGS & 3 < 3:
        tl.store(out + i, even.to(tl.int32) + 2 * middle.to(tl.int32) + 4 * both.to(tl.int32))


def test_what_is_meant_keeps_its_meaning():
    i = np.arange(8)
    middle = ((i & 6) > 0) & ((i & 6) < 6)
    both = (((i > 1) & (i < 7)) == (i & 3)) & ((i & 3) > 0)
    wanted = (i & 1 == 0).astype(int) + 2 * middle + 4 * both
    run_everywhere(meant, (1,), np.zeros(8, np.int32), 3, FLAGS=5, expected={"out": wanted})


@triton.jit
def load_under(x, out, n, FLAG: tl.constexpr):
    for i in range(n):
        if i == n - 1 and FLAG:
            tl.store(out, tl.load(x + 1000000))
        if i == n - 1 and FLAG and tl.load(x + 2000000) > 0:
            tl.store(out, 5)
        if i == 0 or not FLAG:
            tl.store(out + i, i + 1)
        else:
            tl.store(out + i, tl.load(x + 3000000))
        both = i == 1 and FLAG
        either = i == 1 or not FLAG
        tl.store(out + i, tl.load(out + i) + 10 * both + 100 * either)


def test_a_known_operand_after_a_runtime_one_ends_an_and_or_an_or():
    """With FLAG False neither body nor else is compiled: their loads are in no stage."""
    x = np.zeros(1, np.int32)
    wanted = np.array([101, 102, 103], np.int32)
    run_everywhere(load_under, (1,), x, np.zeros(3, np.int32), 3, FLAG=False,
                   expected={"out": wanted})  # fmt: skip
    text = str(load_under.warmup(x, np.zeros(3, np.int32), 3, FLAG=False, grid=(1,)).ssa_ops)
    assert text.count("load") == 1
