"""Random programs that change lists, dicts and objects, under any names, in random ifs and loops.

A program is Python text. It is run as Python on ints, and as a kernel whose ints come at run time:
the result is equal, or the kernel is refused at one of the program's lines; it is never another
number.
"""

from __future__ import annotations

import itertools
import linecache
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError

INTS = ["a[0]", "a[-1]", "b[0]", "s.acc", "r.acc", "s.items[0]", "d['k']", "d['l'][1]", "p[0][1]"]
LISTS = ["a", "b", "s.items", "r.items", "d['l']", "p[0]", "p[1]"]
START = """
def program(n, K: tl.constexpr):
    a = [n, 1]
    b = [2, n + 1]
    s = State(n, a)
    r = State(K, [5, 6])
    d = {"k": 1, "l": b}
    p = [a, [7, n]]
    i = 0
    t = (1, 2)
"""
END = """
    total = 0
    for items in (a, b, s.items, r.items, d["l"], p[0], p[1]):
        for item in items:
            total = (total * 3 + item) & 0xFFFFF
    return total + s.acc * 7 + r.acc * 5 + d["k"] + t[1]
"""


class State:
    def __init__(self, acc: Any, items: Any) -> None:
        self.acc, self.items = acc, items

    def bump(self, by: Any) -> None:
        self.items[0] = (self.items[0] + by) & 31


def bump(items, by):
    items[-1] = (items[-1] + by) & 31


@triton.jit
def mix(items, state, by):
    for j in range(by & 3):
        items[0] = (items[0] + j) & 31
        if items[0] > by:
            state.acc = state.acc + 1
    if by > 2:
        items[-1] = by
        return items[0]
    kept = items
    kept[0] = state.acc & 31
    return kept[-1]


@triton.jit
def pick(first, second, by):
    if by > 2:
        return first
    return second


class Writer:
    """Writes one random program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.fuel = itertools.count()

    def pick(self, choices: Any) -> Any:
        return self.random.choice(choices)

    def number(self) -> str:
        kind = self.random.random()
        if kind < 0.25:
            return str(self.random.randrange(4))
        if kind < 0.4:
            return self.pick(["n", "K", "i"])
        return self.pick(INTS)

    def condition(self) -> str:
        left = self.pick(["n", "n", "K", "i", *INTS])
        return f"{left} {self.pick(['<', '>', '==', '!='])} {self.number()}"

    def block(self, depth: int) -> Iterator[str]:
        for _ in range(self.random.randrange(1, 4)):
            yield from self.statement(depth)

    def statement(self, depth: int) -> Iterator[str]:
        kinds = [self.store, self.store, self.add, self.alias, self.rebind, self.call, self.choose]
        kinds += [self.inlined, self.tuples]
        kinds += [self.grow] if self.random.random() < 0.3 else []
        kinds += [self.swap, self.new] if self.random.random() < 0.5 else []
        if depth and self.random.random() < 0.6:
            yield from self.pick([self.if_, self.if_, self.for_, self.static, self.while_])(depth)
        else:
            yield self.pick(kinds)()

    def store(self) -> str:
        return f"{self.pick(INTS)} = ({self.number()} * 3 + {self.number()}) & 31"

    def add(self) -> str:
        return f"{self.pick(INTS)} += {self.number()} & 7"

    def alias(self) -> str:
        return f"{self.pick(LISTS)} = {self.pick(LISTS)}"

    def rebind(self) -> str:
        return f"{self.pick(LISTS)} = [{self.number()}, {self.number()}]"

    def call(self) -> str:
        return self.pick(
            [
                f"bump({self.pick(LISTS)}, {self.number()})",
                f"{self.pick('sr')}.bump({self.number()})",
            ]
        )

    def inlined(self) -> str:
        items, number = self.pick(LISTS), self.number()
        mixed = f"{self.pick(INTS)} = mix({items}, {self.pick('sr')}, {number}) & 31"
        picked = f"{self.pick(LISTS)} = pick({items}, {self.pick(LISTS)}, {number})"
        return picked if self.random.random() < 0.2 else mixed

    def tuples(self) -> str:
        ints = f"({self.pick(INTS)}, {self.pick(INTS)})"
        return self.pick(
            [f"{ints[1:-1]} = {self.number()} & 7, {self.number()} & 7", f"t = {ints}"]
        )

    def jump(self) -> str:
        return self.pick(["break", "continue", f"return {self.number()}"])

    def choose(self) -> str:
        value = f"{self.number()} if {self.condition()} else {self.number()}"
        return f"{self.pick(INTS)} = {value}"

    def grow(self) -> str:
        return self.pick(
            [f"{self.pick(LISTS)}.append({self.number()})", f"{self.pick(LISTS)}.pop()"]
        )

    def swap(self) -> str:
        return self.pick(["s, r = r, s", "a, b = b, a", "p[0], p[1] = p[1], p[0]", "p = [b, a]"])

    def new(self) -> str:
        return f"{self.pick('sr')} = State({self.number()}, {self.pick(LISTS)})"

    def if_(self, depth: int) -> Iterator[str]:
        yield f"if {self.condition()}:"
        yield from indent(self.block(depth - 1))
        if self.random.random() < 0.5:
            yield "else:"
            yield from indent(self.block(depth - 1))

    def body(self, depth: int) -> Iterator[str]:
        """A loop's body, which may jump."""
        yield from self.block(depth)
        if self.random.random() < 0.3:
            yield f"if {self.condition()}:"
            yield from indent([*self.block(0), self.jump()])
            yield from self.block(depth)

    def for_(self, depth: int) -> Iterator[str]:
        yield f"for i in {self.pick(['range(n)', 'range(1, K)', 'range(n, 4)'])}:"
        yield from indent(self.body(depth - 1))

    def static(self, depth: int) -> Iterator[str]:
        yield "for i in (1, 2):"
        yield from indent(self.body(depth - 1))

    def while_(self, depth: int) -> Iterator[str]:
        fuel = f"f{next(self.fuel)}"
        yield f"{fuel} = {self.pick(['0', 'n'])}"
        yield f"while {fuel} < 3:"
        yield from indent([f"{fuel} += 1", *self.body(depth - 1)])


