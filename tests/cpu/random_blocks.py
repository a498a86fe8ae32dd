"""Random programs over blocks of two axes, vectors along each, and scalars.

Loads and stores at many kinds of places in three arrays, reductions, scans, sorts, transposes,
branches and loops. The eager driver runs a program line by line and knows no schedule, so it says
what must be left in memory.

    python -m tests.cpu.random_blocks FIRST COUNT [MACHINE]
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mytriton.targets.cpu.host import made_for

from .machines import MACHINES

HEAD = """import mytriton as triton
import mytriton.language as tl


@triton.jit
def kernel(x, y, z, n, m):
    r = tl.arange(0, {R})[:, None]
    c = tl.arange(0, {C})[None, :]
    at = r * {C} + c
    i = tl.arange(0, {R})
    j = tl.arange(0, {C})
"""
MASKS = (
    "", ", mask=c < {s}", ", mask=(r < n) & (c < {s})", ", mask={b} > 2", ", mask=at < m * 3",
    ", mask=r * {C} + c < n * 2",
)  # fmt: skip
BLOCKS = (
    "({a} + {b}) & 1023", "({a} * 3) ^ {s}", "tl.where({a} > {b}, {a}, {s})",
    "({a} + {v}[:, None]) & 1023", "({a} - {w}[None, :]) & 1023", "tl.trans(tl.trans({a} + 1))",
    "tl.reshape(tl.trans({a}), ({R}, {C}))", "tl.cumsum({a} & 7, 1)", "tl.cumsum({a} & 7, 0)",
    "tl.sort({a} & 255)", "({a} - tl.max({b}, 1, keep_dims=True)) & 511", "({a} // 3) & 255",
    "({a} - tl.sum({b} & 15, 0, keep_dims=True)) & 511", "tl.minimum({a}, {b})",
    "tl.flip({a}, 1)", "tl.load({p} + at{mask})", "tl.load({p} + at * 2)",
    "tl.load({p} + c * {R} + r)", "tl.load({p} + ({a} & 63))", "tl.gather({a}, {b} & {last}, 1)",
    "tl.broadcast_to({w}[None, :], ({R}, {C}))",
)  # fmt: skip
ROWS = (
    "tl.sum({a} & 63, 1)", "tl.max({a}, 1)", "({v} + 1) & 255", "tl.load({p} + i)",
    "tl.minimum({v}, {s})", "tl.flip({v})", "tl.cumsum({v} & 7, 0)",
)  # fmt: skip
COLUMNS = (
    "tl.sum({a} & 63, 0)", "tl.max({a}, 0)", "({w} + 1) & 255", "tl.load({p} + j)", "tl.flip({w})",
)  # fmt: skip
SCALARS = (
    "tl.max({v}, 0) & 31", "tl.sum(tl.sum({a} & 3, 1), 0) & 31", "tl.load({p} + ({s} & 31))",
    "tl.atomic_add({p} + ({s} & 31), 1)",
)  # fmt: skip
STORES = (
    "tl.store({p} + at, {a}{mask})", "tl.store({p} + c * {R} + r, {a})",
    "tl.store({p} + at * 2, {a})", "tl.store({p} + i, {v})", "tl.store({p} + j + {C}, {w})",
    "tl.store({p} + {end} - at, {a})", "tl.store({p} + ({s} & 31), {s})",
    "tl.atomic_add({p} + at, {a}{mask})",
)  # fmt: skip
HEADERS = ("for {k} in range({s} & 3):", "if {s} > {t}:")
KINDS = {"a": BLOCKS, "v": ROWS, "w": COLUMNS, "s": SCALARS}


class Program:
    """A program being written: its lines, and the names of each kind."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        rows, columns = self.random.choice([2, 4, 8, 16]), self.random.choice([4, 8, 16, 32])
        self.sizes = {"R": rows, "C": columns, "last": columns - 1, "end": rows * columns - 1}
        self.lines = [HEAD.format(**self.sizes)]
        self.names = {"a": ["at"], "v": ["i"], "w": ["j"], "s": ["n", "m"]}
        self.count = 0

    def fill(self, text: str) -> str:
        pick = self.random.choice
        given = {kind: pick(names) for kind, names in self.names.items()}
        given |= {"b": pick(self.names["a"]), "t": pick(self.names["s"]), "p": pick("xyz")}
        mask = pick(MASKS).format(**given, **self.sizes) if "{mask}" in text else ""
        return text.format(**given, **self.sizes, mask=mask, k=f"k{self.count}")

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text + "\n")

    def bind(self, kind: str, depth: int, text: str) -> str:
        self.count += 1
        name = f"{kind}{self.count}"
        self.add(depth, f"{name} = {self.fill(text)}")
        self.names[kind].append(name)
        return name

    def statement(self, depth: int) -> None:
        chance, pick = self.random.random(), self.random.choice
        if depth < 3 and chance < 0.18:
            return self.nested(depth)
        if chance < 0.38:
            return self.add(depth, self.fill(pick(STORES)))
        kind = "s" if chance < 0.5 else "v" if chance < 0.62 else "w" if chance < 0.72 else "a"
        self.bind(kind, depth, pick(KINDS[kind]))

    def nested(self, depth: int) -> None:
        """A branch or a loop that changes a block and a vector."""
        pick = self.random.choice
        block, vector = self.bind("a", depth, "{a} + 0"), self.bind("v", depth, "{v} + 0")
        before = {kind: list(names) for kind, names in self.names.items()}
        self.add(depth, self.fill(pick(HEADERS)))
        for _ in range(self.random.randint(1, 4)):
            self.statement(depth + 1)
        self.add(depth + 1, f"{block} = {self.fill(pick(BLOCKS))}")
        self.add(depth + 1, f"{vector} = {self.fill(pick(ROWS))}")
        self.names = before

    def text(self) -> str:
        for _ in range(self.random.randint(4, 14)):
            self.statement(1)
        self.add(1, self.fill("tl.store(x + at, {a})"))
        self.add(1, self.fill("tl.store(z + i, {v})"))
        return "".join(self.lines)


def left(kernel: Any, memory: Any, target: str, overlap: bool) -> Any:
    """The memory after a run; the arrays overlap, or lie one after the other."""
    mine = memory.copy()
    parts = (mine[:1200], mine[7:1300], mine[40:1400]) if overlap else np.split(mine, 3)
    kernel[(1,)](*parts, 13, 7, target=target)
    return mine


def check(seed: int, folder: Path) -> None:
    """Raises where the CPU target leaves other memory than the eager driver."""
    path = folder / f"blocks_{seed}.py"
    path.write_text(Program(seed).text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    memory = np.random.default_rng(seed).integers(0, 60, 3600).astype(np.int32)
    for overlap in (False, True):
        want = left(module.kernel, memory, "eager", overlap)
        got = left(module.kernel, memory, "cpu", overlap)
        np.testing.assert_array_equal(got, want, f"overlap={overlap}\n{path.read_text()}")


def main(first: int, count: int, machine: str = "here") -> None:
    with tempfile.TemporaryDirectory() as folder, made_for(MACHINES[machine]):
        for seed in range(first, first + count):
            check(seed, Path(folder))
    print(f"{count} programs from {first} on, {machine}: no difference")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
