"""The tutorials' programs run as they are where `import triton` means this project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parents[2] / "examples" / "tutorials").glob("*.py"))


@pytest.mark.parametrize("program", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_agrees_with_torch(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mytriton", "run", str(program)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "agree" in done.stdout
