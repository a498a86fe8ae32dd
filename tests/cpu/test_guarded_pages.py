"""Masked-off lanes touch no memory: random programs over arrays that end, or begin, at a page that
may not be touched, on every kind of machine whose code runs here.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .machines import MACHINES, runs_here

COUNT = 400 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 40


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="protects pages by mprotect")
@pytest.mark.parametrize("machine", MACHINES)
def test_a_masked_off_lane_touches_no_memory(machine: str) -> None:
    """In a process of its own: a fault would end this one."""
    if not runs_here(machine):
        pytest.skip("this processor cannot run that code")
    command = [sys.executable, "-m", "tests.cpu.guarded", machine, "0", str(COUNT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stderr[-3000:]}"
