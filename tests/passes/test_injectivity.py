"""Injectivity: what is taken to be distinct is distinct when it runs, and the usual is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mytriton.ir.check import check
from mytriton.ir.nodes import Function, Param, Value
from mytriton.ir.types import PointerType, element_of, shape_of
from mytriton.passes.injectivity import LaneForms, injectivity
from tests.ir.corpus import corpus, program
from tests.passes.observe import index_program, observe

KNOWN = [
    ("%0", True, "a range"),
    ("%1", False, "cut to 8 bits, 0 and 256 are one"),
    ("%2", False, "what was cut stays cut"),
    ("%3", True, "cut to 16 bits there is room for 512"),
    ("%4", True, "moved by one number"),
    ("%5", True, "scaled"),
    ("%6", False, "scaled by 2 ** 24, past the width"),
    ("%7", False, "scaled by what only the run will tell"),
    ("%8", True, "twice a range"),
    ("%9", True, "downwards"),
    ("%10", False, "every second is the one before"),
]


def test_ranges_sums_products_and_casts() -> None:
    function = program("""
    %0 = arange {start=0, end=512} : vector<512 x i32>
    %1 = cast %0 {to=u8} : vector<512 x u8>
    %2 = cast %1 {to=i64} : vector<512 x i64>
    %3 = cast %0 {to=u16} : vector<512 x u16>
    %4 = add %0, n : vector<512 x i32>
    %5 = mul %0, 12 : vector<512 x i32>
    %6 = mul %0, 16777216 : vector<512 x i32>
    %7 = mul %0, n : vector<512 x i32>
    %8 = add %0, %0 : vector<512 x i32>
    %9 = sub n, %8 : vector<512 x i32>
    %10 = div %0, 2 : vector<512 x i32>""")
    forms = injectivity(function)
    for (name, distinct, why), op in zip(KNOWN, function.body.ops):
        assert forms.is_injective(op.results[0]) == distinct, (name, why)


def test_rows_and_columns_of_addresses() -> None:
    function = program("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = reshape %0 {shape=(16, 1)} : vector<16x1 x i32>
    %2 = reshape %0 {shape=(1, 16)} : vector<1x16 x i32>
    %3 = mul %1, 16 : vector<16x1 x i32>
    %4 = add %3, %2 : vector<16x16 x i32>
    %5 = mul %1, 15 : vector<16x1 x i32>
    %6 = add %5, %2 : vector<16x16 x i32>
    %7 = addptr x, %4 : vector<16x16 x ptr<f32>>
    %8 = addptr x, %6 : vector<16x16 x ptr<f32>>
    %9 = reshape %7 {shape=(256,)} : vector<256 x ptr<f32>>
    %10 = trans %7 {order=(1, 0)} : vector<16x16 x ptr<f32>>
    %11 = broadcast %2 {shape=(4, 16)} : vector<4x16 x i32>
    %12 = addptr x, %11 : vector<4x16 x ptr<f32>>
    print %7, %8, %9, %10, %12""")
    forms = injectivity(function)
    known = [forms.distinct_addresses(v) for v in function.body.ops[-2].operands]
    assert known == [True, False, True, True, False]


def test_a_pointer_that_a_loop_moves_stays_distinct() -> None:
    function = program("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = addptr x, %0 : vector<16 x ptr<f32>>
    %2, %3 = for 0, n, 1, %1, %0 : vector<16 x ptr<f32>>, vector<16 x i32> \
(%4 i : i32, %5 p : vector<16 x ptr<f32>>, %6 k : vector<16 x i32>) {
        %7 = addptr %5, 16 : vector<16 x ptr<f32>>
        %8 = mul %6, %4 : vector<16 x i32>
        yield %7, %8
    }""")
    forms, loop = injectivity(function), function.body.ops[2]
    assert forms.distinct_addresses(loop.results[0])
    assert forms.distinct_addresses(loop.regions[0].params[1])
    assert not forms.is_injective(loop.results[1])


def test_bytes_that_overlap_are_not_distinct() -> None:
    """One address a byte, of elements of four bytes."""
    function = program("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = cast x {to=ptr<i8>} : ptr<i8>
    %2 = addptr %1, %0 : vector<16 x ptr<i8>>
    %3 = cast %2 {to=ptr<f32>} : vector<16 x ptr<f32>>""")
    forms = injectivity(function)
    assert forms.distinct_addresses(function.body.ops[2].results[0])
    assert not forms.distinct_addresses(function.body.ops[3].results[0])


def assert_true(forms: LaneForms, value: Value | Param, array: Any) -> None:
    form, element = forms.of(value), element_of(value.ty)
    if form is None:
        return
    flat = np.asarray(array).reshape(-1)
    if form.uniform:
        same = (flat == flat[0]) | ((flat != flat) & (flat[0] != flat[0]))
        assert same.all(), (value, form)
    if element.kind not in "iup":
        return
    numbers = [int(number) for number in flat]
    places = np.ndindex(shape_of(value.ty))
    expected = [sum(s * i for s, i in zip(form.strides, place)) for place in places]
    rest = {(n - e) % (1 << form.bits) for n, e in zip(numbers, expected, strict=True)}
    assert len(rest) == 1, (value, form)
    if forms.is_injective(value):
        assert len(set(numbers)) == len(numbers), (value, form)
    if isinstance(element, PointerType) and forms.distinct_addresses(value):
        gaps = np.diff(np.sort(np.array(numbers, dtype=object)))
        assert all(gap >= element.element.itemsize for gap in gaps), (value, form)


def look_at(function: Function) -> None:
    forms = injectivity(check(function))
    forms.verify(function)
    observe(function, lambda value, array: assert_true(forms, value, array))


@pytest.mark.parametrize("name", corpus())
def test_the_forms_hold_when_the_corpus_runs(name: str) -> None:
    look_at(corpus()[name])


@pytest.mark.parametrize("seed", range(30))
def test_the_forms_hold_when_random_programs_run(seed: int) -> None:
    look_at(index_program(seed))
