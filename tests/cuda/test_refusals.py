"""What CUDA cannot run is refused at the kernel's own line, with the numbers and what to do."""

from __future__ import annotations

import inspect

import pytest

import mytriton.language as tl
from mytriton.errors import CompileValueError
from mytriton.targets.cuda import generate
from tests.support.cuda import traced


def two_widths(x, out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), 1.0)
    tl.store(out + tl.arange(0, 2 * BLOCK), 2.0)  # here


def too_wide(x, out, BLOCK: tl.constexpr):
    lane = tl.arange(0, 128 * BLOCK)  # here
    tl.store(out + lane, 1.0)


def line_of(kernel) -> int:
    lines, first = inspect.getsourcelines(kernel)
    return first + next(place for place, line in enumerate(lines) if "# here" in line)


@pytest.mark.parametrize("kernel", [two_widths, too_wide])
def test_the_lane_rule_names_the_tiled_lowering_and_the_line(kernel):
    function = traced(kernel, x="*f32", out="*f32", BLOCK=16)
    with pytest.raises(CompileValueError, match="num_warps= selects the tiled lowering") as error:
        generate(function)
    assert any(frame.line == line_of(kernel) for frame in error.value.where), error.value
    assert generate(function, num_warps=2).threads_per_block == 64


def too_much_shared(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    block = tl.load(x + i[:, None] * BLOCK + i[None, :])
    tl.store(out + i[:, None] * BLOCK + i[None, :], tl.dot(block, block))  # here


def test_shared_memory_has_a_limit_that_is_named():
    function = traced(too_much_shared, x="*f32", out="*f32", BLOCK=256)
    with pytest.raises(CompileValueError, match=r"bytes of shared memory .* at most 232448") as e:
        generate(function)
    assert any(frame.line == line_of(too_much_shared) for frame in e.value.where), e.value
