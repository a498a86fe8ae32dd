"""Strides: what is said of neighbours along an axis holds when it runs, and the usual is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mytriton.ir.check import check
from mytriton.ir.nodes import Function, Param, Value
from mytriton.ir.types import PointerType, element_of, shape_of
from mytriton.passes.strides import UNNAMED, ZERO, Stride, StrideAnalysis, Strides, strides_of
from tests.ir.corpus import corpus, program
from tests.passes.observe import index_program, observe


def of_last(body: str) -> Strides:
    function = program(body)
    return strides_of(function).of(function.body.ops[-2].results[0])


def test_rows_by_a_number_and_columns() -> None:
    assert of_last("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = reshape %0 {shape=(16, 1)} : vector<16x1 x i32>
    %2 = reshape %0 {shape=(1, 16)} : vector<1x16 x i32>
    %3 = mul %1, 48 : vector<16x1 x i32>
    %4 = addptr x, %3 : vector<16x1 x ptr<f32>>
    %5 = addptr %4, %2 : vector<16x16 x ptr<f32>>""") == (Stride(48), Stride(1))


def test_a_stride_that_only_the_run_will_tell_is_named() -> None:
    function = program("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = mul %0, n : vector<16 x i32>
    %2 = shl %1, 1 : vector<16 x i32>
    %3 = sub %2, %0 : vector<16 x i32>
    %4 = mul %1, n : vector<16 x i32>
    %5 = trans %0 {order=(0,)} : vector<16 x i32>""")
    found, n = strides_of(function), function.params[4]
    ops = [op.results[0] for op in function.body.ops[:-1]]
    assert [found.of(value) for value in ops[1:3]] == [(Stride(1, True, n),), (Stride(2, True, n),)]
    assert found.of(ops[3]) == found.of(ops[4]) == (UNNAMED,)
    assert found.of(ops[5]) == (Stride(1),)
    assert found.of(ops[2])[0].text(lambda value: "n") == "2*n"


def test_what_is_loaded_has_strides_only_where_its_address_stays() -> None:
    assert of_last("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = reshape %0 {shape=(16, 1)} : vector<16x1 x i32>
    %2 = reshape %0 {shape=(1, 16)} : vector<1x16 x i32>
    %3 = addptr y, %1 : vector<16x1 x ptr<i32>>
    %4 = load %3, none, none : vector<16x1 x i32>
    %5 = mul %4, 64 : vector<16x1 x i32>
    %6 = addptr x, %5 : vector<16x1 x ptr<f32>>
    %7 = addptr %6, %2 : vector<16x16 x ptr<f32>>""") == (None, Stride(1))


def agree(function: Function, found: StrideAnalysis) -> dict[str, int]:
    """Runs it; compares neighbours of every int and pointer. Returns how often which was known.

    Wrapped ints keep their low 8 bits at every width, so the strides hold modulo 256.
    """
    known = {"fixed": 0, "runtime": 0}

    def look(value: Value | Param, array: Any) -> None:
        element = element_of(value.ty)
        if element.kind not in "iup" or not shape_of(value.ty):
            return
        size = element.element.itemsize if isinstance(element, PointerType) else 1
        numbers = np.asarray(array).astype(np.int64)
        for axis, stride in enumerate(found.of(value)):
            if stride is None:
                continue
            steps = np.diff(numbers, axis=axis) % 256
            if stride.runtime:
                known["runtime"] += 1
                assert len(np.unique(steps)) <= 1, (value, axis, stride)
            else:
                known["fixed"] += 1
                assert (steps == stride.factor * size % 256).all(), (value, axis, stride)

    observe(function, look)
    return known


@pytest.mark.parametrize("seed", range(60))
def test_neighbours_of_random_programs_lie_that_far_apart(seed: int) -> None:
    function = index_program(seed, size=40)
    check(function)
    agree(function, strides_of(function))


@pytest.mark.parametrize("name", sorted(corpus()))
def test_neighbours_of_every_shape_of_program(name: str) -> None:
    function = corpus()[name]
    agree(function, strides_of(function))


def test_the_random_programs_know_strides() -> None:
    total = {"fixed": 0, "runtime": 0}
    for seed in range(60):
        function = index_program(seed, size=40)
        for kind, count in agree(function, strides_of(function)).items():
            total[kind] += count
    assert total["fixed"] > 200 and total["runtime"] > 5, total


def test_a_wrong_stride_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    function = program("""
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = mul %0, 3 : vector<16 x i32>
    print %1""")
    found = strides_of(function)
    found.facts[function.body.ops[1].results[0]] = (Stride(2),)
    with pytest.raises(AssertionError):
        agree(function, found)
    assert ZERO.plus(Stride(5)) == Stride(5) and Stride(5).times(0) == ZERO
