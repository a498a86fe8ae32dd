"""The SSA text, and reading it back."""

from __future__ import annotations

import pytest

from mytriton.errors import Location
from mytriton.ir.build import Builder, emit, using
from mytriton.ir.nodes import Const, Function, Op, Param, Region, walk
from mytriton.ir.ops import TABLE
from mytriton.ir.parse import ParseError, parse
from mytriton.ir.text import SSAPrinter, constant_text, print_function
from mytriton.ir.types import BF16, BOOL, F8E4M3FN, F16, F32, F64, I32, I64, U8, PointerType
from tests.ir.corpus import corpus, elementwise_program, program

SEED = """\
%0 = program_id {axis=0} : i32
%1 = mul %0, 256 : i32
%2 = arange {start=0, end=256} : vector<256 x i32>
%3 = add %1, %2 : vector<256 x i32>
%4 = addptr x, %3 : vector<256 x ptr<f32>>
%5 = cmp_lt %3, n : vector<256 x bool>
%6 = load %4, %5, 0.0 : vector<256 x f32>
%7 = addptr y, %3 : vector<256 x ptr<f32>>
%8 = load %7, %5, 0.0 : vector<256 x f32>
%9 = add %6, %8 : vector<256 x f32>
%10 = addptr out, %3 : vector<256 x ptr<f32>>
store %10, %9, %5"""


def indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def test_the_seed_kernel_reads_and_prints_to_the_letter() -> None:
    head = "kernel add_kernel(x: ptr<f32>, y: ptr<f32>, out: ptr<f32>, n: i32) {"
    text = f"{head}\n{indented(SEED)}\n}}"
    function = parse(text)
    assert print_function(function) == text
    assert SSAPrinter().print_ops(function.body.ops) == SEED
    assert SSAPrinter().print_ops(function.body.ops[:-1]) == SEED


def test_the_corpus_uses_every_op() -> None:
    used = {op.name for function in corpus().values() for op in walk(function.body)}
    assert used == TABLE.keys()


@pytest.mark.parametrize("name", corpus())
def test_what_is_printed_reads_back_and_prints_the_same(name: str) -> None:
    text = print_function(corpus()[name])
    assert print_function(parse(text)) == text


def test_reading_back_keeps_ops_attributes_types_and_names() -> None:
    for function in corpus().values():
        again = parse(print_function(function))
        for before, after in zip(walk(function.body), walk(again.body), strict=True):
            assert (before.name, before.types, dict(before.attrs)) == (
                after.name,
                after.types,
                dict(after.attrs),
            )
            for left, right in zip(before.regions, after.regions, strict=True):
                assert [(p.name, p.ty) for p in left.params] == [
                    (p.name, p.ty) for p in right.params
                ]
            constants = [o for o in before.operands if isinstance(o, Const)]
            assert constants == [o for o in after.operands if isinstance(o, Const)]


@pytest.mark.parametrize(
    "constant, text",
    [
        (Const(7, I32), "7"),
        (Const(-7, I64), "-7:i64"),
        (Const(255, U8), "255:u8"),
        (Const(True, BOOL), "true"),
        (Const(0.5, F32), "0.5"),
        (Const(-0.0, F32), "-0.0"),
        (Const(0.10000000149011612, F32), "0.1"),
        (Const(1e10, F32), "10000000000.0"),
        (Const(0.1, F64), "0.1:f64"),
        (Const(0.0999755859375, F16), "0.1:f16"),
        (Const(0.10009765625, BF16), "0.1:bf16"),
        (Const(448.0, F8E4M3FN), "448.0:f8e4m3fn"),
        (Const(float("inf"), F32), "inf"),
        (Const(float("-inf"), F16), "-inf:f16"),
        (Const(float("nan"), F64), "nan:f64"),
    ],
)
def test_constants_carry_the_type_that_their_spelling_does_not_say(
    constant: Const, text: str
) -> None:
    assert constant_text(constant) == text
    ops = parse(f"kernel k(p: ptr<f32>) {{ print {text} }}").body.ops
    assert ops[0].operands == (constant,)


