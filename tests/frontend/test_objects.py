"""Python objects that a kernel changes inside regions: carried, or refused at the line.

Each kernel is run as plain Python on numbers, and as a kernel whose condition and extent come at
run time. The results must be equal.
"""

from __future__ import annotations

import inspect
import itertools
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError


class State:
    def __init__(self, acc: Any) -> None:
        self.acc = acc

    def add(self, value: Any) -> State:
        self.acc = self.acc + value
        return self


class Slots:
    __slots__ = ("acc", "other")

    def __init__(self, acc: Any) -> None:
        self.acc = acc


@dataclass
class Pair:
    a: Any
    b: Any


@dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any


class Named(NamedTuple):
    a: Any
    b: Any


class Listed(list[Any]):
    """A list with attributes."""


def attribute_in_loop(x, n):
    s = State(x)
    for _ in range(n):
        s.acc = s.acc + 1
    return s.acc


def method_in_loop(x, n):
    s = State(x)
    for i in range(n):
        s.add(i).add(1)
    return s.acc


def attribute_in_branch(x, n):
    s = State(x)
    if n > 2:
        s.acc = s.acc * 2
    return s.acc


def slots(x, n):
    s = Slots(x)
    for i in range(n):
        if i != 1:
            s.acc = s.acc + i
    return s.acc


def aliased_list(x, n):
    a = [x]
    b = a
    for _ in range(n):
        b[0] += 1
    return a[0]


def alias_through_containers(x, n):
    a = [x, 0]
    holder = ({"list": a}, a)
    for i in range(n):
        holder[0]["list"][1] += i
        holder[1][0] += a[1]
    return a[0] * 100 + a[1]


def alias_made_in_both_branches(x, n):
    if n > 2:
        a = [x, 1]
        b = a
    else:
        a = [x + 1, 2]
        b = a
    b[0] += 10
    return a[0] + b[1]


def rebound_in_branch(x, n):
    a = [x, 1]
    if n > 2:
        a = [x + 1, 2]
    a[1] += 5
    return a[0] * 10 + a[1]


def swapped_in_loop(x, n):
    a, b = [x], [1]
    for _ in range(n):
        a, b = b, a
        a[0] += 1
    return a[0] * 100 + b[0]


def rebound_in_loop(x, n):
    a = [x, 0]
    for i in range(n):
        a = [a[0] + i, a[1] + 1]
        a[0] += 1
    a[1] += 7
    return a[0] * 100 + a[1]


def nested(x, n):
    a = [[x, 1], [2, [3]]]
    for i in range(n):
        a[1][1][0] += a[0][0]
        if i > 0:
            a[0] = [a[0][1], a[0][0] + 1]
    return a[0][0] + 10 * a[0][1] + 100 * a[1][1][0]


def dict_in_loop(x, n):
    d = {"x": x, 3: 0}
    for i in range(n):
        d[3] = d[3] + d["x"]
        d["x"] = i
    return d[3] * 10 + d["x"]


def ordered_dict(x, n):
    d = OrderedDict(x=x, y=1)
    if n > 1:
        d["y"] = d["x"]
        d.move_to_end("x")
        d.move_to_end("y")
    return list(d.values())[1] + len(d)


def deque_of_two(x, n):
    a = deque([x, 0], maxlen=2)
    for _ in range(n):
        a.append(a[0] + a[1])
    return a[0] * 100 + a[1]


def grown_alike(x, n):
    a = []
    if n > 2:
        a.append(x)
    else:
        a.append(x + 1)
    return a[0] * len(a)


def dataclass_in_loop(x, n):
    p = Pair(x, [0])
    for i in range(n):
        p.b[0] += i
        if i > 1:
            p.a, p.b = p.b[0], [p.a]
    return p.a * 100 + p.b[0]


def frozen_in_loop(x, n):
    p = Frozen(x, 0)
    for i in range(n):
        p = Frozen(p.b + i, p.a)
    return p.a * 100 + p.b


def named_tuple_in_loop(x, n):
    p = Named([x], 0)
    for i in range(n):
        p.a[0] += i
        p = p._replace(b=p.b + p.a[0])
    return p.a[0] * 100 + p.b


def list_with_attributes(x, n):
    a = Listed([x, 1])
    a.sum = 0
    for i in range(n):
        a.sum = a.sum + a[0]
        a[1] += i
    return a.sum * 100 + a[1]


