"""Strict mode refuses what Triton refuses, at the line, with a portable form that both accept."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError
from mytriton.frontend.trace import trace
from mytriton.ir.types import BOOL, BY_TRITON_NAME, F32, I8, I32, I64, PointerType
from mytriton.strict import StrictError, strict
from tests.support.dtypes import TRITON

from .strict_cases import CASES, Case, text
from .test_against_triton import IMPORTS, ask, installed, seeds
from .test_random_numbers import Program
from .traced_types import kernel as traced_text

TYPES: dict[str, Any] = {
    "X": PointerType(F32), "Y": PointerType(F32), "B": PointerType(I8),
    "n": I32, "k": I32, "f": F32, "C": 16, "D": 5,
}  # fmt: skip
assert len(CASES) == 55, "a block of the file is not read"
by_name = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def kernel(folder: Path, body: str) -> Any:
    """The kernel of a module with that body."""
    path = folder / "strict_case.py"
    path.write_text(text(body, "mytriton"), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


@by_name
def test_the_line_is_refused_and_the_portable_form_is_not(case: Case, tmp_path: Path) -> None:
    trace(kernel(tmp_path, case.refused).fn, TYPES)
    with strict(), pytest.raises(StrictError) as caught:
        trace(kernel(tmp_path, case.refused).fn, TYPES)
    assert case.message in caught.value.message
    assert "which Triton refuses (strict mode); portable: " in caught.value.message
    assert caught.value.where[0].text.endswith("# here"), caught.value
    with strict():
        trace(kernel(tmp_path, case.portable).fn, TYPES)


@pytest.mark.skipif(not installed(), reason="Triton is not installed")
def test_triton_agrees(tmp_path: Path) -> None:
    types = {"X": "*fp32", "Y": "*fp32", "B": "*i8", "n": "i32", "k": "i32", "f": "fp32"}
    asked = [
        {"text": text(body, "triton"), "types": types, "constexprs": {"C": 16, "D": 5}}
        for case in CASES
        for body in (case.refused, case.portable)
    ]
    answers = ask(asked, tmp_path)
    wrong = []
    for case, refused, portable in zip(CASES, answers[::2], answers[1::2]):
        if refused.startswith("refused") == case.deprecated or portable.startswith("refused"):
            wrong.append((case.name, refused, portable))
    assert wrong == []


@pytest.mark.skipif(not installed(), reason="Triton is not installed")
def test_triton_accepts_the_random_programs_that_strict_mode_accepts(tmp_path: Path) -> None:
    asked = []
    for seed in seeds(10):
        program = Program(seed, 20)
        elements = [BY_TRITON_NAME[TRITON[array.dtype]] for array in program.arrays]
        pointers = dict(zip(["Px", "Py", "Pz", "Pb"], elements))
        types: dict[str, Any] = {name: PointerType(e) for name, e in pointers.items()}
        types |= {"ints": PointerType(I64), "reals": PointerType(F32), "n": I32, "f": F32, "m": I64}
        types |= {"C": 7, "F": 1.5, "note": lambda value: None}
        names = {e: "i1" if e == BOOL else e.mangle().replace("float", "fp") for e in elements}
        given = {name: f"*{names[e]}" for name, e in pointers.items()}
        given |= {"ints": "*i64", "reals": "*fp32", "n": "i32", "f": "fp32", "m": "i64"}
        for expression, _ in program.results:
            code = program.text([f"r = {expression}", "note(r)"])
            ours = code.replace("F: tl.constexpr", "F: tl.constexpr, note: tl.constexpr")
            try:
                with strict():
                    traced_text(tmp_path / "ours.py", ours, types)
            except CompileError:
                continue
            constexprs = {"C": 7, "F": 1.5}
            asked.append({"text": IMPORTS + code, "types": given, "constexprs": constexprs})
    answers = ask(asked, tmp_path)
    assert len(answers) > 100
    refused = [(q["text"], a) for q, a in zip(asked, answers) if a.startswith("refused")]
    assert refused == []


@triton.jit
def odd_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, 2 * tl.load(x + i))


@triton.jit
def größer(x):
    tl.store(x, tl.load(x) + 1)


def test_a_kernel_has_a_name_in_ascii() -> None:
    größer[(1,)](np.zeros(1, np.float32), target="interpret")
    with triton.strict(), pytest.raises(StrictError, match="the kernel's name `größer`"):
        größer[(1,)](np.zeros(1, np.float32), target="interpret")


def test_a_launch_is_compiled_for_the_mode_it_is_launched_in() -> None:
    x, out = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    for _ in range(2):
        odd_kernel[(1,)](x, out, N=5, target="cpu")
        assert out.tolist() == [0, 2, 4, 6, 8]
        with triton.strict():
            for target in ("cpu", "interpret", "eager", None):
                with pytest.raises(StrictError, match="no power of two"):
                    odd_kernel[(1,)](x, out, N=5, target=target)
            with triton.strict(False):
                odd_kernel[(1,)](x, out, N=5, target="cpu")
            odd_kernel[(1,)](x, out, N=4, target="cpu")


def test_the_environment_asks_for_it(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(text("z = tl.arange(0, D)\ntl.store(X + z, z)", "mytriton") + MAIN)
    done = run(file, "")
    assert done.stdout == "ran\n", done.stderr
    done = run(file, "1")
    assert "extent that is no power of two" in done.stderr and done.returncode == 1


def run(file: Path, strictly: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MYTRITON_STRICT": strictly}
    command = [sys.executable, str(file)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


MAIN = """
import numpy as np
x = np.zeros(16, np.float32)
kernel[(1,)](x, x, np.zeros(16, np.int8), 1, 1, 1.0, C=16, D=5, target="interpret")
print("ran")
"""
