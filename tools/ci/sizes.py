"""The size gate: small files, small functions, short lines.

The limits are what keeps a compiler readable in an evening: a file is one idea, a function one
screen. Code lines are the lines that are neither blank nor only a comment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tools.ci.source import Finding, python_files

FOLDERS = ("src", "tools", "benchmarks")
FILE_LINES = 450  # fewer code lines than this in a file
FUNCTION_LINES = 60  # at most this many in a function, from its def to its last line
COLUMNS = 100  # at most


def code_lines(text: str) -> int:
    """Count the lines that are neither blank nor only a comment."""
    lines = (line.strip() for line in text.splitlines())
    return sum(1 for line in lines if line and not line.startswith("#"))


def long_functions(path: Path, text: str) -> Iterator[Finding]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                message = f"{node.name} has {length} lines, {FUNCTION_LINES} are allowed"
                yield Finding(path, node.lineno, message)


def file_findings(path: Path, text: str) -> Iterator[Finding]:
    count = code_lines(text)
    if count >= FILE_LINES:
        yield Finding(path, 1, f"{count} code lines, fewer than {FILE_LINES} are allowed")
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS:
            yield Finding(path, number, f"{len(line)} columns, {COLUMNS} are allowed")
    yield from long_functions(path, text)


def check(root: Path) -> list[Finding]:
    """Return every file, function and line that is too long."""
    return [
        finding
        for file in python_files(root, *FOLDERS)
        for finding in file_findings(file.relative_to(root), file.read_text(encoding="utf-8"))
    ]
