"""Random programs of ifs, loops and jumps do what Python does.

A program is Python text over small ints, some of them known when the kernel is compiled, so that
known and run-time conditions mix in every way.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl

NAMES = ("a", "b", "c", "d")
STEPS = 3
count = itertools.count()


@st.composite
def conditions(draw: Any) -> str:
    left = draw(st.sampled_from([*NAMES, "n", "K", "i"]))
    right = draw(st.sampled_from([*NAMES, "n", "K", "2", "3", "5"]))
    plain = f"{left} {draw(st.sampled_from(['<', '>', '==', '!=']))} {right}"
    kind = draw(st.integers(0, 7))
    if kind == 0:
        return f"not ({plain})"
    if kind in (1, 2):
        return f"{plain} {'and' if kind == 1 else 'or'} {draw(conditions())}"
    return f"1 < {left} < 6" if kind == 3 else plain


@st.composite
def blocks(draw: Any, depth: int, loop: bool) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statements(depth, loop))
    return lines


@st.composite
def statements(draw: Any, depth: int, loop: bool) -> list[str]:
    kinds = ["assign", "assign", "swap"]
    kinds += ["break", "continue", "return"] if loop else ["return"]
    if depth:
        kinds += ["if", "if", "if", "for", "static", "while"]
    kind = draw(st.sampled_from(kinds))
    name, other = draw(st.sampled_from(NAMES)), draw(st.sampled_from([*NAMES, "n", "K", "1"]))
    if kind == "assign":
        return [f"{name} = ({other} * {draw(st.integers(0, 3))} + {name} + 1) & 15"]
    if kind == "swap":
        return [f"a, {name} = {name}, a"]
    if kind == "return":
        return [f"return {name}"]
    if kind in ("break", "continue"):
        return [kind]
    body = draw(blocks(depth - 1, loop or kind != "if"))
    if kind == "if":
        head = [f"if {draw(conditions())}:", *indent(body)]
        if draw(st.booleans()):
            head += [f"elif {draw(conditions())}:", *indent(draw(blocks(depth - 1, loop)))]
        if draw(st.booleans()):
            head += ["else:", *indent(draw(blocks(depth - 1, loop)))]
        return head
    orelse = ["else:", *indent(draw(blocks(depth - 1, loop)))] if draw(st.booleans()) else []
    if kind == "for":
        head = draw(st.sampled_from(["range(n)", "range(5, K, -2)", "range(a & 3)", "range(1, 4)"]))
        return [f"for i in {head}:", *indent(body), *orelse]
    if kind == "static":
        return ["for i in (1, 2, 3):", *indent(body), *orelse]
    fuel = f"f{draw(st.integers(0, 10**6))}"
    start = draw(st.sampled_from(["0", "n"]))
    head = draw(
        st.sampled_from([f"while {fuel} < 4:", f"while {fuel} < 4 and {draw(conditions())}:"])
    )
    return [f"{fuel} = {start}", head, *indent([f"{fuel} += 1", *body]), *orelse]


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def function_of(lines: list[str]) -> Callable[..., int]:
    """The Python function of a program, with a source that `inspect` finds."""
    start = [
        "def program(n, K: tl.constexpr):",
        "    a = n",
        "    b = 1",
        "    c = K",
        "    d = n + 1",
    ]
    text = "\n".join(
        [*start, "    i = 0", *indent(lines), "    return a + 16 * b + 256 * c + 4096 * d"]
    )
    name = f"<program {next(count)}>"
    linecache.cache[name] = (len(text), None, [line + "\n" for line in text.splitlines()], name)
    space: dict[str, Any] = {"tl": tl}
    exec(compile(text, name, "exec"), space)
    return space["program"]  # type: ignore[no-any-return]


@triton.jit
def store_result(out, n, FUNCTION: tl.constexpr, K: tl.constexpr):
    tl.store(out, FUNCTION(n, K))


def check(lines: list[str], targets: tuple[str, ...]) -> None:
    function = function_of(lines)
    jitted = triton.jit(function)
    for n, known, target in itertools.product(range(4), (0, 3), targets):
        out = np.full(1, -77, np.int32)
        store_result[(1,)](out, n, FUNCTION=jitted, K=known, target=target)
        assert int(out[0]) == int(function(n, known)), (n, known, target, "\n".join(lines))


@given(blocks(depth=STEPS, loop=False))
def test_as_in_python(lines: list[str]) -> None:
    check(lines, ("interpret",))


@pytest.mark.fuzz
@given(blocks(depth=4, loop=False))
def test_as_in_python_on_more_targets(lines: list[str]) -> None:
    check(lines, ("interpret", "eager", "cpu"))
