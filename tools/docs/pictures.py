"""Writes the pictures of README and docs: `python -m tools.docs.pictures`.

docs/pictures/pipeline.svg is the way of a kernel, docs/pictures/benchmarks.svg the committed table
benchmarks/results/cpu.md as a chart.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tools.docs.svg import Picture

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
RESULTS = ROOT / "benchmarks" / "results" / "cpu.md"

# -- the pipeline

WAYS: Sequence[tuple[str, str, str, Sequence[tuple[str, str]]]] = (
    (
        "interpret",
        "b",
        "NumPy, a block at a time",
        (
            ("each op's NumPy meaning", "targets/interpret"),
            ("every access is checked", "the kernel's own line"),
            ("any stage, before and after a pass", "tests/passes"),
            ("all other targets are compared with it", "the definition"),
        ),
    ),
    (
        "cpu",
        "a",
        "machine code, through LLVM",
        (
            ("dependence graph", "cpu/schedule"),
            ("plan: loop nests, buffers", "--stage plan"),
            ("loops: lanes, masks, tails", "--stage loops"),
            ("LLVM IR → machine code, threads", "--stage llvm, asm"),
        ),
    ),
    (
        "cuda",
        "d",
        "CUDA C++",
        (
            ("lane rule, or layouts over warps", "cuda/assign, layouts"),
            ("CUDA C++ text", "--stage cuda"),
            ("NVRTC → GPU", "--stage ptx, sass"),
            ("cudasim: the text on the host", "cuda/sim"),
        ),
    ),
)
"""The targets side by side: name, colour, what it is, and its steps with where they are."""


def pipeline() -> Picture:
    """From the Python function to three kinds of code."""
    picture = Picture(940, 590, "The way of a kernel from Python to machine code")
    _stage(picture, 24, "Python function", "@triton.jit", "--stage python")
    _step(
        picture, 82, "frontend/", "control flow rewritten (ast → ast), then run on symbolic values"
    )
    _stage(picture, 134, "typed SSA, as traced", "each op typed when it is made", "--stage traced")
    _step(
        picture, 192, "passes/", "simplify · drop dead · hoist · order, each a function of the IR"
    )
    _stage(picture, 244, "typed SSA, optimised", "%4 = addptr x, %3 : …", "--stage ssa, tree")
    _side_boxes(picture)
    for place, (name, color, about, steps) in enumerate(WAYS):
        _way(picture, 24 + 303 * place, name, color, about, steps)
    return picture


def _stage(picture: Picture, y: float, name: str, about: str, command: str) -> None:
    picture.box(250, y, 440, 52)
    picture.text(266, y + 22, name, weight="600", size=15)
    picture.text(266, y + 41, about, color="soft", mono="%" in about or "@" in about, size=12)
    picture.text(674, y + 22, command, color="a", anchor="end", mono=True, size=12)


def _step(picture: Picture, y: float, folder: str, about: str) -> None:
    picture.line([(470, y - 4), (470, y + 48)], arrow=True)
    picture.text(482, y + 17, folder, mono=True, size=12, weight="600")
    picture.text(482, y + 33, about, color="soft", size=12)


def _side_boxes(picture: Picture) -> None:
    """The op table, which everything reads, and eager, which leaves before the IR."""
    picture.box(24, 134, 190, 162, edge="c")
    picture.text(40, 158, "the op table", weight="600", size=15, color="c")
    rows = ("one row an op: type rule,", "NumPy, C and LLVM meaning,", "algebra, docs, tests")
    for line, text in enumerate(rows):
        picture.text(40, 182 + 18 * line, text, size=12, color="soft")
    picture.text(40, 246, "read by the language,", size=12, color="soft")
    picture.text(40, 264, "the passes and all targets", size=12, color="soft")
    picture.text(40, 285, "src/mytriton/ir/", size=11, color="soft", mono=True)
    picture.line([(214, 160), (248, 160)], arrow=True)
    picture.line([(214, 270), (248, 270)], arrow=True)
    picture.line([(690, 50), (728, 50)], arrow=True)
    picture.box(730, 24, 186, 70, edge="b")
    picture.text(746, 47, "eager", weight="600", size=15, color="b")
    picture.text(746, 66, "your Python on real blocks:", size=12, color="soft")
    picture.text(746, 83, "print, breakpoint()", size=12, color="soft")


def _way(
    picture: Picture, x: float, name: str, color: str, about: str, steps: Sequence[tuple[str, str]]
) -> None:
    middle = x + 143
    picture.line([(470, 296), (470, 318), (middle, 318), (middle, 340)], arrow=True)
    picture.box(x, 342, 286, 224, edge=color)
    picture.text(x + 16, 367, name, weight="600", size=15, color=color)
    picture.text(x + 270, 367, about, color="soft", anchor="end", size=12)
    for place, (step, where) in enumerate(steps):
        y = 398 + 44 * place
        picture.text(x + 16, y, step, size=13)
        picture.text(x + 16, y + 17, where, size=11, color="soft", mono=True)


# -- the benchmarks


class Row(NamedTuple):
    """A line of the table: how many times faster this package is than the peer."""

    benchmark: str
    peer: str
    median: str
    ratio: float | None


COLORS = {"torch": "d", "numpy": "a", "numba": "c"}


def rows(text: str) -> Iterator[Row]:
    """The lines of a table of results; a blank name is that of the line before."""
    name = ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 6 or cells[0] == "benchmark" or set(cells[0]) == {"-"}:
            continue
        name = cells[0] or name
        found = re.match(r"([\d.]+)x", cells[4])
        yield Row(name, cells[1], cells[2], float(found[1]) if found else None)


def benchmarks() -> Picture:
    """Each benchmark against its peers, on a logarithmic axis around "equally fast"."""
    text = RESULTS.read_text(encoding="utf-8")
    groups = [(name, list(lines)) for name, lines in groupby(rows(text), lambda row: row.benchmark)]
    bars = sum(row.ratio is not None for _, lines in groups for row in lines)
    height = 100 + 19 * bars + 5 * len(groups)
    picture = Picture(940, height, "The CPU target against its peers")
    machine = next((line[2:] for line in text.splitlines() if "cores" in line), "")
    picture.text(24, 30, "Speed of target cpu relative to its peers", weight="600", size=15)
    picture.text(24, 50, f"{machine}; right of the line mytriton is faster", color="soft", size=12)
    _axis(picture, height)
    y = 88.0
    for name, lines in groups:
        y = _group(picture, y, name, lines)
    return picture


LEFT, RIGHT, LEAST, MOST = 330, 890, 1 / 64, 16
TICKS = {1 / 32: "1/32", 1 / 8: "1/8", 1 / 2: "1/2", 1: "1", 2: "2", 4: "4", 8: "8 ×", 16: "16"}


def _at(ratio: float) -> float:
    """The place of a ratio on the axis."""
    part = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + part * (RIGHT - LEFT)


def _axis(picture: Picture, height: float) -> None:
    for ratio, label in TICKS.items():
        x = _at(ratio)
        picture.bar(
            x, 76, 1.6 if ratio == 1 else 0.6, height - 92, "line" if ratio == 1 else "edge"
        )
        picture.text(x, 70, label, color="soft", anchor="middle", size=11)


def _group(picture: Picture, y: float, name: str, lines: Sequence[Row]) -> float:
    own = next((row.median for row in lines if row.peer == "mytriton"), "")
    picture.text(24, y + 11, name, size=13)
    picture.text(244, y + 11, own, size=12, color="soft", anchor="end") if len(name) < 26 else None
    for row in lines:
        if row.ratio is None:
            continue
        start, end = sorted((_at(1), _at(row.ratio)))
        picture.bar(start, y, max(1.5, end - start), 13, COLORS.get(row.peer, "b"))
        picture.text(LEFT - 10, y + 11, row.peer, size=12, color="soft", anchor="end")
        shown = f"{row.ratio:.2g} ×" if row.ratio < 10 else f"{row.ratio:.0f} ×"
        right = row.ratio >= 1
        place = end + 6 if right else start - 6
        picture.text(place, y + 11, shown, size=11, anchor="start" if right else "end")
        y += 19
    return y + 5


PICTURES: Mapping[str, Callable[[], Picture]] = {
    "pipeline.svg": pipeline,
    "benchmarks.svg": benchmarks,
}
"""Every picture, and what draws it."""


def stale() -> list[str]:
    """The pictures that are not as they would be drawn."""
    return [
        name
        for name, draw in PICTURES.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text("utf-8") != str(draw())
    ]


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(str(draw()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
