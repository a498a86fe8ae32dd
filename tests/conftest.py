"""What every test may use: expected text in files, hypothesis profiles, the rule for GPU tests."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

EXPECTED = Path(__file__).parent / "expected"

# A test run finds the same on every machine (derandomized); `make fuzz` looks for the unknown.
settings.register_profile("test", max_examples=50, deadline=None, derandomize=True)
settings.register_profile(
    "fuzz", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

# Every function that a test compiles is verified after each pass.
os.environ.setdefault("MYTRITON_CHECK", "1")


def compare(file: Path, text: str, update: bool) -> str:
    """Return how text differs from what the file holds ('' if not); rewrite the file on update."""
    text = text.rstrip("\n") + "\n"
    if update:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return ""
    held = file.read_text(encoding="utf-8") if file.exists() else ""
    lines = difflib.unified_diff(
        held.splitlines(True), text.splitlines(True), f"expected/{file.name}", "actual"
    )
    return "".join(lines)


@pytest.fixture
def expected() -> Callable[[str, str], None]:
    """Compare text with the file of that name under tests/expected/; `UPDATE=1` rewrites it.

    def test_text(expected):
        expected("add_kernel.cu", cuda_src)
    """

    def check(name: str, text: str) -> None:
        difference = compare(EXPECTED / name, text, update=os.environ.get("UPDATE") == "1")
        if difference:
            message = f"{difference}\nIf the new text is right: UPDATE=1 pytest, then read the diff"
            pytest.fail(message, pytrace=False)

    return check


@cache
def missing_gpu() -> str:
    """Return why no GPU test can run here, or ''."""
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        return f"no GPU through CuPy: {type(error).__name__}: {error}"
    return ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked gpu where there is none; fail it if MYTRITON_REQUIRE_CUDA=1 says so."""
    if item.get_closest_marker("gpu") is None or not (reason := missing_gpu()):
        return
    if os.environ.get("MYTRITON_REQUIRE_CUDA") == "1":
        pytest.fail(f"MYTRITON_REQUIRE_CUDA=1, but {reason}", pytrace=False)
    pytest.skip(reason)
