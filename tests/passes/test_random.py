"""No pass changes what a random program writes, and no fact about it is false."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mytriton.ir.check import check
from mytriton.ir.nodes import Function
from mytriton.ir.parse import parse
from mytriton.ir.text import print_function
from mytriton.passes.dead_code import drop_dead
from mytriton.passes.hoist import hoist
from mytriton.passes.order import order
from mytriton.passes.pipeline import optimize
from mytriton.passes.simplify import simplify
from tests.ir.corpus import corpus, run, same_meaning
from tests.passes.programs import large_program, programs
from tests.passes.test_axis_info import look_at

PASSES = (simplify, drop_dead, hoist, order, optimize)
FEW = settings(max_examples=15, deadline=None)


def passes_keep(function: Function) -> None:
    """Every pass, on the program as it is and after the passes before it, keeps what it writes."""
    wanted = run(check(function), programs=2)
    assert print_function(parse(print_function(function))) == print_function(function)
    step: Callable[[Function], Function]
    made = function
    for step in PASSES:
        alone, made = check(step(function), step.__name__), check(step(made), step.__name__)
        for changed in {alone, made}:
            assert run(changed, programs=2) == wanted, f"{step.__name__}\n{print_function(changed)}"
    for any_function in (function, made):
        look_at(any_function)


@FEW
@given(programs())
def test_passes_keep_the_meaning_of_random_programs(function: Function) -> None:
    passes_keep(function)


@pytest.mark.parametrize("seed", range(20))
def test_passes_keep_the_meaning_of_large_programs(seed: int) -> None:
    passes_keep(large_program(seed, size=20))


@pytest.mark.fuzz
@given(programs(size=14))
def test_passes_keep_the_meaning_of_many_random_programs(function: Function) -> None:
    passes_keep(function)


@pytest.mark.fuzz
@given(st.integers(12, 10**9))
def test_passes_keep_the_meaning_of_many_large_programs(seed: int) -> None:
    passes_keep(large_program(seed))


@pytest.mark.parametrize("name", corpus())
@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.__name__)
def test_passes_keep_the_meaning_of_the_corpus(
    name: str, step: Callable[[Function], Function]
) -> None:
    made = check(same_meaning(corpus()[name], step))
    assert step(made) is made, "a second run finds nothing left to do"
