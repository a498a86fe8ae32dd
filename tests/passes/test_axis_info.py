"""What axis information says of small kernels, and that it is true of every value when they run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mytriton.ir.nodes import Function
from mytriton.ir.types import PointerType, element_of
from mytriton.passes.axis_info import AxisInfo, axis_info, divisible, equal_to, top
from mytriton.passes.axis_lattice import MAX_DIVISOR, join
from tests.ir.corpus import corpus, program
from tests.passes.observe import index_program, observe

I32_ENDS = (-(2**31), 2**31 - 1)


def of_printed(body: str, **given: AxisInfo) -> list[AxisInfo]:
    """The facts of the operands of the program's last op, a print."""
    function = program(body)
    table = axis_info(function, given)
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
    assert offsets == AxisInfo((128,), (128,), (1,), *I32_ENDS)
    assert mask == AxisInfo((1,), (1,), (1,), 0, 1)
    assert pointers.contiguity == (128,) and pointers.divisibility == (1,)


def test_given_facts_of_parameters() -> None:
    n = replace(top(program("").params[4].ty), divisibility=(16,), low=1)
    x = replace(top(program("").params[0].ty), divisibility=(16,))
    mask, pointers = of_printed(
        """
    %0 = arange {start=0, end=128} : vector<128 x i32>
    %1 = cmp_lt %0, n : vector<128 x bool>
    %2 = addptr x, %0 : vector<128 x ptr<f32>>
    print %1, %2""",
        n=n,
        x=x,
    )
    assert mask.constancy == (16,)
    assert pointers.divisibility == (16,) and pointers.contiguity == (128,)


def test_rows_and_columns() -> None:
    pointers, columns = of_printed("""
    %0 = arange {start=0, end=8} : vector<8 x i32>
    %1 = reshape %0 {shape=(8, 1)} : vector<8x1 x i32>
    %2 = reshape %0 {shape=(1, 8)} : vector<1x8 x i32>
    %3 = mul %1, 64 : vector<8x1 x i32>
    %4 = add %3, %2 : vector<8x8 x i32>
    %5 = trans %4 {order=(1, 0)} : vector<8x8 x i32>
    print %4, %5""")
    assert pointers == AxisInfo((1, 64), (1, 8), (1, 1), 0, 7 * 64 + 7)
    assert columns == AxisInfo((64, 1), (8, 1), (1, 1), 0, 7 * 64 + 7)


def test_quotients_remainders_shifts_and_masks_of_a_range() -> None:
    quotient, rest, shifted, low_bits, up = of_printed("""
    %0 = arange {start=0, end=64} : vector<64 x i32>
    %1 = div %0, 16 : vector<64 x i32>
    %2 = mod %0, 16 : vector<64 x i32>
    %3 = shr %0, 3 : vector<64 x i32>
    %4 = and %0, 7 : vector<64 x i32>
    %5 = shl %0, 4 : vector<64 x i32>
    print %1, %2, %3, %4, %5""")
    assert quotient == AxisInfo((1,), (1,), (16,), 0, 3)
    assert rest == AxisInfo((16,), (16,), (1,), 0, 15)
    assert shifted == AxisInfo((1,), (1,), (8,), 0, 7)
    assert low_bits == AxisInfo((8,), (8,), (1,), 0, 7)
    assert up == AxisInfo((16,), (1,), (1,), 0, 63 * 16)


def test_a_factor_known_to_be_one_keeps_runs() -> None:
    n = replace(top(program("").params[4].ty), low=1, high=1)
    body = """
    %0 = arange {start=0, end=8} : vector<8 x i32>
    %1 = mul %0, n : vector<8 x i32>
    print %1"""
    assert of_printed(body, n=n)[0].contiguity == (8,)
    assert of_printed(body)[0].contiguity == (1,)


def test_a_quotient_of_what_may_be_negative_has_no_runs() -> None:
    (quotient,) = of_printed("""
    %0 = arange {start=-32, end=32} : vector<64 x i32>
    %1 = div %0, 16 : vector<64 x i32>
    print %1""")
    assert quotient.constancy == (1,)


def test_runs_of_a_comparison_start_at_multiples_of_their_length() -> None:
    aligned, crossing, level = of_printed("""
    %0 = arange {start=0, end=64} : vector<64 x i32>
    %1 = arange {start=-4, end=60} : vector<64 x i32>
    %2 = mul n, 8 : i32
    %3 = cmp_lt %0, %2 : vector<64 x bool>
    %4 = cmp_lt %1, %2 : vector<64 x bool>
    %5 = cmp_le %0, %2 : vector<64 x bool>
    print %3, %4, %5""")
    assert [fact.constancy for fact in (aligned, crossing, level)] == [(8,), (4,), (1,)]


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
    assert index == AxisInfo((4,), (1,), (1,), *I32_ENDS)
    assert pointers == AxisInfo((32,), (32,), (1,), *I32_ENDS)
    assert total.divisibility == (8,)


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
    table = axis_info(function)
    up, down = (table.facts[op.regions[0].params[0]] for op in function.body.ops[:2])
    assert up == AxisInfo((8,), (1,), (1,), 16, 99)
    assert down == AxisInfo((1,), (1,), (1,), 1, 2**31 - 1)


def test_a_branch_is_one_or_the_other() -> None:
    (value,) = of_printed("""
    %0 = cmp_gt n, 3 : bool
    %1 = if %0 : i32 {
        yield 24
    } else {
        yield 16
    }
    print %1""")
    assert value == AxisInfo((8,), (1,), (1,), 16, 24)


