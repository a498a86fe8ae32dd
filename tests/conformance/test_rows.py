"""Every element-wise row on every type of its kinds means the same on every backend.

The cases come from the op table: a new row is covered without a new line here.
"""

from __future__ import annotations

import numpy as np
import pytest

from mytriton.elementary.term import IrTerm
from mytriton.ir.build import Builder, using
from mytriton.ir.fold import fold
from mytriton.ir.nodes import Const, Op, Param
from mytriton.ir.ops import Row
from mytriton.ir.types import ScalarType, compute_type
from mytriton.ir.types import element_of as element_of_type
from tests.conformance.backends import (
    BACKENDS,
    ROWS,
    by_numpy,
    element_of,
    result_type,
    types_of,
    uses_formula,
)
from tests.conformance.distance import ulps
from tests.conformance.inputs import operands

CASES = [
    pytest.param(row, element, id=f"{row.name}-{element.ir}")
    for row in ROWS
    for element in types_of(row)
]


def allowance(row: Row, result: ScalarType) -> float:
    """The row's ulp for each of the two sides; one step of a small float."""
    bound = element_of(row).ulp
    if bound and result.bits < 32:
        return 1.0
    return 2 * bound


@pytest.mark.parametrize(("row", "element"), CASES)
def test_a_row_means_the_same(row: Row, element: ScalarType) -> None:
    backends = ["c", "cpu"]
    if uses_formula(element_of(row), element):
        # A formula of 8-bit floats is that of 16-bit ones, rounded again: not worth compiling.
        backends = ["c", "formula"] if element.bits == 8 else ["c", "cpu", "formula"]
    for backend in backends:
        compare(row, element, backend)


def compare(row: Row, element: ScalarType, backend: str) -> None:
    arrays = operands(element, element_of(row).arity)
    result = result_type(element_of(row), element)
    want = by_numpy(row, element, arrays)
    got = BACKENDS[backend](row, element, arrays)
    distance = ulps(result, got, want)
    with np.errstate(invalid="ignore"):
        if element_of(row).absolute:
            distance[np.abs(got - want) <= 2 * element_of(row).absolute] = 0.0
    worst = int(np.argmax(distance))
    given = [array[worst] for array in arrays]
    message = f"{backend}: {row.name}{given} = {got[worst]}, meaning {want[worst]}"
    assert distance[worst] <= allowance(row, result), message


@pytest.mark.parametrize(("row", "element"), CASES)
def test_folding_is_evaluating(row: Row, element: ScalarType) -> None:
    meaning = element_of(row)
    arrays = [array[::37] for array in operands(element, meaning.arity)]
    result = result_type(meaning, element)
    want = by_numpy(row, element, arrays)
    for place in range(len(want)):
        constants = [Const(array[place].item(), element) for array in arrays]
        folded = fold(row, constants, {}, result)
        assert folded == Const(want[place].item(), result)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if element_of(row).expand], ids=lambda row: row.name
)
def test_a_formula_uses_only_instructions(row: Row) -> None:
    """A target replaces an op by its formula once: what it gets must need no formula itself."""
    for element in {compute_type(element) for element in types_of(row)}:
        if not uses_formula(element_of(row), element):
            continue
        for op in formula_ops(row, element):
            inner = op.row.element
            kind = element_of_type(op.operands[0].ty).kind
            assert inner is None or kind in inner.llvm, f"{row.name} of {element} uses {op.name}"


def formula_ops(row: Row, element: ScalarType) -> tuple[Op, ...]:
    meaning = element_of(row)
    params = [Param(f"x{i}", element) for i in range(meaning.arity)]
    with using(Builder(where=())) as builder:
        meaning.expand(*map(IrTerm, params))
        return builder.function("formula", params).body.ops[:-1]
