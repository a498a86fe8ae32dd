"""The size gate holds for this tree, and finds what is too long."""

from __future__ import annotations

from pathlib import Path

from tools.ci import sizes
from tools.ci.source import ROOT


def test_this_tree() -> None:
    assert [str(finding) for finding in sizes.check(ROOT)] == []


def messages(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "src/file.py").write_text(text)
    return [str(finding) for finding in sizes.check(tmp_path)]


def test_code_lines_are_neither_blank_nor_comments(tmp_path: Path) -> None:
    filler = "\n# comment\n" * 500
    assert messages(tmp_path, "x = 1\n" * 449 + filler) == []
    assert messages(tmp_path, "x = 1\n" * 450) == [
        "src/file.py:1: 450 code lines, fewer than 450 are allowed"
    ]


def test_functions(tmp_path: Path) -> None:
    assert messages(tmp_path, "def f():\n" + "    pass\n" * 59) == []
    assert messages(tmp_path, "class C:\n  async def f():\n" + "    pass\n" * 60) == [
        "src/file.py:2: f has 61 lines, 60 are allowed"
    ]


def test_columns(tmp_path: Path) -> None:
    assert messages(tmp_path, f"x = '{'a' * 94}'\n") == []
    assert messages(tmp_path, f"x = '{'a' * 95}'\n") == [
        "src/file.py:1: 101 columns, 100 are allowed"
    ]