def test_parameters_with_odd_names_are_told_from_constants() -> None:
    params = (Param("inf", F32), Param("a-b", F32), Param("größe", F32), Param("none", F32))
    operands = (*params, Const(float("inf"), F32), None)
    body = Region((), (Op(TABLE["print"], operands), Op(TABLE["yield"], ())))
    text = print_function(Function("k", params, body))
    assert "print `inf`, `a-b`, größe, `none`, inf, none" in text
    assert print_function(parse(text)) == text


def test_regions_are_indented_with_the_word_between_them() -> None:
    text = print_function(
        program("""
    %0 = while n : i32 (%1 left : i32) {
        %2 = cmp_gt %1, 0 : bool
        yield %2
    } do (%3 left : i32) {
        %4 = if true : i32 {
            yield 1
        } else {
            yield 2
        }
        yield %4
    }
    store counts, %0, none""")
    )
    assert (
        text.splitlines()[1:]
        == """\
    %4 = while n : i32 (%0 left : i32) {
        %1 = cmp_gt %0, 0 : bool
        yield %1
    } do (%2 left : i32) {
        %3 = if true : i32 {
            yield 1
        } else {
            yield 2
        }
        yield %3
    }
    store counts, %4, none
}""".splitlines()
    )


def test_show_where_adds_the_line_of_the_kernel_and_still_reads_back() -> None:
    line = Location("kernel.py", 12, "kernel")
    builder = Builder(where=(line,))
    with using(builder):
        emit("neg", Param("n", I32))
    function = builder.function("k", [])
    function = Function("k", (function.body.ops[0].operands[0],), function.body)  # type: ignore[arg-type]
    text = print_function(function, show_where=True)
    assert "%0 = neg n : i32  # kernel.py:12 in kernel" in text
    assert print_function(parse(text)) == print_function(function)


def test_pointers_to_const_show() -> None:
    text = "kernel k(p: ptr<const f16>, q: ptr<ptr<i8>>) {\n}"
    function = parse(text)
    assert function.params[0].ty == PointerType(F16, const=True)
    assert print_function(function) == text


@pytest.mark.parametrize(
    "body, message",
    [
        ("%0 = add %1, 2 : i32", "2:14: %1 is not defined"),
        ("%0 = add m, 2 : i32", "2:14: there is no parameter m"),
        ("%0 = add 1, 300:u8 : u8", "2:17: 300 is not a value of u8"),
        ("%0 = add 1, 1.5:i32 : i32", "2:17: 1.5 is not a value of i32"),
        ("%0 = plus 1, 2 : i32", "2:10: there is no op plus"),
        ("%0 = add 1, 2 : j32", "2:21: there is no type j32"),
        ("%0 = add 1, 2 : i32\n    %0 = neg 1 : i32", "3:5: %0 is defined twice"),
        ("%0, %1 = add 1, 2 : i32", "2:5: 2 results of 1 types"),
        ("if true {\n    yield\n    }", "5:1: 'else' expected"),
        ("%0 = cast 1 {to=f16 : f16", "2:25: '}' expected"),
    ],
)
def test_a_mistake_in_the_text_is_reported_at_its_place(body: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"kernel k() {{\n    {body}\n}}")
    assert str(caught.value).startswith(message)
    assert f"{caught.value.line}:{caught.value.column}:" in str(caught.value)


def test_text_after_the_function_or_missing_is_a_mistake() -> None:
    with pytest.raises(ParseError, match="goes on"):
        parse("kernel k() {} kernel")
    with pytest.raises(ParseError, match="'}' expected"):
        parse("kernel k() {")


def test_every_elementwise_row_has_its_line() -> None:
    text = print_function(elementwise_program())
    for row in TABLE.values():
        if row.element:
            assert f" = {row.name} %" in text
