"""What docs/adding-an-op.md says is true: its row, added to a copy of the package, is an op."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

PROGRAM = """
import numpy as np
import mytriton as triton
import mytriton.language as tl

assert tl.example_op.__doc__.startswith("x * x + y, each step rounded.")


@triton.jit
def kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.example_op(a, tl.load(y + i, mask=i < n)), mask=i < n)


x, y = np.random.default_rng(0).standard_normal((2, 1000)).astype(np.float32)
for target in TARGETS:
    out = np.zeros(1000, np.float32)
    result = kernel[(4,)](x, y, out, 1000, BLOCK=256, target=target)
    np.testing.assert_array_equal(out, x * x + y)
_, ssa, cuda = kernel[(4,)](x, y, out, 1000, BLOCK=256)
assert "example_op %" in str(ssa), ssa
assert "* v" in cuda, cuda
"""


def test_a_row_alone_adds_an_op_to_the_language_and_all_targets(tmp_path: Path) -> None:
    page = (ROOT / "docs/adding-an-op.md").read_text()
    row = re.search(r"```python\n(.*?)```", page, re.S)
    assert row is not None
    shutil.copytree(ROOT / "src/mytriton", tmp_path / "mytriton")
    table = tmp_path / "mytriton/ir/elementwise.py"
    table.write_text(table.read_text() + "\n\n" + row[1])
    targets = ["interpret", "cpu"] + ["cudasim"] * bool(shutil.which("g++"))
    kernel = tmp_path / "kernel.py"
    kernel.write_text(PROGRAM.replace("TARGETS", repr(targets)))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(kernel)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
