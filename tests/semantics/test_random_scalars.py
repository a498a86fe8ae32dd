"""Random statements on weak and typed scalars, under branches, loops and helpers, everywhere."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.support.backends import run_everywhere

from . import random_numbers as rn
from .reference import Interpreter
from .traced_types import load

HELPERS = """
@triton.jit
def blend(x, y):
    z = x
    z += 1
    return z * y

@triton.jit
def pick(x, y, n):
    if n > 4:
        return x
    return y

@triton.jit
def both(x):
    return x, 0.5, 3
"""
NAMES = "abcde"
CASTS = ["int32", "int64", "uint32", "float32", "float64", "float16", "int16"]
LITERALS = ["1", "2", "3", "7", "0.5", "2.0", "1.5", "100", "5000000000", "(-3)"]


class Statements:
    """Draws the body of a kernel on the scalars a … e."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.counters: list[str] = []

    def expression(self, depth: int) -> str:
        random = self.random
        if depth == 0 or random.random() < 0.25:
            leaves = [*NAMES, *self.counters, "n", "f", "m", "C", random.choice(LITERALS)]
            return random.choice(leaves)
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        form = random.randrange(10)
        if form < 5:
            return f"({a} {random.choice(['+', '-', '*', '*', '&', '<', '=='])} {b})"
        if form == 5:
            return f"({a} {random.choice(['/', '//', '%'])} {random.choice(LITERALS[:8])})"
        if form == 6:
            return f"({a} if {self.condition()} else {b})"
        if form == 7:
            return f"tl.{random.choice(['minimum', 'maximum'])}({a}, {b})"
        if form == 8:
            return f"blend({a}, {b})"
        return f"({a} + {random.choice(NAMES)}).to(tl.{random.choice(CASTS)})"

    def condition(self) -> str:
        return self.random.choice(["n > 3", "n > 8", "m > 5", "C > 3", "C > 9", "f > 2.0"])

    def block(self, depth: int, indent: str, kept: bool) -> list[str]:
        """Statements; kept: under a run-time condition, where a name keeps its type."""
        return [
            line
            for _ in range(self.random.randint(1, 3))
            for line in self.statement(depth, indent, kept)
        ]

    def statement(self, depth: int, indent: str, kept: bool) -> list[str]:
        random, form = self.random, self.random.randrange(10)
        name = random.choice(NAMES)
        if form < 4 or depth == 0:
            text = self.expression(2)
            if kept and random.random() < 0.7:
                return [f"{indent}{name} {random.choice(['+', '-', '*'])}= {random.choice('12')}"]
            return [f"{indent}{name} = {text}"]
        if form == 4:
            other = random.choice(NAMES)
            return [f"{indent}{name}, {other} = {other}, {name}" if kept is False and name != other
                    else f"{indent}{name} = pick({name}, {name}, n)"]  # fmt: skip
        if form == 5 and not kept:
            x, y = random.sample(NAMES, 2)
            return [f"{indent}{x}, {y}, {name}x = both({self.expression(1)})"]
        if form < 8:
            condition = self.condition()
            inner = kept or not condition.startswith("C")
            lines = [f"{indent}if {condition}:", *self.block(depth - 1, indent + "    ", inner)]
            if random.random() < 0.6:
                lines += [f"{indent}else:", *self.block(depth - 1, indent + "    ", inner)]
            return lines
        counter = f"i{len(self.counters)}"
        self.counters.append(counter)
        runtime = random.random() < 0.6
        header = "range(k)" if runtime else "tl.static_range(2)"
        body = self.block(depth - 1, indent + "    ", kept or runtime)
        self.counters.pop()
        return [f"{indent}for {counter} in {header}:", *body]


SIGNATURE = "ints, reals, n, f, m: tl.int64, k, C: tl.constexpr"
START = ["a = 1", "b = 0.5", "c = n", "d = f * 2.0", "e = m"]


def arguments(random: Random) -> tuple[int, float, int, int]:
    return (
        random.randint(2, 10),
        random.choice([1.5, 2.5]),
        random.randint(1, 9),
        random.randint(0, 3),
    )


def draw(random: Random) -> tuple[list[str], dict[str, Any], tuple[int, float, int, int]]:
    """A body that has a meaning, the values of its names after it, and the arguments."""
    while True:
        given = arguments(random)
        maker = Statements(random)
        body = [*START, *(line for _ in range(4) for line in maker.statement(2, "", False))]
        tree = ast.parse("\n".join(body))
        helpers = {f.name: f for f in ast.parse(HELPERS).body if isinstance(f, ast.FunctionDef)}
        n, f, m, k = given
        names: dict[str, Any] = {
            "n": rn.Typed("int32", (n,)),
            "f": rn.Typed("float32", (f,)),
            "m": rn.Typed("int64", (m,)),
            "k": rn.Typed("int32", (k,)),
            "C": rn.Weak(7),
        }
        interpreter = Interpreter(names, helpers)
        try:
            interpreter.block(tree.body)
        except rn.Refused:
            continue
        return body, interpreter.names, given


def run(seed: int, path: Path, skip: tuple[str, ...] = ()) -> None:
    random = Random(seed)
    body, names, given = draw(random)
    lines = list(body)
    wanted: dict[str, list[Any]] = {"ints": [], "reals": []}
    for name in NAMES:
        value = names[name]
        out, wide = ("reals", "float64") if value.dtype in rn.FLOATS else ("ints", "int64")
        lines.append(f"tl.static_assert({name}.dtype == tl.{value.dtype})")
        lines.append(f"tl.store({out} + {len(wanted[out])}, {name}.to(tl.{wide}))")
        number = value.values[0]
        wanted[out].append(rn.rounded("int64", number) if out == "ints" else number)
    text = HELPERS + f"\n@triton.jit\ndef kernel({SIGNATURE}):\n"
    text += "".join(f"    {line}\n" for line in lines)
    kernel = load(path / f"scalars_{seed}.py", text)
    ints = np.array(wanted["ints"] + [0], np.int64)
    reals = np.array(wanted["reals"] + [0], np.float64)
    n, f, m, k = given
    with np.errstate(all="ignore"):
        run_everywhere(
            kernel, (1,), np.zeros_like(ints), np.zeros_like(reals), n, f, m, k, C=7,
            expected={"ints": ints, "reals": reals}, skip=skip,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_random_statements_on_scalars(seed: int, tmp_path: Path) -> None:
    run(seed, tmp_path)


@pytest.mark.parametrize("seed", range(100, 140))
def test_more_random_statements_on_scalars(seed: int, tmp_path: Path) -> None:
    run(seed, tmp_path, skip=("cudasim",))


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_many_random_statements_on_scalars(seed: int, tmp_path: Path) -> None:
    run(seed, tmp_path)
