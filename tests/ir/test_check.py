"""The verifier: it accepts the corpus, and refuses one program for each invariant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mytriton.errors import Location
from mytriton.ir import check as module
from mytriton.ir.check import InvalidIR, check
from mytriton.ir.nodes import Const, Function, Op, Operand, Param, Region, Value
from mytriton.ir.ops import TABLE, Row
from mytriton.ir.types import BOOL, F16, F32, I32, PointerType, VectorType
from tests.ir.corpus import corpus, program

N = Param("n", I32)
P = Param("p", PointerType(F32))


def made(
    name: str,
    operands: Any,
    types: Any = (),
    attrs: Any = None,
    regions: Any = (),
    where: Any = (),
) -> Op:
    """An op of the row, or of one that the table lacks."""
    row = TABLE.get(name) or Row(name, "", TABLE["barrier"].rule)
    return Op(row, operands, types, attrs or {}, regions, where)


YIELD = made("yield", ())


def function(*ops: Op, params: tuple[Param, ...] = (N, P)) -> Function:
    return Function("k", params, Region((), (*ops, YIELD)))


def add(left: Operand, right: Operand) -> Op:
    return made("add", (left, right), (I32,))


def region(*operands: Operand, ops: tuple[Op, ...] = (), params: Any = ()) -> Region:
    return Region(params, (*ops, made("yield", operands)))


def choice(then: Region, other: Region, *types: Any) -> Op:
    return made("if", (Const(True, BOOL),), types, {}, (then, other))


ONE = Const(1, I32)
INSIDE = add(N, ONE)
LATER = add(N, ONE)
TWICE = add(N, ONE)
SHARED = Param("i", I32)
STORE = made("store", (P, Const(1.0, F32), None))
MUL = made("mul", (Param("a", I32), Param("b", I32)), (I32,))


def reduction(*ops: Op) -> Op:
    a, b = Param("a", I32), Param("b", I32)
    lanes = made("arange", (), (VectorType((4,), I32),), {"start": 0, "end": 4})
    return made(
        "reduce", (lanes.result,), (I32,), {"axis": 0}, (region(a, ops=ops, params=(a, b)),)
    )


def with_foreign_result() -> Op:
    op = add(N, ONE)
    object.__setattr__(op, "results", (Value(op, 1, I32),))
    return op


REFUSED: list[tuple[str, str, Callable[[], Function]]] = [
    ("row", "no op 'plus'", lambda: function(made("plus", (N, N), (I32,)))),
    ("row", "1 regions", lambda: function(made("neg", (N,), (I32,), {}, (region(),)))),
    ("attributes", "axis", lambda: function(made("program_id", (), (I32,)))),
    ("attributes", "fast", lambda: function(made("neg", (N,), (I32,), {"fast": True}))),
    ("attributes", "cache", lambda: function(made("load", (P, None, None), (F32,), {"cache": ""}))),
    ("operands", "no operand", lambda: function(made("neg", (1,), (I32,)))),  # type: ignore[arg-type]
    ("scope", "result of add", lambda: function(add(LATER.result, ONE), LATER)),
    ("scope", "m is not", lambda: function(add(Param("m", I32), ONE))),
    (
        "scope",
        "result of add",
        lambda: function(choice(region(ops=(INSIDE,)), region()), add(INSIDE.result, ONE)),
    ),
    ("definition", "two places", lambda: function(TWICE, TWICE)),
    ("definition", "two parameters named n", lambda: function(params=(N, Param("n", F32)))),
    ("definition", "bound twice", lambda: function(loop_binding(N))),
    ("types", "the rule gives", lambda: function(made("add", (N, ONE), (F32,)))),
    ("types", "one element type", lambda: function(made("add", (N, Const(1.0, F32)), (I32,)))),
    ("types", "3 operands expected", lambda: function(made("load", (P,), (F32,)))),
    ("types", "operand y is missing", lambda: function(made("add", (N, None), (I32,)))),
    ("types", "one scalar int type", lambda: function(*over_blocks())),
    ("types", "not the op's own", lambda: function(with_foreign_result())),
    ("constants", "as a constant of f32", lambda: function(add(N, Const(1, F32)))),
    ("constants", "as a constant of i32", lambda: function(add(N, Const(True, I32)))),
    ("constants", "not a value of i32", lambda: function(add(N, Const(1 << 40, I32)))),
    ("constants", "not a value of f16", lambda: function(made("neg", (Const(0.1, F16),), (F16,)))),
    ("yield", "end in its one", lambda: Function("k", (N,), Region((), (add(N, ONE),)))),
    ("yield", "end in its one", lambda: function(YIELD)),
    ("yield", "end in its one", lambda: function(choice(Region((), ()), region()))),
    ("yield", "gives values", lambda: function(choice(region(None), region(None)))),
    ("body", "has params", lambda: Function("k", (), Region((N,), (YIELD,)))),
    ("body", "yields", lambda: Function("k", (N,), Region((), (made("yield", (N,)),)))),
    ("effects", "store inside a reduce", lambda: function(*with_lanes(reduction(STORE)))),
    (
        "effects",
        "store inside a reduce",
        lambda: function(*with_lanes(reduction(choice(region(ops=(STORE,)), region())))),
    ),
    ("effects", "without a result", lambda: function(made("print_nothing", ()))),
]


def loop_binding(param: Param) -> Op:
    return made("for", (N, N, ONE), (), {}, (region(params=(param,)),))


def over_blocks() -> tuple[Op, ...]:
    """A counted loop between blocks."""
    lanes = made("arange", (), (VectorType((4,), I32),), {"start": 0, "end": 4})
    block = lanes.result
    index = Param("i", VectorType((4,), I32))
    return lanes, made("for", (block, block, block), (), {}, (region(params=(index,)),))


def with_lanes(op: Op) -> tuple[Op, ...]:
    lanes = op.operands[0]
    assert isinstance(lanes, Value)
    return lanes.op, op


@pytest.mark.parametrize("name", corpus())
def test_the_corpus_is_valid(name: str) -> None:
    function = corpus()[name]
    assert check(function) is function


@pytest.mark.parametrize("invariant, message, make", REFUSED)
def test_each_invariant_is_enforced(
    invariant: str, message: str, make: Callable[[], Function], monkeypatch: Any
) -> None:
    wrong = make()
    first = wrong.body.ops[0].row
    if first.name == "print_nothing":
        monkeypatch.setitem(module.TABLE, first.name, first)
    with pytest.raises(InvalidIR) as caught:
        check(wrong)
    assert caught.value.invariant == invariant
    assert message in str(caught.value)


def test_every_invariant_of_the_docstring_has_a_program_that_breaks_it() -> None:
    lines = (module.__doc__ or "").splitlines()
    listed = {line[2:].split(":")[0] for line in lines if line.startswith("- ")}
    assert listed == {invariant for invariant, _, _ in REFUSED}


def test_the_error_shows_the_op_the_stage_and_the_kernels_line() -> None:
    wrong = made("add", (N, Const(1.0, F32)), (I32,), where=(Location("kernel.py", 3, "k"),))
    with pytest.raises(InvalidIR) as caught:
        check(function(wrong), "after simplify")
    text = str(caught.value)
    assert text.startswith("after simplify: [types] %? = add n, 1.0 : i32: ")
    assert "at kernel.py:3 in k" in text


def test_a_value_may_be_used_in_a_region_inside_its_own() -> None:
    check(
        program("""
    %0 = neg n : i32
    if true {
        %1 = neg %0 : i32
        store counts, %1, none
        yield
    } else {
        yield
    }""")
    )
