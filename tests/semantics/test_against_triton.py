"""Where Triton is installed, it is asked for the types of fresh random expressions."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import pytest

from mytriton.ir.types import BOOL, BY_TRITON_NAME, F32, I32, I64, PointerType
from tests.support.dtypes import TRITON

from .test_random_numbers import Program
from .test_random_scalars import HELPERS, NAMES, draw
from .traced_types import HEADER, kernel, type_name

ASK = Path(__file__).with_name("ask_triton.py")


def installed() -> bool:
    """Whether the `triton` that an import finds is Triton itself, not a stand-in."""
    try:
        return bool(metadata.version("triton")) and importlib.util.find_spec("triton") is not None
    except metadata.PackageNotFoundError:
        return False


IMPORTS = HEADER.replace("import mytriton as triton", "import triton").replace(
    "import mytriton.language", "import triton.language"
)


def questions(program: Program, arguments: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "text": IMPORTS + program.text([f"r = {text}", "note(r)"]),
            "types": arguments,
            "constexprs": {"C": 7, "F": 1.5},
        }
        for text, _ in program.results
    ]


def ask(asked: list[dict[str, Any]], folder: Path) -> list[str]:
    """Triton's answers."""
    file = folder / "questions.json"
    file.write_text(json.dumps(asked), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(ASK), str(file)], capture_output=True, check=True
    )
    answers: list[str] = json.loads(done.stdout)
    return answers


def seeds(count: int) -> list[int]:
    return [SystemRandom().randrange(2**32) for _ in range(int(os.environ.get("SEEDS", count)))]


@pytest.mark.skipif(not installed(), reason="Triton is not installed")
def test_random_expressions_have_the_types_that_triton_gives_them(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    ours: list[tuple[int, str, str]] = []
    for seed in seeds(10):
        program = Program(seed, 20)
        elements = [BY_TRITON_NAME[TRITON[array.dtype]] for array in program.arrays]
        pointers = dict(zip(["Px", "Py", "Pz", "Pb"], elements))
        types: dict[str, Any] = {name: PointerType(e) for name, e in pointers.items()}
        types |= {"ints": PointerType(I64), "reals": PointerType(F32), "n": I32, "f": F32, "m": I64}
        found: list[str] = []
        types |= {"C": 7, "F": 1.5, "note": lambda value, to=found: to.append(type_name(value))}
        lines = [line for text, _ in program.results for line in (f"r = {text}", "note(r)")]
        text = program.text(lines).replace("F: tl.constexpr", "F: tl.constexpr, note: tl.constexpr")
        kernel(tmp_path / f"ours_{seed}.py", text, types)
        ours += [(seed, text, name) for (text, _), name in zip(program.results, found)]
        names = {e: "i1" if e == BOOL else e.mangle().replace("float", "fp") for e in elements}
        given = {name: f"*{names[e]}" for name, e in pointers.items()}
        given |= {"ints": "*i64", "reals": "*fp32", "n": "i32", "f": "fp32", "m": "i64"}
        asked += questions(program, given)
    answers = ask(asked, tmp_path)
    accepted = [row for row in zip(answers, ours) if not row[0].startswith("refused")]
    assert len(accepted) > len(answers) // 4
    assert [row for row in accepted if row[0] != row[1][2]] == []


@pytest.mark.skipif(not installed(), reason="Triton is not installed")
def test_random_statements_have_the_types_that_triton_gives_them(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    ours: list[tuple[int, str]] = []
    types = {"n": I32, "f": F32, "m": I64, "k": I32, "C": 7}
    names = {"n": "i32", "f": "fp32", "m": "i64", "k": "i32"}
    for seed in seeds(60):
        body, _, _ = draw(Random(seed))
        lines = [*body, *(f"note({name})" for name in NAMES)]
        code = "".join(f"    {line}\n" for line in lines)
        start = HELPERS + "\n@triton.jit\ndef kernel(n, f, m, k, C: tl.constexpr"
        found: list[str] = []
        note = {"note": lambda value, to=found: to.append(type_name(value))}
        text = f"{start}, note: tl.constexpr):\n{code}"
        kernel(tmp_path / f"statements_{seed}.py", text, {**types, **note})
        ours.append((seed, " ".join(found)))
        text = f"{IMPORTS}{start}):\n{code}"
        asked.append({"text": text, "types": names, "constexprs": {"C": 7}})
    rows = list(zip(ask(asked, tmp_path), ours, strict=True))
    accepted = [row for row in rows if not row[0].startswith("refused")]
    assert len(accepted) > len(rows) // 8
    assert [row for row in accepted if row[0] != row[1][1]] == []
