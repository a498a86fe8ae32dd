"""`import mytriton` is quick because it loads no large library; each is loaded by who needs it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import mytriton
import mytriton.language
heavy = {"torch", "cupy", "llvmlite", "numba", "cuda", "rich"}
print(*sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""


def test_import_loads_no_large_library() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
