"""The sanitizer from outside: the command, the environment, pytest, and what is written for CI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import mytriton as triton
import mytriton.language as tl

@triton.jit
def double(value):
    return value * 2

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, double(value))

def test_kernel():
    x, out = np.ones(100, np.float32), np.zeros(128, np.float32)
    for _ in range(2):
        kernel[(1,)](x, out, 100, BLOCK=128)
    assert out[0] == 2

test_kernel()
print("done")
"""
LOAD, STORE = 13, 14


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "MYTRITON_TARGET": "cpu", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_command(program: Path) -> None:
    clean = run("-m", "mytriton", "run", "--sanitize=races,nan", program)
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "done\n", "")
    done = run("-m", "mytriton", "run", "--sanitize", program)
    assert done.returncode == 1
    assert done.stdout == "done\n"
    assert done.stderr.count("error[") == 1
    assert f"{program}:{STORE} in kernel" in done.stderr
    assert f"{program}:{LOAD} in kernel" in done.stderr
    assert done.stderr.endswith("mytriton: 1 fault found: 1 undefined\n")


def test_the_environment(program: Path) -> None:
    done = run(program, MYTRITON_SANITIZE="undefined")
    assert done.returncode == 0
    assert done.stderr.count("error[undefined]") == 1
    assert not run(program, MYTRITON_SANITIZE="0").stderr
    refused = run(program, MYTRITON_SANITIZE="undefned")
    assert "did you mean `undefined`" in refused.stderr


def test_json(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    run("-m", "mytriton", "run", "--sanitize", "--findings", file, program)
    document = json.loads(file.read_text())
    (finding,) = document["findings"]
    assert document["version"] == 1
    assert finding["kind"] == "undefined"
    assert finding["program"] == [0, 0, 0]
    assert finding["lane"] == [100]
    assert finding["count"] == 2
    assert finding["where"] == [{"file": str(program), "line": STORE, "function": "kernel"}]
    assert finding["notes"][0]["where"][0]["line"] == LOAD


def test_sarif(program: Path, tmp_path: Path) -> None:
    """The properties that the standard requires, and the places."""
    file = tmp_path / "found.sarif"
    run("-m", "mytriton", "run", "--sanitize", "--findings", file, program)
    log = json.loads(file.read_text())
    assert log["version"] == "2.1.0"
    (one,) = log["runs"]
    driver = one["tool"]["driver"]
    assert driver["name"] == "mytriton"
    (result,) = one["results"]
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "undefined"
    assert result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == program.as_uri()
    assert place["region"]["startLine"] == STORE
    related = result["relatedLocations"][0]
    assert related["physicalLocation"]["region"]["startLine"] == LOAD
    assert "mask" in related["message"]["text"]


def test_another_format_is_refused(program: Path) -> None:
    done = run("-m", "mytriton", "run", "--sanitize", "--findings", "found.xml", program)
    assert done.returncode == 1
    assert "*.json or *.sarif" in done.stderr
    assert "done" not in done.stdout


def test_pytest(program: Path) -> None:
    test = program.with_name("test_program.py")
    test.write_text(PROGRAM.replace('\ntest_kernel()\nprint("done")\n', ""))
    plain = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mytriton.tools.pytest_plugin")
    assert run(*plain, test).returncode == 0
    assert run(*plain, "--mytriton-sanitize-kinds=races", test).returncode == 0
    done = run(*plain, "--mytriton-sanitize", test)
    assert done.returncode == 1
    assert "error[undefined]" in done.stdout
    assert f"{test}:{STORE} in kernel" in done.stdout
