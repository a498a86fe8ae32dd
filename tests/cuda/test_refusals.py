"""What the lane rule cannot lower is refused at the kernel's own line, with what to do."""

from __future__ import annotations

import inspect

import pytest

import mytriton.language as tl
from mytriton.errors import CompileError, CompileValueError
from mytriton.targets.cuda import generate
from tests.support.cuda import ssa, traced


def row_sum(x, out, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    tl.store(out, tl.sum(value, 0))  # here


def running(x, out, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out + lane, tl.cumsum(tl.load(x + lane), 0))  # here


def matrix(x, out, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at = lane[:, None] * BLOCK + lane[None, :]  # here
    tl.store(out + at, tl.load(x + at))


@pytest.mark.parametrize("kernel", [row_sum, running, matrix])
def test_the_tiled_lowering_is_named_and_the_line_shown(kernel):
    function = traced(kernel, x="*f32", out="*f32", BLOCK=16)
    with pytest.raises(CompileValueError, match="num_warps= selects the tiled lowering") as error:
        generate(function)
    lines, first = inspect.getsourcelines(kernel)
    wrong = first + next(place for place, line in enumerate(lines) if "# here" in line)
    assert any(frame.line == wrong for frame in error.value.where), error.value


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("%1 = join %0, %0 : vector<8x2 x i32>", "vector<8x2 x i32>"),
        ("%1 = reshape %0 {shape=(2, 4)} : vector<2x4 x i32>", "vector<2x4 x i32>"),
        ("%1 = cat %0, %0 {axis=0} : vector<16 x i32>", "8, 16"),
        ("%1 = slice %0 {starts=(2,), shape=(4,)} : vector<4 x i32>", "4, 8"),
        ("%1 = gather %0, %0 {axis=0} : vector<8 x i32>", "`gather`"),
        ("%1 = sort %0 {axis=0} : vector<8 x i32>", "`sort`"),
    ],
)
def test_ops_that_move_values_between_lanes(body, name):
    text = "k(x: ptr<i32>) {\n%0 = arange {start=0, end=8} : vector<8 x i32>\n"
    with pytest.raises(CompileError, match="num_warps=") as error:
        generate(ssa(f"{text}{body}\n}}"))
    assert name in str(error.value)
