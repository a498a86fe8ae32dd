"""Random programs over blocks under cudasim: over 1, 4 and 8 warps, in the three orders of threads,
each leaves the memory that the eager driver leaves, without a report.

    python -m tests.cuda.random_blocks FIRST COUNT
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

from mytriton.targets.cuda import sim
from tests.cpu import random_blocks

WARPS, ORDERS = (1, 4, 8), ("forward", "reverse", "shuffle:3")
PRODUCTS = (
    "tl.sum(tl.dot({a} & 7, tl.trans({b} & 7)), 1)",
    "tl.sum(tl.dot(({a} & 7).to({f}), tl.trans(({b} & 7).to({f}))), 1).to(tl.int32)",
    "tl.max(tl.dot(tl.trans({a} & 3), {b} & 3), 0)",
)
"""Products whose sums are exact in every type."""
FLOATS = ("tl.float16", "tl.bfloat16", "tl.float32", "tl.int8")


class Program(random_blocks.Program):
    """A program that also multiplies, and sorts and counts."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        pick = Random(seed ^ 0xC0DA).choice
        rows, columns = pick([8, 16, 32]), pick([8, 16, 32, 64])
        self.sizes = {"R": rows, "C": columns, "last": columns - 1, "end": rows * columns - 1}
        self.lines = [random_blocks.HEAD.format(**self.sizes)]

    def fill(self, text: str) -> str:
        return super().fill(text.replace("{f}", self.random.choice(FLOATS)))

    def statement(self, depth: int) -> None:
        if self.random.random() < 0.15:
            place = self.random.randrange(3)
            self.bind("vvw"[place], depth, PRODUCTS[place])
            return
        super().statement(depth)


def left(kernel: Any, memory: Any, overlap: bool, **options: Any) -> Any:
    """The memory after a run; the arrays overlap, or lie one after the other."""
    mine = memory.copy()
    parts = (mine[:4200], mine[7:4300], mine[40:4400]) if overlap else np.split(mine, 3)
    kernel[(1,)](*parts, 13, 7, **options)
    return mine


def check(seed: int, folder: Path) -> None:
    """Raises where cudasim leaves other memory than the eager driver, or reports a fault."""
    path = folder / f"blocks_{seed}.py"
    path.write_text(Program(seed).text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    memory = np.random.default_rng(seed).integers(0, 60, 13200).astype(np.int32)
    overlap = seed % 2 == 1
    want = left(module.kernel, memory, overlap, target="eager")
    for place, warps in enumerate(WARPS):
        order = ORDERS[(seed + place) % len(ORDERS)]
        with patch.dict(os.environ, {sim.ORDER: order, "MYTRITON_CUDASIM": "all"}):
            got = left(module.kernel, memory, overlap, target="cudasim", num_warps=warps)
        why = f"seed {seed}, {warps} warps, {order}, overlap={overlap}\n{path.read_text()}"
        np.testing.assert_array_equal(got, want, why)


def main(first: int, count: int) -> None:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                check(seed, Path(folder))
            except Exception as error:
                wrong += 1
                print(f"--- seed {seed}: {type(error).__name__}: {str(error)[:1500]}", flush=True)
    print(f"{count} programs from {first} on: {wrong} wrong")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
