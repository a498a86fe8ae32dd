"""Asserts, prints, assumptions, SSA comments and line information."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import KernelAssertionError
from mytriton.targets.cuda import generate
from tests.support.cuda import simulate, ssa, traced


def checked(x, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    value = tl.load(x + lane, mask=lane < n, other=0)
    tl.device_assert(value >= 0, 'all of "x" is 100% positive', mask=lane < n)
    tl.store(x + lane, value + 1, mask=lane < n)


CHECKED = {"x": "*i32", "n": "i32", "BLOCK": 16}


def test_a_failed_assert_stops_with_message_file_line_and_program():
    x = np.arange(16, dtype=np.int32)
    x[3] = -1
    with pytest.raises(KernelAssertionError) as error:
        simulate(traced(checked, **CHECKED), x, 10)
    line = inspect.getsourcelines(checked)[1] + 3
    text = str(error.value)
    assert 'device assertion failed: all of "x" is 100% positive' in text
    assert f"test_report.py:{line} in checked" in text
    assert "program (0, 0, 0)" in text


def test_an_assert_obeys_its_mask_and_needs_debug():
    x = np.full(16, -1, np.int32)
    simulate(traced(checked, **CHECKED), x, 0)
    assert (x == -1).all()
    simulate(traced(checked, **CHECKED), x, 16, debug=False)
    assert (x == 0).all()
    assert "fail(" not in generate(traced(checked, **CHECKED)).text


def shown(x, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.device_print("lane 50%: ", lane)
    tl.device_print("half: ", tl.load(x))
    tl.device_print("hex: ", lane.to(tl.int8) - 1, hex=True)


def test_prints_show_blocks_and_scalars_once(capsys):
    simulate(traced(shown, x="*f16", BLOCK=2), np.array([1.5], np.float16), grid=(1, 2, 1))
    assert capsys.readouterr().out.splitlines() == [
        f"pid (0, {pid}, 0) {text}"
        for pid in range(2)
        for text in ("lane 50%: [0 1]", "half: 1.5", "hex: [0xff 0x00]")
    ]


def test_the_cuda_text_prints_an_element_a_line():
    text = generate(traced(shown, x="*f16", BLOCK=2)).text
    assert 'printf("pid (%u, %u, %u) idx (%u) lane 50%%: %d\\n"' in text
    assert 'printf("pid (%u, %u, %u) half: %f\\n"' in text


def test_assumptions_reach_nvrtc(nvrtc):
    function = ssa("""
        k(x: ptr<i32>, n: i32) {
            %0 = cmp_gt n, 5 : bool
            assume %0
            %1 = cmp_gt n, 3 : bool
            %2 = cast %1 {to=i32} : i32
            store x, %2, none
        }
    """)
    source = generate(function)
    assert "__builtin_assume(v0);" in source.text
    assert "setp" not in nvrtc(source)


def test_comments_show_each_op(expected, nvrtc):
    source = generate(traced(checked, **CHECKED), comments=True, debug=True)
    text = "\n".join(line for line in source.kernel.splitlines() if "fail(" not in line)
    expected("cuda_comments.cu", text)
    nvrtc(source)


def test_line_information_is_the_kernels_own(nvrtc):
    source = generate(traced(checked, **CHECKED), lineinfo=True)
    first = inspect.getsourcelines(checked)[1]
    for line in (1, 2, 4):
        assert f'#line {first + line} "{__file__}"' in source.text
    nvrtc(source)
