"""Random statements over three arrays that may overlap: loads, stores and atomics in branches and
loops, blocks that are turned, sorted and summed.

The eager driver runs a program line by line, so it knows no schedule; whatever loops the
CPU makes of the same lines must leave the same memory.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from mytriton.errors import KernelError

HEAD = """import mytriton as triton
import mytriton.language as tl


@triton.jit
def kernel(x, y, z, n):
    at = tl.arange(0, 32)
"""
BLOCKS = (
    "({a} + {b})",
    "({a} * {s})",
    "({a} ^ {b})",
    "tl.where({a} > {b}, {a}, {s})",
    "tl.cumsum({a} & 7, 0)",
    "tl.flip({a})",
    "tl.sort({a})",
    "tl.minimum({a}, {b})",
    "tl.ravel(tl.trans(tl.reshape({a}, (4, 8))))",
    "tl.gather({a}, {b} & 31, 0)",
    "tl.ravel(tl.reshape({a}, (4, 8)) + tl.max(tl.reshape({b}, (4, 8)), 1, keep_dims=True))",
    "({a} - tl.sum({b} & 15))",
)
PLACES = ("at", "at + 1", "31 - at", "at * 2", "({a} & 31)", "at + ({s} & 7)")
MASKS = ("", ", mask=at < {s}", ", mask={a} > 2")
MAKE_BLOCK = ("tl.load({p} + {place}{mask})", "{block}", "tl.atomic_max({p} + at, {a})")
MAKE_SCALAR = (
    "tl.load({p} + ({s} & 31))",
    "tl.max({a}, 0) & 63",
    "tl.atomic_add({p} + ({s} & 31), {s})",
)
STORES = (
    "tl.store({p} + at, {a}{mask})",
    "tl.store({p} + 31 - at, {a}{mask})",
    "tl.store({p} + at + ({s} & 7), {a})",
    "tl.store({p} + ({s} & 31), {s})",
)


class Lines:
    """A program being written: its lines, and the names that hold blocks and scalars."""

    def __init__(self, seed: int) -> None:
        self.random, self.lines, self.count = Random(seed), [HEAD], 0
        self.names: dict[str, list[str]] = {"b": ["at"], "s": ["n"]}

    def fill(self, choices: tuple[str, ...]) -> str:
        pick = self.random.choice
        text = pick(choices)
        names = {"a": pick(self.names["b"]), "b": pick(self.names["b"]), "p": pick("xyz")}
        parts = {"block": BLOCKS, "place": PLACES, "mask": MASKS}
        used = {key: self.fill(more) for key, more in parts.items() if f"{{{key}}}" in text}
        return text.format(**names, s=pick(self.names["s"]), **used)

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text + "\n")

    def bind(self, kind: str, depth: int, value: str) -> str:
        self.count += 1
        name = f"{kind}{self.count}"
        self.add(depth, f"{name} = {value}")
        self.names[kind].append(name)
        return name

    def statement(self, depth: int) -> None:
        chance = self.random.random()
        if depth < 3 and chance < 0.2:
            return self.nested(depth)
        if chance < 0.4:
            return self.add(depth, self.fill(STORES))
        kind, choices = ("s", MAKE_SCALAR) if chance < 0.5 else ("b", MAKE_BLOCK)
        self.bind(kind, depth, self.fill(choices))

    def nested(self, depth: int) -> None:
        """A branch or a loop that changes one block."""
        name = self.bind("b", depth, self.fill(("{a} + 0",)))
        before = {kind: list(names) for kind, names in self.names.items()}
        self.add(depth, self.fill(("if {s} > {s}:", "if n > {s}:", "for _ in range({s} & 3):")))
        for _ in range(self.random.randint(1, 4)):
            self.statement(depth + 1)
        self.add(depth + 1, f"{name} = {self.fill(BLOCKS)}")
        self.names = before

    def text(self) -> str:
        for _ in range(self.random.randint(4, 14)):
            self.statement(1)
        self.add(1, self.fill(("tl.store(x + at, {a})",)))
        self.add(1, self.fill(("tl.store(z + at, {block})",)))
        return "".join(self.lines)


def left(kernel: Any, memory: Any, target: str, overlap: bool) -> Any:
    """What a run leaves in memory, or that it failed."""
    mine = memory.copy()
    parts = (mine[:120], mine[5:150], mine[20:200]) if overlap else np.split(mine[:300], 3)
    try:
        kernel[(1,)](*parts, 13, target=target)
    except KernelError:
        return None
    return mine


@pytest.mark.parametrize("seed", range(60))
def test_random_statements_leave_the_same_memory(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"statements_{seed}.py"
    path.write_text(Lines(seed).text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    memory = np.random.default_rng(seed).integers(0, 30, 400).astype(np.int32)
    for overlap in (False, True):
        want = left(module.kernel, memory, "eager", overlap)
        if want is None:
            continue  # out of an array's bounds
        for target in ("interpret", "cpu"):
            got = left(module.kernel, memory, target, overlap)
            np.testing.assert_array_equal(got, want, f"{target}\n{path.read_text()}")
