"""The hygiene gate holds for what is committed, and finds machine paths and large binaries."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.ci import hygiene
from tools.ci.source import ROOT


def test_this_tree() -> None:
    assert [str(finding) for finding in hygiene.check(ROOT)] == []


def count(content: bytes) -> int:
    return len(list(hygiene.file_findings(Path("file"), content)))


@pytest.mark.parametrize("folder", ["work", "root", "home"])
def test_machine_paths(folder: str) -> None:
    path = f"/{folder}/"
    assert count(f'x = "{path}main"'.encode()) == 1
    assert count(f"file:/{path}main\nfine\n{path}".encode()) == 2
    assert count(f"src{path}main and ..{path}main and ~{path}".encode()) == 0


def test_binaries() -> None:
    assert count(b"\0" * hygiene.BINARY_BYTES) == 0
    assert count(b"\0" * (hygiene.BINARY_BYTES + 1)) == 1
    assert count(b"a" * (hygiene.BINARY_BYTES + 1)) == 0