def indent(lines: Any) -> Iterator[str]:
    return ("    " + line for line in lines)


def function_of(text: str, name: str, mix: Any, pick: Any) -> Callable[..., int]:
    """The Python function of a program, with a source that `inspect` finds."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"tl": tl, "State": State, "bump": bump, "mix": mix, "pick": pick}
    exec(compile(text, name, "exec"), space)
    return space["program"]  # type: ignore[no-any-return]


@triton.jit
def store_result(out, n, FUNCTION: tl.constexpr, K: tl.constexpr):
    tl.store(out, FUNCTION(n, K))


def check(seed: int, targets: tuple[str, ...]) -> int:
    """How many launches of the program of that seed were not refused."""
    lines = list(Writer(seed).block(3))
    text, name = START + "\n".join(indent(lines)) + END, f"<objects {seed}>"
    function = function_of(text, name, mix.fn, pick.fn)
    kernel, accepted = triton.jit(function_of(text, name, mix, pick)), 0
    for n, known in ((0, 0), (1, 3), (3, 0), (3, 3)):
        try:
            wanted = function(n, known)
        except IndexError:  # of an empty list
            continue
        for target in targets:
            out = np.full(1, -77, np.int32)
            try:
                store_result[(1,)](out, n, FUNCTION=kernel, K=known, target=target)
            except CompileError as error:
                assert any(place.file in (name, __file__) for place in error.where), text
                continue
            accepted += 1
            assert int(out[0]) == np.int32(wanted), (n, known, target, text)
    return accepted


@given(st.integers(0, 10**6))
def test_as_in_python_or_refused(seed: int) -> None:
    check(seed, ("interpret",))


def test_many_are_accepted() -> None:
    assert sum(check(seed, ("interpret", "cpu")) > 0 for seed in range(40)) > 8


@pytest.mark.fuzz
@given(st.integers(0, 10**9))
def test_as_in_python_or_refused_on_more_targets(seed: int) -> None:
    check(seed, ("interpret", "cpu"))


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(30))
def test_as_in_python_or_refused_under_cudasim(seed: int) -> None:
    check(10**6 + seed, ("cudasim",))
