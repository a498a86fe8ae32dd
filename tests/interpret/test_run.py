"""Whole small programs: what is computed, in which program, over which lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mytriton.ir.build import emit
from mytriton.ir.fold import constant
from mytriton.ir.ops import TABLE
from mytriton.ir.types import BOOL, F32, I32, I64
from mytriton.targets.interpret import MEANINGS
from mytriton.targets.interpret.control import CONTROL
from tests.support.build import at, block, kernel, launch, loop, ptr, region, several


def test_every_structural_row_has_one_meaning() -> None:
    structural = {name for name, row in TABLE.items() if row.element is None}
    assert MEANINGS.keys() | CONTROL.keys() == structural
    assert MEANINGS.keys().isdisjoint(CONTROL)


def add_kernel() -> Any:
    def body(x: Any, y: Any, out: Any, n: Any) -> None:
        pid = emit("program_id", axis=0)
        start = emit("mul", pid, constant(256, I32))
        offsets = emit("add", start, emit("arange", start=0, end=256))
        mask = emit("cmp_lt", offsets, n)
        zero = constant(0.0, F32)
        left = emit("load", emit("addptr", x, offsets), mask, zero)
        right = emit("load", emit("addptr", y, offsets), mask, zero)
        several("store", emit("addptr", out, offsets), emit("add", left, right), mask)

    return kernel(body, x=ptr("f32"), y=ptr("f32"), out=ptr("f32"), n=I32)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 1000])
def test_the_seeds_add_kernel(n: int) -> None:
    random = np.random.default_rng(n)
    x, y = random.standard_normal((2, n)).astype(np.float32)
    out = np.full(n, np.nan, np.float32)
    launch(add_kernel(), x, y, out, n, grid=(-(-n // 256), 1, 1))
    np.testing.assert_array_equal(out, x + y)


def test_only_the_programs_named_run() -> None:
    x, out = np.ones(600, np.float32), np.zeros(600, np.float32)
    launch(add_kernel(), x, x, out, 600, grid=(3, 1, 1), programs=[(1, 0, 0)])
    assert np.flatnonzero(out).tolist() == list(range(256, 512))


def test_program_ids_and_extents_along_three_axes() -> None:
    def body(out: Any) -> None:
        ids = [emit("program_id", axis=axis) for axis in range(3)]
        extents = [emit("num_programs", axis=axis) for axis in range(3)]
        row = emit("add", emit("mul", ids[2], extents[1]), ids[1])
        place = emit("add", emit("mul", row, extents[0]), ids[0])
        several("store", emit("addptr", out, place), emit("add", place, constant(1, I32)), None)

    out = np.zeros(2 * 3 * 4, np.int32)
    launch(kernel(body, out=ptr("i32")), out, grid=(4, 3, 2))
    assert out.tolist() == list(range(1, 25))


def test_shapes_are_row_major() -> None:
    def body(x: Any, out: Any) -> None:
        flat = emit("load", at(x, 0, 6), None, None)
        square = emit("reshape", flat, shape=(2, 3))
        turned = emit("trans", square, order=(1, 0))
        joined = emit("join", turned, turned)
        left, _ = several("split", joined)
        both = emit("cat", left, emit("slice", left, starts=(1, 0), shape=(2, 2)), axis=0)
        several("store", at(out, 0, 10), emit("reshape", both, shape=(10,)), None)

    out = np.zeros(10, np.int32)
    launch(kernel(body, x=ptr("i32"), out=ptr("i32")), np.arange(6, dtype=np.int32), out)
    turned = np.arange(6).reshape(2, 3).T
    assert out.tolist() == np.concatenate([turned, turned[1:]]).ravel().tolist()


def test_extents_of_one_stretch() -> None:
    def body(x: Any, out: Any) -> None:
        row = emit("reshape", emit("load", at(x, 0, 3), None, None), shape=(1, 3))
        column = emit("reshape", emit("load", at(x, 0, 2), None, None), shape=(2, 1))
        total = emit("add", row, emit("broadcast", column, shape=(2, 3)))
        several("store", at(out, 0, 6), emit("reshape", total, shape=(6,)), None)

    x, out = np.array([1, 10, 100], np.int32), np.zeros(6, np.int32)
    launch(kernel(body, x=ptr("i32"), out=ptr("i32")), x, out)
    assert out.tolist() == (x[None, :] + x[:2, None]).ravel().tolist()


def test_a_for_loop_carries_values_and_counts_down() -> None:
    def body(out: Any, n: Any) -> None:
        step = loop(lambda i, total: emit("add", emit("mul", total, constant(3, I64)), i), I64, I64)
        bounds = (n, constant(-3, I64), constant(-2, I64))
        (total,) = several("for", *bounds, constant(1, I64), regions=(step,))
        several("store", out, total, None)

    out = np.zeros(1, np.int64)
    launch(kernel(body, out=ptr("i64"), n=I64), out, 7)
    expected = 1
    for i in range(7, -3, -2):
        expected = expected * 3 + i
    assert out[0] == expected


def test_nested_loops_and_branches_in_a_while() -> None:
    """The steps of the Collatz sequence of each program's number."""

    def body(out: Any) -> None:
        pid = emit("program_id", axis=0)
        one, two, three = (constant(value, I32) for value in (1, 2, 3))
        test = loop(lambda n, steps: emit("cmp_gt", n, one), I32, I32)

        def step(n: Any, steps: Any) -> Any:
            even = emit("cmp_eq", emit("mod", n, two), constant(0, I32))
            half = region(lambda: emit("div", n, two))
            grow = region(lambda: emit("add", emit("mul", n, three), one))
            (following,) = several("if", even, regions=(half, grow))
            return following, emit("add", steps, one)

        first = emit("add", pid, one)
        carried = several("while", first, constant(0, I32), regions=(test, loop(step, I32, I32)))
        several("store", emit("addptr", out, pid), carried[1], None)

    out = np.zeros(30, np.int32)
    launch(kernel(body, out=ptr("i32")), out, grid=(30, 1, 1))

    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    assert out.tolist() == [steps(n) for n in range(1, 31)]


def test_a_map_whose_function_branches_runs_element_by_element() -> None:
    def body(x: Any, out: Any) -> None:
        def each(value: Any) -> Any:
            one = constant(1, I32)
            test = loop(lambda n, p: emit("cmp_gt", n, constant(0, I32)), I32, I32)
            step = loop(lambda n, p: (emit("sub", n, one), emit("add", p, p)), I32, I32)
            return several("while", value, one, regions=(test, step))[1]

        power = several("map", emit("load", at(x, 0, 4), None, None), regions=(region(each, I32),))
        several("store", at(out, 0, 4), power[0], None)

    out = np.zeros(4, np.int32)
    launch(kernel(body, x=ptr("i32"), out=ptr("i32")), np.array([3, 0, 10, 1], np.int32), out)
    assert out.tolist() == [8, 1, 1024, 2]


def test_numbers_are_taken_in_their_params_type() -> None:
    def body(out: Any, half: Any, wide: Any, flag: Any) -> None:
        several("store", out, emit("cast", half, to=F32), flag)
        several("store", emit("addptr", out, wide), emit("cast", half, to=F32), None)

    out = np.zeros(2, np.float32)
    function = kernel(body, out=ptr("f32"), half=block(1, "f16").element, wide=I64, flag=BOOL)
    launch(function, out, 2049.0, 1, False)
    assert out.tolist() == [0.0, 2048.0]