def test_hints_add_to_what_is_known() -> None:
    (value,) = of_printed("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = addptr y, %0 : vector<16 x ptr<i32>>
    %2 = load %1, none, none : vector<16 x i32>
    %3 = hint %2 {multiple=(16,), contiguous=(4,)} : vector<16 x i32>
    print %3""")
    assert value == AxisInfo((16,), (4,), (1,), *I32_ENDS)


def test_small_ints_wrap_and_are_not_contiguous_across_it_once_they_are_wide() -> None:
    narrow, moved, wide = of_printed("""
    %0 = arange {start=0, end=256} : vector<256 x i32>
    %1 = cast %0 {to=i8} : vector<256 x i8>
    %2 = add %1, 100:i8 : vector<256 x i8>
    %3 = cast %2 {to=i32} : vector<256 x i32>
    print %1, %2, %3""")
    assert narrow.contiguity == (128,)
    assert moved.contiguity == (128,)
    assert wide.contiguity == (4,)


def test_join_is_of_the_shorter_runs() -> None:
    left, right = AxisInfo((16,), (16,), (1,), 0, 15), AxisInfo((8,), (4,), (1,), 8, 31)
    assert join(left, right) == AxisInfo((4,), (4,), (1,), 0, 31)


def test_a_constant_is_known_whole() -> None:
    ty = program("").params[4].ty
    assert equal_to(ty, 0) == AxisInfo((MAX_DIVISOR,), (1,), (1,), 0, 0)
    assert equal_to(ty, -24).divisibility == (8,)


# -- long chains


def shift_register(length: int, seed: str = "%0") -> str:
    """A loop that carries a chain of values, each of which becomes the next one's; the first is
    replaced by the index."""
    carried = ", ".join(f"%{k} c{k} : i32" for k in range(2, length + 2))
    passed = ", ".join(f"%{k}" for k in range(2, length + 1))
    results = ", ".join(f"%{length + 2 + k}" for k in range(length))
    return f"""
    %0 = mul 0, n : i32
    {results} = for 0, n, 1, {", ".join([seed] * length)} : {", ".join(["i32"] * length)} \
(%1 i : i32, {carried}) {{
        yield %1, {passed}
    }}
    print %{length + 2}, %{2 * length + 1}""".replace("\\\n", "")


@pytest.mark.parametrize("length", [2, 5, 9, 25, 44, 90])
def test_what_a_long_chain_passes_on_is_not_taken_to_stay_out(length: int) -> None:
    """The last value of the chain changes only after `length` rounds."""
    first, last = of_printed(shift_register(length, "0"))
    for known in (first, last):
        assert known.low == 0 or known == top(program("").params[4].ty)
        assert known.high == I32_ENDS[1] or known.high == I32_ENDS[1] - 1
        assert known.divisibility == (1,)


def test_what_does_not_take_part_in_a_long_chain_stays_known() -> None:
    body = shift_register(40, "0").replace("0, n, 1, ", "0, n, 1, 64, ", 1)
    body = body.replace(": i32, i32", ": i32, i32, i32", 1)
    body = body.replace("(%1 i : i32, ", "(%1 i : i32, %100 same : i32, ", 1)
    body = body.replace("yield %1", "%101 = add %100, 16 : i32\n        yield %101, %1", 1)
    body = body.replace("    %42, ", "    %99, %42, ", 1).replace("print %42", "print %99, %42")
    assert of_printed(body)[0].divisibility == (16,)


# -- against the interpreter


def assert_true(known: AxisInfo, array: Any, value: Any) -> None:
    """The facts hold of an array that the interpreter computed."""
    element = element_of(value.ty)
    ints = element.kind in "iubp"
    step = element.element.itemsize if isinstance(element, PointerType) else 1
    array = np.asarray(array).astype(object) if ints else np.asarray(array)
    block = array if array.ndim else array.reshape(1)
    for axis in range(block.ndim):
        lanes = np.moveaxis(block, axis, -1)
        assert lanes.shape[-1] % known.constancy[axis] == 0
        runs = lanes.reshape(-1, known.constancy[axis])
        same = (runs == runs[:, :1]) | ((runs != runs) & (runs[:, :1] != runs[:, :1]))
        assert same.all(), f"{value}: {known} of {array}"
        if ints:
            assert lanes.shape[-1] % known.contiguity[axis] == 0
            runs = lanes.reshape(-1, known.contiguity[axis])
            steps = (runs[:, 1:] - runs[:, :-1] - step) % (1 << element.bits)
            assert (steps == 0).all(), f"{value}: {known} of {array}"
            assert (runs[:, 0] % known.divisibility[axis] == 0).all(), f"{value}: {known}, {array}"
    if known.low is not None and known.high is not None:
        assert (block >= known.low).all() and (block <= known.high).all(), f"{value}: {known}"


def look_at(function: Function) -> None:
    """Runs the program, comparing each value with what is known of it."""
    known = axis_info(function)
    known.verify(function)
    observe(function, lambda value, array: assert_true(known.of(value), array, value))


@pytest.mark.parametrize("name", corpus())
def test_the_facts_hold_when_the_corpus_runs(name: str) -> None:
    look_at(corpus()[name])


@pytest.mark.parametrize("seed", range(40))
def test_the_facts_hold_when_random_programs_run(seed: int) -> None:
    look_at(index_program(seed))


def test_assumptions_on_parameters() -> None:
    n = program("").params[4]
    sums, products = of_printed(
        """
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = add %0, n : vector<16 x i32>
    %2 = mul %0, n : vector<16 x i32>
    print %1, %2""",
        n=equal_to(n.ty, 1),
    )
    assert products.contiguity == (16,) and (sums.low, sums.high) == (1, 16)
    (scaled,) = of_printed("%0 = mul n, 4 : i32\n print %0", n=divisible(n.ty, 16))
    assert scaled.divisibility == (64,)
