"""What the gates look at: the project's Python files, and what a gate reports of one.

A gate is a function from the repository's root to findings. It needs nothing but the standard
library, so the gates run before anything is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Finding:
    """One broken rule, at one line (1-based) of one file (relative to the root)."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path.as_posix()}:{self.line}: {self.message}"


Gate = Callable[[Path], list[Finding]]


def python_files(root: Path, *folders: str) -> Iterator[Path]:
    """Yield the Python files below the named folders of root, in a stable order."""
    for folder in folders:
        yield from sorted((root / folder).rglob("*.py"))
