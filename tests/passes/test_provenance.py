"""Provenance: from which parameters an address derives, on any way through a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mytriton.ir.nodes import Function, Param, Value
from mytriton.ir.types import PointerType, element_of
from mytriton.passes.provenance import Provenance, makes_unknown_address, provenance
from tests.ir.corpus import SIZE, corpus, program
from tests.passes.observe import index_program, observe
from tests.passes.programs import large_program


def names(known: Provenance) -> str:
    return " ".join([*sorted(p.name for p in known.params), *["?"] * known.unknown])


def of_printed(body: str) -> list[str]:
    function = program(body)
    table = provenance(function)
    table.verify(function)
    return [names(table.of(operand)) for operand in function.body.ops[-2].operands]


def test_sums_choices_casts_and_shapes_keep_it() -> None:
    found = of_printed("""
    %0 = arange {start=0, end=8} : vector<8 x i32>
    %1 = addptr x, %0 : vector<8 x ptr<f32>>
    %2 = addptr out, n : ptr<f32>
    %3 = cmp_gt %0, 3 : vector<8 x bool>
    %4 = select %3, %1, %2 : vector<8 x ptr<f32>>
    %5 = reshape %4 {shape=(2, 4)} : vector<2x4 x ptr<f32>>
    %6 = cast %5 {to=ptr<i32>} : vector<2x4 x ptr<i32>>
    print %1, %2, %4, %6, n""")
    assert found == ["x", "out", "out x", "out x", ""]


def test_loaded_pointers_and_those_made_of_ints_may_be_anywhere() -> None:
    found = of_printed("""
    %0 = cast y {to=i64} : i64
    %1 = add %0, 8:i64 : i64
    %2 = cast %1 {to=ptr<i32>} : ptr<i32>
    %3 = cast x {to=ptr<ptr<f32>>} : ptr<ptr<f32>>
    %4 = load %3, none, none : ptr<f32>
    %5 = addptr %4, n : ptr<f32>
    %6 = cmp_gt n, 3 : bool
    %7 = select %6, %5, out : ptr<f32>
    print %2, %3, %5, %7""")
    assert found == ["?", "x", "?", "out ?"]


def test_branches_and_loops_unite_what_may_come_round() -> None:
    """A rotation of three pointers reaches every one of them."""
    found = of_printed("""
    %0 = cmp_gt n, 3 : bool
    %1 = if %0 : ptr<f32> {
        yield x
    } else {
        yield out
    }
    %2 = cast y {to=ptr<f32>} : ptr<f32>
    %3, %4, %5 = for 0, n, 1, x, out, %2 : ptr<f32>, ptr<f32>, ptr<f32> \
(%6 i : i32, %7 a : ptr<f32>, %8 b : ptr<f32>, %9 c : ptr<f32>) {
        %10 = addptr %7, 1 : ptr<f32>
        yield %8, %9, %10
    }
    %11 = while x : ptr<f32> (%12 p : ptr<f32>) {
        yield false
    } do (%13 p : ptr<f32>) {
        %14 = addptr %13, n : ptr<f32>
        yield %14
    }
    print %1, %3, %4, %5, %11""")
    assert found == ["out x", "out x y", "out x y", "out x y", "x"]


def test_may_alias() -> None:
    x, y = Param("x", PointerType(element_of(program("").params[4].ty))), Param("y", y_type())
    of_x, of_both = Provenance(frozenset({x})), Provenance(frozenset({x, y}))
    of_y, anywhere = Provenance(frozenset({y})), Provenance(unknown=True)
    assert not of_x.may_alias(of_y) and of_x.may_alias(of_both) and of_both.may_alias(of_y)
    assert anywhere.may_alias(of_x) and of_y.may_alias(anywhere)
    assert not anywhere.may_alias(Provenance())


def y_type() -> Any:
    return program("").params[1].ty


def assert_true(table: Any, value: Value | Param, array: Any, buffers: dict[str, int]) -> None:
    """An address whose arithmetic stays inside a buffer is in one of those named."""
    known = table.of(value)
    if not isinstance(element_of(value.ty), PointerType) or known.unknown:
        return
    for address in np.asarray(array).reshape(-1):
        inside = [name for name, at in buffers.items() if at <= address < at + 4 * SIZE]
        assert set(inside) <= {param.name for param in known.params} | ANYWHERE_NEAR


ANYWHERE_NEAR: set[str] = set()


def look_at(function: Function) -> None:
    """Addresses that stay in their buffer, by provenance; those of random ints may leave theirs."""
    table, buffers = provenance(function), {}
    table.verify(function)

    def look(value: Value | Param, array: Any) -> None:
        if isinstance(value, Param) and value in function.params:
            if isinstance(value.ty, PointerType):
                buffers[value.name] = int(np.asarray(array))
        assert_true(table, value, array, buffers)

    observe(function, look)


@pytest.mark.parametrize("name", corpus())
def test_it_holds_when_the_corpus_runs(name: str) -> None:
    look_at(corpus()[name])


@pytest.mark.parametrize("seed", range(20))
def test_it_holds_when_random_programs_run(seed: int) -> None:
    look_at(large_program(seed))


@pytest.mark.parametrize("seed", range(20))
def test_the_table_is_a_fixed_point_on_random_programs(seed: int) -> None:
    function = index_program(seed)
    provenance(function).verify(function)


def test_unknown_addresses_are_made_by_loads_and_casts_of_ints_alone() -> None:
    function = program("""
    %0 = cast 8:i64 {to=ptr<i32>} : ptr<i32>
    %1 = addptr %0, 1 : ptr<i32>
    %2 = cast y {to=ptr<ptr<i32>>} : ptr<ptr<i32>>
    %3 = load %2, none, none : ptr<i32>
    %4 = load %3, none, none : i32""")
    made = [makes_unknown_address(op) for op in function.body.ops[:-1]]
    assert made == [True, False, False, True, False]
