"""Wrong kernels: each is refused at its wrong line, in words that say what to do.

A row is a kernel, its arguments and the words its message must have. The wrong line is the one
that ends in `# wrong`.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import PACKAGE, CompileError

X = np.zeros(64, np.float32)
I = np.zeros(64, np.int32)  # noqa: E741
LIMIT = 3


@dataclass(frozen=True)
class Wrong:
    kernel: Any
    words: tuple[str, ...]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


ROWS: list[Wrong] = []


def wrong(*words: str, args: tuple[Any, ...] = (X, 3), **kwargs: Any) -> Callable[[Any], Any]:
    """Makes a row of the kernel below."""

    def add(fn: Any) -> Any:
        ROWS.append(Wrong(triton.jit(fn), words, args, kwargs))
        return fn

    return add


# -- shapes and types


@wrong("(8,)", "(16,)", "broadcast")
def shapes(x, n):
    a = tl.arange(0, 8)
    b = tl.arange(0, 16)
    c = a + b  # wrong
    tl.store(x + c, 1.0)


@wrong("`load` is not allowed in the function given to tl.reduce")
def load_in_a_map(x, n):
    def more(value):
        return value + tl.load(x)  # wrong

    lanes = tl.arange(0, 8)
    tl.store(x + lanes, tl.map_elementwise(more, tl.load(x + lanes)))


@wrong("`assert` is not allowed in the function given to tl.reduce")
def assert_in_a_reduce(x, n):
    def larger(a, b):
        tl.device_assert(a == b, "same")  # wrong
        return tl.maximum(a, b)

    tl.store(x, tl.reduce(tl.load(x + tl.arange(0, 8)), 0, larger))


@wrong("float", "ints or bools")
def bitwise_on_floats(x, n):
    a = tl.load(x)
    b = a & 1  # wrong
    tl.store(x, b)


@wrong("300", "uint8")
def number_too_large(x, n):
    a = n.to(tl.uint8)
    tl.store(x, a + 300)  # wrong


@wrong("arange", "end > start")
def empty_arange(x, n):
    a = tl.arange(8, 8)  # wrong
    tl.store(x + a, 1.0)


@wrong("constexpr")
def arange_of_run_time(x, n):
    a = tl.arange(0, n)  # wrong
    tl.store(x + a, 1.0)


@wrong("axis")
def program_axis(x, n):
    tl.store(x, tl.program_id(3))  # wrong


@wrong("reshape", "6")
def wrong_reshape(x, n):
    a = tl.reshape(tl.arange(0, 8), (2, 3, 6))  # wrong
    tl.store(x + a, 1.0)


@wrong("dot", "(4, 8)")
def wrong_dot(x, n):
    a = tl.zeros((4, 8), tl.float32)
    b = tl.zeros((4, 8), tl.float32)
    tl.store(x, tl.sum(tl.dot(a, b)))  # wrong


@wrong("axis")
def wrong_reduce_axis(x, n):
    a = tl.sum(tl.zeros((4, 8), tl.float32), axis=2)  # wrong
    tl.store(x, a)


# -- memory


@wrong("pointer")
def load_of_number(x, n):
    a = tl.load(n)  # wrong
    tl.store(x, a)


@wrong("shape")
def mask_too_large(x, n):
    mask = tl.arange(0, 8) < n
    tl.store(x, 1.0, mask=mask)  # wrong


@wrong("block", "scalar pointer")
def block_through_scalar(x, n):
    tl.store(x, tl.arange(0, 8))  # wrong


@wrong("int offset")
def float_offset(x, n):
    p = x + 1.5  # wrong
    tl.store(p, 1.0)


@wrong("two pointers")
def adding_pointers(x, n):
    p = x + x  # wrong
    tl.store(p, 1.0)


@wrong("mask")
def other_without_mask(x, n):
    a = tl.load(x, other=0.0)  # wrong
    tl.store(x, a)


# -- conditions


@wrong("block", "tl.where")
def block_as_condition(x, n):
    a = tl.arange(0, 8)
    if a > 3:  # wrong
        tl.store(x + a, 1.0)


@wrong("block", "tl.where")
def block_in_while(x, n):
    a = tl.arange(0, 8)
    while a < n:  # wrong
        a += 1


@wrong("block", "tl.where")
def block_in_conditional_expression(x, n):
    a = tl.arange(0, 8)
    b = 1.0 if a < n else 2.0  # wrong
    tl.store(x, b)


@wrong("run time", "Python condition")
def condition_in_comprehension_iterable(x, n):
    a = [i for i in (1, 2) if not bool.__call__(n > i)]  # wrong
    tl.store(x, a[0])


@wrong("Python int", "run time")
def run_time_index(x, n):
    values = (1.0, 2.0)
    tl.store(x, values[n])  # wrong


@wrong("Python int")
def python_range_of_run_time(x, n):
    values = [i + 1 for i in range(n)]  # wrong
    tl.store(x, values[0])


# -- names


@wrong("`a`", "one branch only", "if` at line")
def bound_in_one_branch(x, n):
    if n > 3:
        a = 1.0
    tl.store(x, a)  # wrong


@wrong("`a`", "one branch only", "does not")
def bound_in_else_only(x, n):
    if n > 3:
        b = 2
    else:
        a = 1.0
        b = 3
    tl.store(x + b, a)  # wrong


@wrong("`a`", "inside the loop")
def bound_in_loop_only(x, n):
    for i in range(n):
        a = i * 2
    tl.store(x, a)  # wrong


@wrong("`a`", "i32", "f32", "line")
def type_changed_by_loop(x, n):
    a = 0
    for i in range(n):  # wrong
        a = a + 0.5
    tl.store(x, a)


@wrong("`a`", "None")
def none_changed_by_loop(x, n):
    a = None
    for i in range(n):  # wrong
        a = i
    tl.store(x, a)


@wrong("`a`", "vector<8 x f32>", "f32")
def shape_changed_by_loop(x, n):
    a = 0.0
    for i in range(n):  # wrong
        a = a + tl.zeros((8,), tl.float32)
    tl.store(x + tl.arange(0, 8), a)


@wrong("`a`", "changed by the loop")
def list_grown_by_loop(x, n):
    a = [0.0]
    for i in range(n):
        a.append(1.0)  # wrong
    tl.store(x, a[0])


@wrong("`a`", "i64", "i32")
def type_changed_by_while(x, n):
    a = 0
    while a < n:  # wrong
        a = a + tl.full((), 1, tl.int64)
    tl.store(x, a)


@wrong("`a`", "i32", "f32", "line")
def types_of_branches(x, n):
    if n > 3:  # wrong
        a = 1
    else:
        a = 1.5
    tl.store(x, a)


@wrong("`a`", "two", "one")
def strings_of_branches(x, n):
    if n > 3:  # wrong
        a = "one"
    else:
        a = "two"
    tl.store(x, len(a))


@wrong("two types", "f32", "i32")
def types_of_conditional_expression(x, n):
    tl.store(x, 1 if n > 3 else 1.5)  # wrong


@wrong("undefined_name", "is not defined")
def unknown_name(x, n):
    tl.store(x, undefined_name)  # wrong  # noqa: F821


@wrong("tl has no `no_such`")
def unknown_function(x, n):
    tl.store(x, tl.no_such(n))  # wrong


# -- functions


@triton.jit
def returns_two_types(n):
    if n > 3:  # wrong
        return 1
    return 1.5


@triton.jit
def returns_sometimes(n):  # wrong
    if n > 3:
        return 1


@triton.jit
def recursive(n):
    return recursive(n - 1)  # wrong


@triton.jit
def takes_constexpr(n, C: tl.constexpr):
    return n + C


@wrong("returned value", "i32", "f32")
def calls_two_types(x, n):
    tl.store(x, returns_two_types(n))


@wrong("some paths", "returns_sometimes")
def calls_sometimes(x, n):
    tl.store(x, returns_sometimes(n))


@wrong("recursive", "calls itself")
def calls_recursive(x, n):
    tl.store(x, recursive(n))


@wrong("takes_constexpr", "argument")
def too_few_arguments(x, n):
    tl.store(x, takes_constexpr(1))  # wrong


@wrong("takes_constexpr", "unexpected")
def unknown_keyword(x, n):
    tl.store(x, takes_constexpr(1, C=2, D=3))  # wrong


@wrong("shape", "argument")
def wrong_arguments_of_language(x, n):
    tl.store(x, tl.zeros())  # wrong


@wrong("returns nothing")
def kernel_returns(x, n):
    return n + 1


# -- loops


@wrong("range()", "f32")
def range_of_float(x, n):
    for i in range(1.5):  # wrong
        tl.store(x + i, 1.0)


@wrong("step")
def step_of_zero(x, n):
    for i in range(0, n, 0):  # wrong
        tl.store(x + i, 1.0)


@wrong("static_range")
def static_range_of_run_time(x, n):
    for i in tl.static_range(n):  # wrong
        tl.store(x + i, 1.0)


@wrong("cannot be unpacked or iterated")
def loop_over_tensor(x, n):
    for i in tl.arange(0, 8):  # wrong
        tl.store(x + i, 1.0)


# -- Python that a kernel cannot have


@wrong("`try`", "if")
def has_try(x, n):
    try:  # wrong
        tl.store(x, 1.0)
    except ValueError:
        tl.store(x, 2.0)


@wrong("`with`")
def has_with(x, n):
    with open("file"):  # wrong
        tl.store(x, 1.0)


@wrong("`yield`")
def has_yield(x, n):
    yield n  # wrong


@wrong("`global`")
def has_global(x, n):
    global LIMIT  # wrong
    LIMIT = n


@wrong("`del`")
def has_del(x, n):
    a = 1
    del a  # wrong


@wrong("`class`")
def has_class(x, n):
    class A:  # wrong
        pass


@wrong("`import`", "top of the file")
def has_import(x, n):
    import math  # wrong

    tl.store(x, math.pi)


@wrong("`import`")
def has_import_from(x, n):
    from math import pi  # wrong

    tl.store(x, pi)


@wrong("`nonlocal`")
def has_nonlocal(x, n):
    a = 1

    def inner():
        nonlocal a  # wrong
        a = 2

    inner()


@wrong("`match`")
def has_match(x, n):
    match n:  # wrong
        case 1:
            tl.store(x, 1.0)


@wrong("`async def`")
def has_async(x, n):
    async def inner():  # wrong
        pass


@wrong("ValueError", "not for this size")
def raises(x, n):
    raise ValueError("not for this size")  # wrong


@wrong("static_assert", "BLOCK must be 8", args=(X, 3))
def static_assert_fails(x, n):
    tl.static_assert(LIMIT == 4, "BLOCK must be 8")  # wrong


@wrong("ZeroDivisionError")
def divides_by_zero(x, n):
    tl.store(x, 1 // (LIMIT - 3))  # wrong


def marked(fn: Any) -> int | None:
    """The file line of the `# wrong` of a function, or None."""
    lines, start = inspect.getsourcelines(fn)
    for number, line in enumerate(lines):
        if "# wrong" in line:
            return start + number
    return None


HELPERS = {
    "calls_two_types": returns_two_types,
    "calls_sometimes": returns_sometimes,
    "calls_recursive": recursive,
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kernel.__name__)
def test_refused_at_its_line(row: Wrong) -> None:
    with pytest.raises(CompileError) as caught:
        row.kernel[(1,)](*row.args, **row.kwargs)
    text = str(caught.value)
    for word in row.words:
        assert word in text, text
    line = marked(HELPERS.get(row.kernel.__name__, row.kernel).fn)
    if line is None:
        return
    frames = traceback.extract_tb(caught.value.__traceback__)
    user = [frame for frame in frames if not frame.filename.startswith(PACKAGE)]
    assert user[-1].filename == __file__
    if row.kernel.__name__ != "calls_sometimes":
        assert user[-1].lineno == line, text
        assert caught.value.where[0].line == line, text


def test_enough_rows() -> None:
    assert len(ROWS) >= 50
