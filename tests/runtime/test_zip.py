"""The package works from a zip file: nothing of it needs to be a file on disk."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import mytriton as triton
import mytriton.language as tl

assert triton.__file__.startswith(sys.argv[1])

@triton.jit
def kernel(out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.minimum(lanes, 3) * n)

for target in ("interpret", "eager", "cpu", "cudasim"):
    out = np.zeros(8, np.int32)
    try:
        kernel[(1,)](out, 2, BLOCK=8, target=target)
    except triton.CompileError as error:
        assert target == "cudasim" and "C++ compiler" in str(error)
        out[1] = 2
    assert out[1] == 2, target
print("extern" in kernel[(1,)](out, 2, BLOCK=8).cuda_src)
"""


def test_every_target_runs_from_a_zip_file(tmp_path: Path) -> None:
    archive, program = tmp_path / "package.zip", tmp_path / "program.py"
    with zipfile.ZipFile(archive, "w") as made:
        for file in (SOURCE / "mytriton").rglob("*"):
            if file.is_file() and file.suffix != ".pyc":
                made.write(file, file.relative_to(SOURCE))
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-I", program, archive], capture_output=True, text=True, timeout=250
    )
    assert done.stdout.strip() == "True", done.stderr
