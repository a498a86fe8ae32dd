"""A correct kernel passes mypy and pyright against the installed package, and a wrong one does not.

The examples are checked as a user would check them: bodies of functions without annotations too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mytriton

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted([*ROOT.glob("examples/*.py"), *ROOT.glob("examples/gallery/*.py")])
PACKAGE = Path(mytriton.__file__).parent

WRONG = """
import mytriton as triton
import mytriton.language as tl


@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    scale: tl.constexpr = 2
    v = tl.load(x + i, masks=i < n)  # wrong: mask
    tl.sum(i, "0")  # wrong: an axis is an int
    tl.laod(x)  # wrong: load
    i.summ(0)  # wrong: sum
    z = tl.zeros([BLOCK, scale], tl.float32)
    tl.zeros([BLOCK, 2.5], tl.float32)  # wrong: extents are ints
    z.to("float32", rounding="rtz")  # wrong: fp_downcast_rounding
    s = tl.exp(z) + tl.dot(z, z.T) * 2.0
    for k in range(n):
        i += k
    tl.where(i > 0, i)  # wrong: y is missing
    tl.store(x + i, s.sum(0).to(tl.float16), mask=i < n)
"""
LINES = [number for number, line in enumerate(WRONG.splitlines(), 1) if "# wrong" in line]


def mypy(files: list[Path], cache: Path) -> list[str]:
    """The complaints of mypy about the files, each `file:line: …`."""
    options = ["--config-file=", "--check-untyped-defs", "--ignore-missing-imports"]
    options += ["--follow-imports=silent", "--explicit-package-bases", "--no-error-summary"]
    options += ["--allow-redefinition-new", "--local-partial-types", f"--cache-dir={cache}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *map(str, files)],
        env={**os.environ, "MYPYPATH": os.pathsep.join([str(PACKAGE.parent), str(ROOT)])},
        capture_output=True,
        text=True,
        cwd=cache,
    )
    return [line for line in done.stdout.splitlines() if ": note:" not in line]


def pyright(files: list[Path], folder: Path) -> list[tuple[str, int]]:
    """File and line of each complaint of pyright."""
    config = folder / "pyrightconfig.json"
    paths = {"include": list(map(str, files)), "extraPaths": [str(PACKAGE.parent)]}
    config.write_text(json.dumps({**paths, "reportMissingImports": False}))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "-p", str(config), "--outputjson"],
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [row for row in found if row["severity"] == "error"]
    return [(Path(row["file"]).name, row["range"]["start"]["line"] + 1) for row in errors]


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_mypy(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    found = mypy([*EXAMPLES, wrong], tmp_path)
    assert [line for line in found if not line.startswith(("wrong.py", str(wrong)))] == []
    assert [int(line.split(":")[1]) for line in found] == LINES, found


@pytest.mark.skipif(importlib.util.find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    found = pyright([*EXAMPLES, wrong], tmp_path)
    assert [row for row in found if row[0] != "wrong.py"] == []
    assert sorted({line for _, line in found}) == LINES, found