def while_loop(x, n):
    s = State([x, 0])
    same = (s,)
    while s.acc[1] < n:
        same[0].acc[1] += 1
        s.acc[0] = s.acc[0] + s.acc[1]
    return s.acc[0] * 100 + s.acc[1]


def while_with_break(x, n):
    a = [x, 0]
    while True:
        a[1] += 1
        if a[1] > n:
            break
        a[0] += a[1]
    return a[0] * 100 + a[1]


def while_that_binds(x, n):
    a = [x]
    while (left := n - a[0]) > 0:
        a[0] += left // 2 + 1
    return a[0]


def returned_early(x, n):
    a = [x, 1]
    if n > 2:
        a.append(5)
        return a[2] + a[0]
    a[1] += n
    return a[0] * 10 + a[1]


def returned_in_loop(x, n):
    a = [x]
    for i in range(n):
        a[0] += i
        if a[0] > 4:
            return a[0] * 100
    return a[0]


def bump(a, by):
    a[0] += by


def helper_frame(x, n):
    a = [x]
    for i in range(n):
        bump(a, i)
    return a[0]


def closure(x, n):
    a = [x]

    def add(by):
        a[0] += by

    for i in range(n):
        add(i)
        if i > 1:
            add(10)
    return a[0]


def cyclic(x, n):
    a = [x, None]
    a[1] = a
    for i in range(n):
        a[1][1][0] += i
    return a[0]


def conditional_expression(x, n):
    a = [x, 1]
    value = bump(a, 5) if n > 2 else bump(a, 7)
    return a[0] * 10 + (1 if value is None else 0)


RIGHT = [
    attribute_in_loop,
    method_in_loop,
    attribute_in_branch,
    slots,
    aliased_list,
    alias_through_containers,
    alias_made_in_both_branches,
    rebound_in_branch,
    swapped_in_loop,
    rebound_in_loop,
    nested,
    dict_in_loop,
    ordered_dict,
    deque_of_two,
    grown_alike,
    dataclass_in_loop,
    frozen_in_loop,
    named_tuple_in_loop,
    list_with_attributes,
    while_loop,
    while_with_break,
    while_that_binds,
    returned_early,
    returned_in_loop,
    helper_frame,
    closure,
    cyclic,
    conditional_expression,
]


@triton.jit
def store_result(out, x, n, FUNCTION: tl.constexpr):
    tl.store(out, FUNCTION(x, n))


@pytest.mark.parametrize("target", ["interpret", "cpu"])
@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_as_in_python(function: Callable[..., int], target: str) -> None:
    jitted = triton.jit(function)
    for x, n in itertools.product((0, 3), range(5)):
        out = np.full(1, -77, np.int32)
        store_result[(1,)](out, x, n, FUNCTION=jitted, target=target)
        assert int(out[0]) == function(x, n), (x, n)


@pytest.mark.parametrize("function", [alias_through_containers, nested, while_loop])
def test_as_in_python_under_cudasim(function: Callable[..., int]) -> None:
    out = np.full(1, -77, np.int32)
    store_result[(1,)](out, 3, 4, FUNCTION=triton.jit(function), target="cudasim")
    assert int(out[0]) == function(3, 4)


# -- refused, at the line that is marked


def appended(x, n):
    a = []
    for i in range(n):
        a.append(i)  # refused: `a` (list)
    return len(a)


@triton.jit
def push(a, value):
    a.append(value)  # refused: `a` (list)


def appended_by_a_helper(x, n):
    a = []
    for i in range(n):
        push(a, i)
    return len(a)


def appended_in_a_branch(x, n):
    a = [1]
    if n > 2:
        a[0] += 1
        a.append(2)  # refused: `a` (list)
    return len(a)


def key_added(x, n):
    s = State({})
    if n > 2:
        s.acc["new"] = 1  # refused: `s.acc` (dict)
    return len(s.acc)


def attribute_added(x, n):
    s = State(x)
    for i in range(n):
        s.acc += 1
        s.other = i  # refused: `s` (State)
    return x


def element_added(x, n):
    s = {1}
    if n > 2:
        s.add(2)  # refused: `s` (set)
    return len(s)


def byte_changed(x, n):
    b = bytearray(b"ab")
    for _ in range(n):
        b[0] += 1  # refused: `b` (bytearray)
    return b[0]


def other_type(x, n):
    a = [x]
    for _ in range(n):
        a[0] = a[0] * 1.5  # refused: `a[0]` is changed by the loop to another type
    return a[0]


