"""Programs far deeper and longer than Python's stack are built, checked, printed, read and changed,
in time that grows with their size."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from mytriton.ir.build import Builder, emit, using
from mytriton.ir.check import check
from mytriton.ir.nodes import Const, Function, walk
from mytriton.ir.ops import RegionKind
from mytriton.ir.parse import parse
from mytriton.ir.text import print_function
from mytriton.ir.tree import expression_ops, print_trees
from mytriton.ir.types import F32, I32
from mytriton.passes.axis_info import axis_info
from mytriton.passes.dependence import Dependence
from mytriton.passes.injectivity import injectivity
from mytriton.passes.pipeline import optimize
from mytriton.passes.provenance import provenance
from tests.ir.corpus import program, run

PARAMS = program("").params
OUT, N = PARAMS[2], PARAMS[4]


def arms(count: int) -> Function:
    """if n == 0: … elif n == 1: … with as many arms, each of which stores its number."""
    builder, opened = Builder(where=()), []
    with using(builder):
        for k in range(count):
            is_this = emit("cmp_eq", N, Const(k, I32))
            builder.open(RegionKind.BRANCH)
            builder.emit("store", [OUT, Const(float(k), F32), None])
            opened.append((is_this, builder.set_aside()))
            builder.open(RegionKind.BRANCH)
        other = builder.close()
        for is_this, scope in reversed(opened):
            builder.emit("if", [is_this], {}, (builder.close((), scope), other))
            other = builder.close() if builder.level else other
    return builder.function("arms", PARAMS)


def nested(count: int) -> Function:
    """A branch in a branch in a branch …, around one store."""
    builder = Builder(where=())

    with using(builder):
        value = emit("load", OUT, None, None)
        for _ in range(count):
            builder.open(RegionKind.BRANCH)
        builder.emit("store", [OUT, emit("add", value, Const(1.0, F32)), None])
        for k in range(count):
            inner = builder.close()
            builder.open(RegionKind.BRANCH)
            other = builder.close()
            builder.emit("if", [emit("cmp_gt", N, Const(k % 7, I32))], {}, (inner, other))
    return builder.function("nested", PARAMS)


def chain(count: int) -> Function:
    """A sum of as many terms, each of another constant."""
    builder = Builder(where=())
    with using(builder):
        total = emit("load", OUT, None, None)
        for k in range(count):
            total = emit("add", total, Const(float(k % 3 + 1), F32))
        builder.emit("store", [OUT, total, None])
    return builder.function("chain", PARAMS)


def pipelined(count: int) -> Function:
    """Loads, each stored after the load that follows it."""
    builder = Builder(where=())
    with using(builder):
        before = emit("load", OUT, None, None)
        for k in range(1, count):
            value = emit("load", emit("addptr", PARAMS[0], Const(k, I32)), None, None)
            builder.emit("store", [emit("addptr", OUT, Const(k, I32)), before, None])
            before = value
    return builder.function("pipelined", PARAMS)


def everything(function: Function) -> Iterator[str]:
    """Does all that is done with a function, naming each step."""
    check(function)
    yield "check"
    text = print_function(function)
    yield "print"
    assert print_function(parse(text)) == text
    yield "parse"
    assert repr(expression_ops(function)[0]) and print_trees(expression_ops(function))
    yield "tree"
    made = check(optimize(function))
    yield "optimize"
    for analysis in (axis_info, injectivity, provenance):
        analysis(made).verify(made)
        yield analysis.__name__
    dependence = Dependence(made)
    assert all(dependence.of(op) or True for op in walk(made.body))
    yield "dependence"


@pytest.mark.parametrize(
    ("make", "count"), [(arms, 1500), (nested, 1500), (chain, 5000), (pipelined, 2000)]
)
def test_deep_programs_pass_through_everything(make: object, count: int) -> None:
    begin = time.process_time()
    function = make(count)  # type: ignore[operator]
    steps = {"make": time.process_time() - begin}
    for step in everything(function):
        steps[step] = time.process_time() - begin - sum(steps.values())
    assert max(steps.values()) < 5, steps
    assert sum(steps.values()) < 15, steps


def test_the_arms_mean_what_they_say() -> None:
    """n is 50; the interpreter follows the arms one by one, so there are few of them."""
    assert run(arms(60)) == run(optimize(arms(60)))
    assert run(arms(60)) == run(program("store out, 50.0, none"))


def test_a_thousand_arms_run() -> None:
    """The last arms of the chain are reached through all the others."""
    assert run(arms(1000), n=998) == run(program("store out, 998.0, none"), n=998)
