"""Masked loads and stores touch their lanes and no other byte, on every kind of x86 vector."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .machines import MACHINES, runs_here

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("machine", [m for m in MACHINES if runs_here(m)])
def test_masked_accesses_at_the_ends_of_pages(machine: str) -> None:
    """In a process of its own: a byte too many is a segmentation fault."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.cpu.masked_accesses", machine],
        env=os.environ | {"PYTHONPATH": path, "MYTRITON_CHECK": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.splitlines()) == (0, ["done"]), done.stdout + done.stderr
