"""What the facts say of small kernels, and that it is true of every value when they run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from mytriton.ir.nodes import Function, Op, Param
from mytriton.ir.types import PointerType, ScalarType, element_of, shape_of
from mytriton.passes.facts import Facts, Table, facts, of_constant, unknown
from mytriton.passes.known import MOST, join
from mytriton.targets.interpret.program import Program
from tests.ir.corpus import corpus, program, run

I32_ENDS = (-(2**31), 2**31 - 1)


def of_printed(body: str, **given: Facts) -> list[Facts]:
    """The facts of the operands of the program's last op, a print."""
    function = program(body)
    table = facts(function, given)
    return [table.of(operand) for operand in function.body.ops[-2].operands]


def test_the_offsets_of_a_block() -> None:
    offsets, mask, pointers = of_printed("""
    %0 = program_id {axis=0} : i32
    %1 = mul %0, 128 : i32
    %2 = arange {start=0, end=128} : vector<128 x i32>
    %3 = add %1, %2 : vector<128 x i32>
    %4 = cmp_lt %3, n : vector<128 x bool>
    %5 = addptr x, %3 : vector<128 x ptr<f32>>
    print %3, %4, %5""")
    assert offsets == Facts((128,), (128,), (1,), *I32_ENDS)
    assert mask == Facts((1,), (1,), (1,), 0, 1)
    assert pointers.contiguous == (128,) and pointers.multiple == (1,)


def test_given_facts_of_parameters() -> None:
    n = replace(unknown(program("").params[4].ty), multiple=(16,), low=1)
    x = replace(unknown(program("").params[0].ty), multiple=(16,))
    mask, pointers = of_printed(
        """
    %0 = arange {start=0, end=128} : vector<128 x i32>
    %1 = cmp_lt %0, n : vector<128 x bool>
    %2 = addptr x, %0 : vector<128 x ptr<f32>>
    print %1, %2""",
        n=n,
        x=x,
    )
    assert mask.constant == (16,)
    assert pointers.multiple == (16,) and pointers.contiguous == (128,)


def test_rows_and_columns() -> None:
    pointers, columns = of_printed("""
    %0 = arange {start=0, end=8} : vector<8 x i32>
    %1 = reshape %0 {shape=(8, 1)} : vector<8x1 x i32>
    %2 = reshape %0 {shape=(1, 8)} : vector<1x8 x i32>
    %3 = mul %1, 64 : vector<8x1 x i32>
    %4 = add %3, %2 : vector<8x8 x i32>
    %5 = trans %4 {order=(1, 0)} : vector<8x8 x i32>
    print %4, %5""")
    assert pointers == Facts((1, 64), (1, 8), (1, 1), 0, 7 * 64 + 7)
    assert columns == Facts((64, 1), (8, 1), (1, 1), 0, 7 * 64 + 7)


def test_quotients_remainders_shifts_and_masks_of_a_range() -> None:
    quotient, rest, shifted, low_bits, up = of_printed("""
    %0 = arange {start=0, end=64} : vector<64 x i32>
    %1 = div %0, 16 : vector<64 x i32>
    %2 = mod %0, 16 : vector<64 x i32>
    %3 = shr %0, 3 : vector<64 x i32>
    %4 = and %0, 7 : vector<64 x i32>
    %5 = shl %0, 4 : vector<64 x i32>
    print %1, %2, %3, %4, %5""")
    assert quotient == Facts((1,), (1,), (16,), 0, 3)
    assert rest == Facts((16,), (16,), (1,), 0, 15)
    assert shifted == Facts((1,), (1,), (8,), 0, 7)
    assert low_bits == Facts((8,), (8,), (1,), 0, 7)
    assert up == Facts((16,), (1,), (1,), 0, 63 * 16)


def test_a_factor_known_to_be_one_keeps_runs() -> None:
    n = replace(unknown(program("").params[4].ty), low=1, high=1)
    body = """
    %0 = arange {start=0, end=8} : vector<8 x i32>
    %1 = mul %0, n : vector<8 x i32>
    print %1"""
    assert of_printed(body, n=n)[0].contiguous == (8,)
    assert of_printed(body)[0].contiguous == (1,)


def test_a_quotient_of_what_may_be_negative_has_no_runs() -> None:
    (quotient,) = of_printed("""
    %0 = arange {start=-32, end=32} : vector<64 x i32>
    %1 = div %0, 16 : vector<64 x i32>
    print %1""")
    assert quotient.constant == (1,)


def test_runs_of_a_comparison_start_at_multiples_of_their_length() -> None:
    aligned, crossing, level = of_printed("""
    %0 = arange {start=0, end=64} : vector<64 x i32>
    %1 = arange {start=-4, end=60} : vector<64 x i32>
    %2 = mul n, 8 : i32
    %3 = cmp_lt %0, %2 : vector<64 x bool>
    %4 = cmp_lt %1, %2 : vector<64 x bool>
    %5 = cmp_le %0, %2 : vector<64 x bool>
    print %3, %4, %5""")
    assert [fact.constant for fact in (aligned, crossing, level)] == [(8,), (4,), (1,)]


def test_comparisons_that_are_known() -> None:
    answers = of_printed("""
    %0 = arange {start=0, end=8} : vector<8 x i32>
    %1 = cmp_lt %0, 8 : vector<8 x bool>
    %2 = cmp_ge %0, 8 : vector<8 x bool>
    %3 = cmp_gt %0, -1 : vector<8 x bool>
    %4 = cmp_le %0, 6 : vector<8 x bool>
    print %1, %2, %3, %4""")
    assert [(a.low, a.high) for a in answers] == [(1, 1), (0, 0), (1, 1), (0, 1)]


