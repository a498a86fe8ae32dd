"""The habits of the tests themselves: expected text is refreshed only on purpose."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tools.ci.source import ROOT


@pytest.fixture(scope="module")
def conftest() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conftest_copy", ROOT / "tests/conftest.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_expected_text_is_compared_and_refreshed(conftest: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "folder/kernel.txt"
    assert "+new" in conftest.compare(file, "new", update=False)
    assert not file.exists()
    assert conftest.compare(file, "new", update=True) == ""
    assert conftest.compare(file, "new\n", update=False) == ""
    difference = conftest.compare(file, "other", update=False)
    assert "-new" in difference and "+other" in difference


@pytest.mark.parametrize(("require", "outcome"), [("0", "1 skipped"), ("1", "1 error")])
def test_gpu_tests_without_a_gpu(require: str, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "cupy.py").write_text("raise ImportError('hidden')\n")
    test = "import pytest\n@pytest.mark.gpu\ndef test_on_gpu(): pass\n"
    (tmp_path / "test_it.py").write_text(test)
    settings = {"MYTRITON_REQUIRE_CUDA": require, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path,
        env=os.environ | settings,
        capture_output=True,
        text=True,
    )
    assert outcome in done.stdout, done.stdout
