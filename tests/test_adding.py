"""What the pages on adding a pass, a dtype, a target and a structural op say is true: their blocks,
added to a copy of the package where they say, do what the page promises.

A block begins with a line that says where it belongs: `# a new file, PATH`; `# in PATH, at the
end`; `# in PATH, last in `NAME``; `# in PATH, in place of `LINE``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n# (a new file, |in )([\w/.]+)([^\n]*)\n(.*?)^```", re.M | re.S)
HEADER = """
import numpy as np
import mytriton as triton
import mytriton.language as tl
"""


def apply(page: str, package: Path) -> int:
    """Adds every block of a page that says where it belongs; how many there were."""
    blocks = BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    for kind, name, place, code in blocks:
        file = package / Path(name).relative_to("src/mytriton")
        if kind == "a new file, ":
            assert not file.exists()
            file.parent.mkdir(exist_ok=True)
            file.write_text(code, encoding="utf-8")
        else:
            file.write_text(added(file.read_text(encoding="utf-8"), place, code), encoding="utf-8")
    return len(blocks)


def added(text: str, place: str, code: str) -> str:
    """The text of a file with the code where the block says."""
    if place == ", at the end":
        return f"{text}\n\n{code}"
    verb, quoted = re.fullmatch(r", (last in|in place of) `(.*)`", place).groups()  # type: ignore[union-attr]
    if verb == "in place of":
        assert text.count(quoted + "\n") == 1, quoted
        return text.replace(quoted + "\n", code)
    opening = re.search(rf"^ *{re.escape(quoted)}.*[{{(\[]\n", text, re.M)
    assert opening is not None, quoted
    closing = re.compile(r"^( {4})?[})\]]\n", re.M).search(text, opening.end())
    assert closing is not None, quoted
    inner = " " * (8 if closing[1] else 4)
    row = textwrap.indent(code.rstrip().rstrip(",") + ",\n", inner)
    return text[: closing.start()] + row + text[closing.start() :]


def run(folder: Path, program: str) -> str:
    """What a program prints with the copy of the package that lies in the folder."""
    script = folder / "program.py"
    script.write_text(HEADER + program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder), "MYTRITON_CHECK": "1"}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/mytriton", tmp_path / "mytriton", ignore=ignored)
    return tmp_path / "mytriton"


TARGETS = ["interpret", "cpu", *["cudasim"] * bool(shutil.which("g++"))]

OP = """
@triton.jit
def kernel(x, out, M: tl.constexpr, N: tl.constexpr, SHIFT: tl.constexpr, DIM: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + places, tl.roll(tl.load(x + places) * 2, SHIFT, DIM) + 1)

x = np.random.default_rng(0).standard_normal((16, 8)).astype(np.float32)
for shift, dim in ((3, 0), (-1, 1), (8, -1), (0, 0), (21, 0)):
    for options in OPTIONS:
        out = np.zeros_like(x)
        compiled = kernel[(1,)](x, out, M=16, N=8, SHIFT=shift, DIM=dim, **options)
        np.testing.assert_array_equal(out, np.roll(2 * x, shift, dim) + 1)
print(compiled.compilation.text("traced"))
try:
    kernel[(1,)](x, x, M=16, N=8, SHIFT=1, DIM=2, target="interpret")
except triton.CompileError as error:
    print(error)
"""


def test_a_structural_op(copy: Path) -> None:
    assert apply("adding-an-op.md", copy) == 8
    options = [{"target": target} for target in TARGETS]
    options += [{"target": "cudasim", "num_warps": 2}] * ("cudasim" in TARGETS)
    text = run(copy.parent, f"OPTIONS = {options}\n" + OP)
    assert "roll %" in text and "{axis=0, shift=5}" in text
    assert "dim 2 is out of range for a tensor of rank 2" in text


PASS = """
@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    for j in range(3):
        value = value * 8 + j
    tl.store(out + i, value * 3, mask=i < n)

x = np.arange(-50, 50, dtype=np.int32)
expected = x.copy()
for j in range(3):
    expected = expected * 8 + j
for target in TARGETS:
    out = np.zeros_like(x)
    compiled = kernel[(4,)](x, out, 100, BLOCK=32, target=target)
    assert (out == expected * 3).all(), target
print(compiled.ssa_ops)
"""


def test_a_pass(copy: Path) -> None:
    assert apply("adding-a-pass.md", copy) == 2
    text = run(copy.parent, f"TARGETS = {TARGETS}\n" + PASS)
    assert "shl %0, 5 : i32" in text and ", 3 : vector<32 x i32>" in text
    assert text.count("mul ") == 1  # by 3
    command = [sys.executable, "-m", "mytriton", "show", str(ROOT / "examples/vector_add.py")]
    environment = {**os.environ, "PYTHONPATH": str(copy.parent)}
    done = subprocess.run(
        [*command, "--stage", "shifts"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert "shl %0, 7 : i32" in done.stdout, done.stderr


DTYPE = """
import ml_dtypes

@triton.jit
def narrow(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n).to(tl.float8e3m4), mask=i < n)

@triton.jit
def sums(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * tl.load(y + i, mask=i < n), mask=i < n)

numbers = np.random.default_rng(0).standard_normal(500) * 10 ** np.linspace(-4, 2, 500)
wide = np.concatenate([numbers, [0.0, -0.0, np.inf, -np.inf, np.nan, 15.5, 16.0, 1e9]])
wide = wide.astype(np.float32)
expected = wide.astype(ml_dtypes.float8_e3m4)
patterns = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e3m4)
for target in TARGETS:
    out = np.zeros(wide.size, ml_dtypes.float8_e3m4)
    narrow[(4,)](wide, out, wide.size, BLOCK=128, target=target)
    np.testing.assert_array_equal(out.astype(np.float32), expected.astype(np.float32))
    product = np.zeros(256, np.float32)
    sums[(2,)](patterns, patterns[::-1].copy(), product, 256, BLOCK=128, target=target)
    given = patterns.astype(np.float32)
    exact = (given * given[::-1]).astype(ml_dtypes.float8_e3m4).astype(np.float32)
    np.testing.assert_array_equal(product, exact)
"""


def test_a_dtype(copy: Path) -> None:
    assert apply("adding-a-dtype.md", copy) == 3
    run(copy.parent, f"TARGETS = {TARGETS}\n" + DTYPE)


TARGET = """
@triton.jit
def kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=1.0)
    b = tl.load(y + i, mask=i < n)
    tl.store(out + i, tl.maximum(a, 0.0) + b.to(tl.float32) * tl.exp(-a), mask=i < n)

@triton.jit
def looping(x, n):
    for i in range(n):
        tl.store(x + i, 1.0)

x, y = np.linspace(-3, 3, 50).astype(np.float32), np.arange(50, dtype=np.int32)
toy, reference = np.zeros(50, np.float32), np.zeros(50, np.float32)
kernel[(2,)](x, y, toy, 50, BLOCK=32, target="toy")
kernel[(2,)](x, y, reference, 50, BLOCK=32, target="interpret")
np.testing.assert_array_equal(toy, reference)
assert toy.any()
try:
    looping[(1,)](x, 3, target="toy")
except triton.CompileError as error:
    print(error)
"""


def test_a_target(copy: Path) -> None:
    assert apply("adding-a-target.md", copy) == 2
    shown = run(copy.parent, TARGET)
    assert shown.startswith("target toy has no `for`") and "in looping" in shown
    environment = {**os.environ, "PYTHONPATH": str(copy.parent)}
    command = [sys.executable, "-m", "mytriton", "doctor"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert "works: straight-line functions, op by op" in done.stdout