def text_changed(x, n):
    s = State("a")
    if n > 2:
        s.acc = "b"  # refused: `s.acc` differs after the `if`
    return len(s.acc)


def iterator_advanced(x, n):
    a = iter([1, 2, 3])
    total = 0
    for _ in range(n):
        total += next(a)  # refused: the iterator `a` is advanced
    return total


def generator_advanced(x, n):
    a = (k for k in [1, 1, 1, 1])
    if n > 2:
        next(a)  # refused: the iterator `a` is advanced
    return next(a)


def counter_advanced(x, n):
    a = itertools.count()
    if n > 2:
        next(a)  # refused: the iterator `a` is advanced
    return next(a)


def pair_of(value):
    count = [value]

    def more():
        nonlocal count
        count = [*count, 1]  # refused: is changed by the loop to another type
        return len(count)

    return more


PAIR_OF = pair_of


def cell_changed(x, n):
    more = PAIR_OF(x)
    for _ in range(n):
        more()
    return more()


def one_of_two(x, n):
    a = [x]
    b = a
    if n > 2:
        b = [5]
    b[0] = 7  # refused: `b` is changed
    return a[0]


def one_of_three(x, n):
    a = [x, 1]
    b = a
    for k in (1, 2):
        if n > k:
            a = [k, 2]
    a[0] = 9  # refused: `a` is changed
    return b[0]


def one_of_two_in_a_loop(x, n):
    a, b = [x], [1]
    for _ in range(n):
        a[0] += 1  # refused: `a` is changed
        a = b
    return b[0]


def in_the_condition(x, n):
    a = [3, 2, 1]
    i = 0
    while a.pop() + i < n:  # refused: `a` is changed in the condition
        i += 1
    return i


def in_an_operand(x, n):
    a = [3, 2, 1]
    b = n > 2 and a.pop() > 0  # refused: `a` is changed in an operand
    return len(a) + b


def in_a_conditional_expression(x, n):
    a = [3, 2, 1]
    b = a.pop() if n > 2 else 0  # refused: `a` (list) is changed
    return len(a) + b


def bound_in_a_conditional_expression(x, n):
    a = 1
    b = (a := 2) if n > 2 else 0  # refused: `a := …` stands in a conditional expression
    return a + b


REFUSED = [
    appended,
    appended_by_a_helper,
    appended_in_a_branch,
    key_added,
    attribute_added,
    element_added,
    byte_changed,
    other_type,
    text_changed,
    iterator_advanced,
    generator_advanced,
    counter_advanced,
    cell_changed,
    one_of_two,
    one_of_three,
    one_of_two_in_a_loop,
    in_the_condition,
    in_an_operand,
    in_a_conditional_expression,
    bound_in_a_conditional_expression,
]


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refused_at_its_line(function: Callable[..., Any]) -> None:
    with pytest.raises(CompileError) as caught:
        store_result[(1,)](
            np.zeros(1, np.int32), 3, 4, FUNCTION=triton.jit(function), target="interpret"
        )
    line = caught.value.where[0].text
    assert "# refused: " in line
    assert line.partition("# refused: ")[2] in caught.value.message
    assert any(place.function == function.__name__ for place in caught.value.where)
    frames = inspect.getinnerframes(caught.value.__traceback__)  # type: ignore[arg-type]
    last = [frame for frame in frames if frame.filename == __file__][-1]
    assert last.lineno == caught.value.where[0].line


@triton.jit
def prints(out, n):
    k = 0
    total = 0
    for i in range(n):
        tl.static_print("loop")
        if i > 0:
            tl.static_print("branch")
            k = k + 1
        total += k
    while total > 10:
        tl.static_print("while")
        total -= k
    tl.store(out, total)


def test_static_print_of_a_loop_traced_again_is_shown_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = np.zeros(1, np.int32)
    prints[(1,)](out, 4, target="interpret")
    assert capsys.readouterr().out == "loop\nbranch\nwhile\n"
    assert out[0] == 6


@triton.jit
def fails_after_printing(out, n):
    for _ in range(n):
        tl.static_print("seen")
        tl.store(out, missing)  # noqa: F821


def test_static_print_before_an_error_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CompileError, match="missing"):
        fails_after_printing[(1,)](np.zeros(1, np.int32), 4, target="interpret")
    assert capsys.readouterr().out == "seen\n"
