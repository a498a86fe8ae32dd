"""What every test may use: expected text in files, hypothesis profiles, the rule for GPU tests."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from mytriton.ir.nodes import Function

EXPECTED = Path(__file__).parent / "expected"

# A test run finds the same on every machine (derandomized); `make fuzz` looks for the unknown.
settings.register_profile("test", max_examples=50, deadline=None, derandomize=True)
settings.register_profile(
    "fuzz", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

# Every function that a test compiles is verified after each pass.
os.environ.setdefault("MYTRITON_CHECK", "1")
# cudasim makes all its checks.
os.environ.setdefault("MYTRITON_CUDASIM", "all")
# No test takes machine code that another run has left on disk; tests of the disk set it themselves.
# What a host compiler makes of cudasim's texts takes a second each, so that is kept.
os.environ.setdefault("MYTRITON_CACHE_KINDS", "cudasim,tuning")


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


@pytest.fixture(scope="session", autouse=True)
def compiled_functions_are_valid() -> Iterator[None]:
    """Every function that a launch compiles passes the verifier, and its text reads back, before
    the passes and after them."""
    from mytriton.ir.check import check
    from mytriton.ir.parse import parse
    from mytriton.ir.text import print_function
    from mytriton.passes import pipeline

    optimize = pipeline.optimize
    read_back: set[str] = set()

    def checked(function: Function) -> Function:
        check(function, "traced")
        made = optimize(function)  # which checks after each pass, with MYTRITON_CHECK=1
        for stage, one in (("traced", function), ("optimised", made)):
            text = print_function(one)
            if text not in read_back:
                assert print_function(parse(text)) == text, f"the {stage} text reads back otherwise"
                read_back.add(text)
        return made

    with patch.object(pipeline, "optimize", checked):
        yield


@pytest.fixture(autouse=True)
def cuda_texts_compile(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every CUDA text that a test makes, whatever it makes it for, is one that NVRTC takes."""
    from mytriton.targets.cuda.launch import nvrtc
    from mytriton.targets.cuda.source import CudaSource

    made: list[CudaSource] = []
    make = CudaSource.__init__

    def note(source: CudaSource, *arguments: Any, **named: Any) -> None:
        make(source, *arguments, **named)
        made.append(source)

    with patch.object(CudaSource, "__init__", note):
        yield
    if not nvrtc.available():
        for text in {source.text for source in made}:
            for architecture in ("sm_80", "sm_90a"):
                compile_once(text, architecture)


def compile_once(text: str, architecture: str) -> None:
    """Compiles a text by NVRTC, unless an earlier run has; what it took is remembered on disk."""
    from mytriton.targets.cuda.launch import nvrtc
    from mytriton.targets.store import cache_folder

    key = hashlib.sha256(f"{nvrtc.version()}\0{architecture}\0{text}".encode()).hexdigest()
    taken = cache_folder() / "nvrtc_took" / key
    if not taken.exists():
        nvrtc.compile_nvrtc(text, architecture)
        taken.parent.mkdir(parents=True, exist_ok=True)
        taken.touch()


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
