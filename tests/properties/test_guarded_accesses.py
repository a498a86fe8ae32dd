"""Loads and stores of any rank, stride, extent and mask touch the elements they mean and no other.

Each example is a kernel as a kernel author would write it, whose arrays hold exactly the elements
that its accesses reach, from the lowest address to the highest, and end or begin at a page that may
not be touched. So a lane too many, or a vector wider than its mask, stops the process.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.backends import available, run_on
from tests.support.compare import Array, require_equal

from .inputs import anything, dtypes, examples, seeds

BACKENDS = [name for name in ("traced", "interpret", "eager", "cpu") if name in available()]
BLOCKS = ([1, 2, 4, 7, 16, 33, 64, 100], [1, 2, 3, 8, 16, 17], [1, 2, 3, 5])
"""Extents of a block by axis; the later ones are small, so that the product is."""

HEAD = "import mytriton as triton\nimport mytriton.language as tl\n\n\n@triton.jit\n"


@dataclass(frozen=True)
class Access:
    """The elements start + Σ index·stride of an array, over all indices within the extents."""

    strides: tuple[int, ...]
    constant: tuple[bool, ...]
    """Which strides stand in the kernel as numbers; the others are arguments."""

    def reach(self, extents: Sequence[int]) -> tuple[int, int]:
        """The element of index 0…0, and how many elements there are from lowest to highest."""
        if 0 in extents:
            return 0, 1
        ends = [(extent - 1) * stride for extent, stride in zip(extents, self.strides)]
        start = -sum(min(end, 0) for end in ends)
        return start, start + sum(max(end, 0) for end in ends) + 1

    def text(self, name: str, indices: Sequence[str]) -> str:
        known = zip(indices, self.strides, self.constant, itertools.count())
        parts = [f"{index} * {s if fixed else f'{name}{a}'}" for index, s, fixed, a in known]
        return " + ".join([f"{name}_start", *parts])


@dataclass(frozen=True)
class Case:
    """One kernel: a block moved from x to out, by one program a tile or in a loop over tiles."""

    blocks: tuple[int, ...]
    extents: tuple[int, ...]
    source: Access
    target: Access
    loop: bool
    low: int
    """Indices of axis 0 below this are masked off, too."""

    def kernel_text(self) -> str:
        rank = len(self.blocks)
        numbers = [f"{n}{axis}" for n in ("n", "x", "out") for axis in range(rank)]
        lines = [f"def kernel(x, out, x_start, out_start, low, {', '.join(numbers)}):"]
        for axis, block in enumerate(self.blocks):
            view = ", ".join(":" if other == axis else "None" for other in range(rank))
            lines.append(f"    r{axis} = tl.arange(0, {block})[{view}]")
        block, indent = self.blocks[0], "    "
        tile = f"tl.program_id(0) * {block}"
        if self.loop:
            lines.append(f"    for tile in range(0, n0, {block}):")
            tile, indent = "tile", "        "
        names = [f"i{axis}" for axis in range(rank)]
        lines.append(f"{indent}i0 = {tile} + r0")
        lines += [f"{indent}i{axis} = r{axis}" for axis in range(1, rank)]
        needed = ["(i0 < n0) & (i0 >= low)"] + [
            f"(i{a} < n{a})" for a in range(1, rank) if self.extents[a] < self.blocks[a]
        ]
        lines.append(f"{indent}mask = {' & '.join(needed)}")
        load = f"tl.load(x + ({self.source.text('x', names)}), mask=mask, other=3)"
        lines.append(f"{indent}value = {load}")
        store = f"tl.store(out + ({self.target.text('out', names)}), value, mask=mask)"
        lines.append(f"{indent}{store}")
        return HEAD + "\n".join(lines) + "\n"

    def moved(self, x: Array, out: Array, starts: Sequence[int]) -> Array:
        """What out is afterwards, element by element."""
        result = out.copy()
        for index in np.ndindex(*self.extents):
            if index[0] >= self.low:
                source, target = (
                    start + sum(i * s for i, s in zip(index, access.strides))
                    for start, access in zip(starts, (self.source, self.target))
                )
                result[target] = x[source]
        return result


@st.composite
def cases(draw: Any) -> Case:
    rank = draw(st.integers(1, 3))
    blocks = tuple(draw(st.sampled_from(BLOCKS[axis])) for axis in range(rank))
    extents = [draw(st.integers(0, 2 * blocks[0] + 1))]
    extents += [draw(st.sampled_from([b, b, max(0, b - 1), b // 2])) for b in blocks[1:]]
    steps = [draw(st.sampled_from([1, 1, 2, 3, 17, 0, -1, -2])) for _ in range(rank)]
    target, size = [0] * rank, draw(st.sampled_from([1, 1, 2]))
    for axis in draw(st.permutations(range(rank))):  # no two indices meet
        target[axis] = size * draw(st.sampled_from([1, 1, -1]))
        size = size * max(1, extents[axis]) + draw(st.sampled_from([0, 0, 1, 5]))
    fixed = st.tuples(*[st.booleans()] * rank)
    return Case(
        blocks,
        tuple(extents),
        Access(tuple(steps), draw(fixed)),
        Access(tuple(target), draw(fixed)),
        draw(st.booleans()),
        draw(st.sampled_from([0, 0, 1, 5])),
    )


def compiled(text: str, folder: str) -> Any:
    path = Path(folder) / "kernel.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("guarded_kernel", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


@examples(30)
@given(cases(), dtypes(["int8", "fp16", "bf16", "fp32", "int32", "fp64", "int1"]), seeds)
def test_an_access_touches_its_elements_only(case: Case, name: str, seed: int) -> None:
    starts, sizes = zip(*(a.reach(case.extents) for a in (case.source, case.target)))
    x, out = (anything(name, (size,), seed + i) for i, size in enumerate(sizes))
    wanted = case.moved(x, out, starts)
    numbers = [*case.extents, *case.source.strides, *case.target.strides]
    tiles = 1 if case.loop else max(1, math.ceil(case.extents[0] / case.blocks[0]))
    with tempfile.TemporaryDirectory() as folder:
        kernel = compiled(case.kernel_text(), folder)
        for backend in BACKENDS:
            got = run_on(backend, kernel, (tiles,), x, out, *starts, case.low, *numbers)
            require_equal(got["out"], wanted, f"{backend}\n{case.kernel_text()}")
