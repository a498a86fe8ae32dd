"""What a kernel says and where it stops: prints, assertions, assumptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mytriton.errors import KernelAssertionError, KernelError
from mytriton.ir.build import emit
from mytriton.ir.fold import constant
from mytriton.ir.types import F16, I32
from tests.support.build import at, kernel, launch, loop, ptr, several


def test_print_shows_each_value_once_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    def body(x: Any) -> None:
        value = emit("load", at(x, 0, 3), None, None)
        several("print", value, emit("program_id", axis=0), prefix="x: ")
        several("print", constant(-1, I32), constant(1.5, F16), prefix="bits ", hex=True)
        several("print", prefix="here")

    x = np.array([1.5, -0.0, np.inf], np.float32)
    launch(kernel(body, x=ptr("f32")), x, grid=(2, 1, 1), programs=[(1, 0, 0)])
    assert capsys.readouterr().out.splitlines() == [
        "pid (1, 0, 0) x: [ 1.5 -0.   inf]",
        "pid (1, 0, 0) x: 1",
        "pid (1, 0, 0) bits 0xffffffff",
        "pid (1, 0, 0) bits 0x3e00",
        "pid (1, 0, 0) here",
    ]


def test_print_shows_blocks_in_hexadecimal(capsys: pytest.CaptureFixture[str]) -> None:
    def body(x: Any) -> None:
        several("print", emit("reshape", at(x, 0, 2), shape=(1, 2)))
        several("print", emit("load", at(x, 0, 2), None, None), hex=True)

    x = np.array([10, 255], np.uint8)
    launch(kernel(body, x=ptr("u8")), x)
    start = x.ctypes.data
    addresses = f"[[0x{start:016x} 0x{start + 1:016x}]]"
    assert capsys.readouterr().out.splitlines() == [
        f"pid (0, 0, 0) {addresses}",
        "pid (0, 0, 0) [0x0a 0xff]",
    ]


def assert_kernel() -> Any:
    def body(x: Any, n: Any) -> None:
        lanes = emit("arange", start=0, end=6)
        small = emit("cmp_lt", emit("load", at(x, 0, 6), None, None), constant(5, I32))
        grid = [emit("reshape", value, shape=(2, 3)) for value in (small, emit("cmp_lt", lanes, n))]
        several("assert", *grid, message="x must be below 5")

    return kernel(body, x=ptr("i32"), n=I32)


def test_assert_names_message_lane_program_and_line() -> None:
    x = np.array([0, 1, 2, 3, 9, 9], np.int32)
    launch(assert_kernel(), x, 4)  # the lanes that fail are masked off
    with pytest.raises(KernelAssertionError) as caught:
        launch(assert_kernel(), x, 6)
    assert "x must be below 5, in lane (1, 1) of program (0, 0, 0)" in str(caught.value)
    assert "kernel.py:7" in str(caught.value)


def test_a_false_assumption_is_an_error() -> None:
    def body(n: Any) -> None:
        several("assume", emit("cmp_eq", n, constant(16, I32)))

    launch(kernel(body, n=I32), 16)
    with pytest.raises(KernelAssertionError, match="assume is false, in program"):
        launch(kernel(body, n=I32), 17)


def test_a_step_of_zero_is_an_error() -> None:
    def body(n: Any) -> None:
        step = loop(lambda i: None, I32)
        several("for", constant(0, I32), constant(5, I32), n, regions=(step,))

    with pytest.raises(KernelError, match="step of 0"):
        launch(kernel(body, n=I32), 0)


def test_a_gather_outside_its_axis_is_an_error() -> None:
    def body(x: Any, index: Any, out: Any) -> None:
        values = emit("load", at(x, 0, 3), None, None), emit("load", at(index, 0, 2), None, None)
        several("store", at(out, 0, 2), emit("gather", *values, axis=0), None)

    function = kernel(body, x=ptr("f32"), index=ptr("i32"), out=ptr("f32"))
    x, out = np.arange(3, dtype=np.float32), np.zeros(2, np.float32)
    with pytest.raises(KernelError, match=r"index 3 is not in 0 … 2"):
        launch(function, x, np.array([0, 3], np.int32), out)
