"""A test file written against Triton's public API passes on the stand-in, unmodified; and, where
the triton wheel is installed, on Triton's own interpreter, so that it asks for nothing else."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

API = Path(__file__).parent / "api"


def run(*options: str, **environment: str) -> str:
    pytest_alone = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-c", os.devnull]
    done = subprocess.run(
        [*pytest_alone, *options, "--rootdir", str(API), str(API)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    return done.stdout


def test_the_stand_in_passes() -> None:
    assert "skipped" not in run("-p", "mytriton.as_triton")


def test_the_wheel_passes_in_its_interpreter() -> None:
    try:
        importlib.metadata.distribution("triton")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the triton wheel is not installed")
    run(TRITON_INTERPRET="1")
