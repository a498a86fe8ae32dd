"""`import mytriton` is quick: it loads no large library, and nothing that only some calls need."""

from __future__ import annotations

import subprocess
import sys

LIBRARIES = {"torch", "cupy", "llvmlite", "numba", "cuda", "rich"}
STANDARD = {
    "fractions",
    "hashlib",
    "importlib.resources",
    "json",
    "pathlib",
    "random",
    "statistics",
}
"""What NumPy does not load either; with these come decimal, tempfile, urllib and others."""
OWN = {
    "mytriton.elementary",
    "mytriton.frontend.rewrite",
    "mytriton.ir.text",
    "mytriton.language.extra.ptx",
    "mytriton.language.extra.libdevice",
    "mytriton.passes",
    "mytriton.targets.cpu",
    "mytriton.targets.cuda",
    "mytriton.targets.interpret",
}
PROGRAM = """
import sys, numpy
before = set(sys.modules)
import mytriton, mytriton.language
print(*sorted(set(sys.modules) - before))
"""


def test_import_loads_only_what_every_kernel_needs() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "mytriton.runtime.jit" in loaded
    assert {name for name in loaded if name.partition(".")[0] in LIBRARIES} == set()
    assert loaded & STANDARD == set()
    assert loaded & OWN == set()