def test_through_a_loop_to_a_fixpoint() -> None:
    index, pointers, total = of_printed("""
    %0 = arange {start=0, end=32} : vector<32 x i32>
    %1, %2 = for 0, 96, 32, 0, %0 : i32, vector<32 x i32> \
(%3 i : i32, %4 count : i32, %5 offsets : vector<32 x i32>) {
        %6 = add %4, 4 : i32
        %7 = add %5, 32 : vector<32 x i32>
        yield %6, %7
    }
    %8 = mul %1, 2 : i32
    print %1, %2, %8""")
    assert index == Facts((4,), (1,), (1,), *I32_ENDS)
    assert pointers == Facts((32,), (32,), (1,), *I32_ENDS)
    assert total.multiple == (8,)


def test_the_index_of_a_loop() -> None:
    function = program("""
    for 16, 100, 8 (%0 i : i32) {
        print %0
        yield
    }
    for n, 0, -4 (%1 i : i32) {
        print %1
        yield
    }""")
    table = facts(function)
    up, down = (table[op.regions[0].params[0]] for op in function.body.ops[:2])
    assert up == Facts((8,), (1,), (1,), 16, 99)
    assert down == Facts((1,), (1,), (1,), 1, 2**31 - 1)


def test_a_branch_is_one_or_the_other() -> None:
    (value,) = of_printed("""
    %0 = cmp_gt n, 3 : bool
    %1 = if %0 : i32 {
        yield 24
    } else {
        yield 16
    }
    print %1""")
    assert value == Facts((8,), (1,), (1,), 16, 24)


def test_hints_add_to_what_is_known() -> None:
    (value,) = of_printed("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = addptr y, %0 : vector<16 x ptr<i32>>
    %2 = load %1, none, none : vector<16 x i32>
    %3 = hint %2 {multiple=(16,), contiguous=(4,)} : vector<16 x i32>
    print %3""")
    assert value == Facts((16,), (4,), (1,), *I32_ENDS)


def test_small_ints_wrap_and_are_not_contiguous_across_it() -> None:
    narrow, moved = of_printed("""
    %0 = arange {start=0, end=256} : vector<256 x i32>
    %1 = cast %0 {to=i8} : vector<256 x i8>
    %2 = add %1, 100:i8 : vector<256 x i8>
    print %1, %2""")
    assert narrow.contiguous == (128,)
    assert moved.contiguous == (4,)


def test_join_is_of_the_shorter_runs() -> None:
    left, right = Facts((16,), (16,), (1,), 0, 15), Facts((8,), (4,), (1,), 8, 31)
    assert join(left, right) == Facts((4,), (4,), (1,), 0, 31)


def test_a_constant_is_known_whole() -> None:
    ty = program("").params[4].ty
    assert of_constant(0, ty) == Facts((MOST,), (1,), (1,), 0, 0)
    assert of_constant(-24, ty).multiple == (8,)


# -- against the interpreter


def assert_true(known: Facts, array: Any, name: str) -> None:
    """The facts hold of an array that the interpreter computed."""
    array = np.asarray(array).astype(object) if array.dtype.kind in "iub" else np.asarray(array)
    block = array if array.ndim else array.reshape(1)
    for axis in range(block.ndim):
        lanes = np.moveaxis(block, axis, -1)
        assert lanes.shape[-1] % known.constant[axis] == 0
        runs = lanes.reshape(-1, known.constant[axis])
        same = (runs == runs[:, :1]) | ((runs != runs) & (runs[:, :1] != runs[:, :1]))
        assert same.all(), f"{name}: {known} of {array}"
        if block.dtype == object:
            assert lanes.shape[-1] % known.contiguous[axis] == 0
            runs = lanes.reshape(-1, known.contiguous[axis])
            steps = runs[:, 1:] - runs[:, :-1]
            assert (steps == 1).all(), f"{name}: {known} of {array}"
            assert (runs[:, 0] % known.multiple[axis] == 0).all(), f"{name}: {known} of {array}"
    if known.low is not None and known.high is not None:
        assert (block >= known.low).all() and (block <= known.high).all(), f"{name}: {known}"


def run_checked(function: Function, table: Table) -> None:
    """Runs the program, comparing each int and pointer it computes with its facts."""
    perform = Program.perform

    def checked(self: Program, op: Op) -> Any:
        results = perform(self, op)
        for value, array in zip(op.results, results):
            compare(table[value], value, array)
        for operand in op.operands:
            if isinstance(operand, Param):
                compare(table[operand], operand, self.values[operand])
        return results

    with mock.patch.object(Program, "perform", checked):
        run(function)


def compare(known: Facts, value: Any, array: Any) -> None:
    element = element_of(value.ty)
    if np.shape(array) != shape_of(value.ty):
        return  # a combine function, which is run on whole arrays
    if isinstance(element, PointerType):
        size = element.element.itemsize
        aligned = np.asarray(array) - np.asarray(array).reshape(-1)[0] % size
        bytes_known = tuple(max(m // size, 1) for m in known.multiple)
        assert_true(replace(known, multiple=bytes_known), aligned // size, str(value))
    elif isinstance(element, ScalarType):
        assert_true(known, np.asarray(array), str(value))


@pytest.mark.parametrize("name", corpus())
def test_the_facts_hold_when_the_corpus_runs(name: str) -> None:
    function = corpus()[name]
    run_checked(function, facts(function))
