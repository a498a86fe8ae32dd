"""The pipeline as a whole: the seed's text, checks between passes, and its cost."""

from __future__ import annotations

from collections import Counter

import pytest

from mytriton.ir.build import Builder, emit, using
from mytriton.ir.check import InvalidIR
from mytriton.ir.nodes import Const, Function, Op, Param, Region
from mytriton.ir.ops import TABLE
from mytriton.ir.text import SSAPrinter
from mytriton.ir.types import F32, I32, PointerType
from mytriton.passes import pipeline
from mytriton.passes.pipeline import optimize
from tests.ir.corpus import program
from tests.ir.test_text import SEED
from tests.ir.test_tree import chain
from tests.support.counting import calls_of


def traced_add_kernel() -> Function:
    """The seed's kernel as it is traced: offsets, mask, loads, the store's pointer, the sum."""
    x, y, out = (Param(name, PointerType(F32)) for name in ("x", "y", "out"))
    n = Param("n", I32)
    with using(Builder(where=())) as builder:
        first = emit("mul", emit("program_id", axis=0), Const(256, I32))
        offsets = emit("add", first, emit("arange", start=0, end=256))
        mask = emit("cmp_lt", offsets, n)
        zero = Const(0.0, F32)
        left, right = (emit("load", emit("addptr", p, offsets), mask, zero) for p in (x, y))
        pointer = emit("addptr", out, offsets)
        builder.emit("store", (pointer, emit("add", left, right), mask))
    return builder.function("add_kernel", (x, y, out, n))


def test_the_seed_kernel_is_its_twelve_lines() -> None:
    assert SSAPrinter().print_ops(optimize(traced_add_kernel()).body.ops) == SEED


def test_what_is_done_already_is_the_same_function() -> None:
    function = optimize(traced_add_kernel())
    assert optimize(function) is function


def broken(function: Function) -> Function:
    body = function.body
    wrong = Op(TABLE["add"], (Const(1, I32), Const(1.0, F32)), (I32,))
    return Function(function.name, function.params, Region((), (wrong, *body.ops)))


def test_a_pass_that_breaks_an_invariant_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES, broken))
    monkeypatch.setenv("MYTRITON_CHECK", "1")
    with pytest.raises(InvalidIR, match=r"after broken: \[types\]"):
        optimize(program("store out, 1.0, none"))
    monkeypatch.setenv("MYTRITON_CHECK", "0")
    optimize(program("store out, 1.0, none"))


def test_the_seed_kernel_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python does some ten million calls a second: it takes well under a millisecond."""
    monkeypatch.setenv("MYTRITON_CHECK", "0")
    function = traced_add_kernel()
    optimize(function)  # what is made once for the process is not counted
    assert calls_of(lambda: optimize(function)) < 3500


def test_the_work_grows_with_the_program_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYTRITON_CHECK", "0")
    small, large = (calls_of(lambda n=n: optimize(chain(n, shared=False))) for n in (500, 4000))
    assert large < 1.1 * 8 * small


def test_each_pass_says_which_rules_it_applied() -> None:
    function = program("""
    %0 = mul n, 0 : i32
    %1 = sub %0, %0 : i32
    %2 = addptr counts, %1 : ptr<i32>
    for 0, n, 1 (%3 i : i32) {
        %4 = load x, none, none : f32
        %5 = load x, none, none : f32
        %6 = add %4, %5 : f32
        print %6
        yield
    }
    store %2, n, none""")
    steps = {
        step.name: dict(Counter(applied.rule for applied in step.applied))
        for step in pipeline.explain(function)
    }
    assert steps["simplify"]["times zero"] == 1 and steps["simplify"]["repeated load"] >= 1
    assert list(steps) == [step.__name__ for step in pipeline.PASSES]
