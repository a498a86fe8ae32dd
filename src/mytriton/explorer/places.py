"""Kernel lines: the call stacks that ops remember, numbered, and the sources that they are in.

A source is the part of a file that a page shows: the function that a frame is in, found by parsing
the file as it was loaded. Where a file cannot be had or parsed, the source is the lines that frames
name.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import Location, Where
from .document import Frame, Source


@dataclass
class Places:
    """Numbers places as they are met. Sources are found at the end, when all frames are known."""

    numbers: dict[Where, int] = field(default_factory=dict)

    def of(self, where: Where) -> int:
        """The number of a place; -1 of none."""
        if not where:
            return -1
        return self.numbers.setdefault(where, len(self.numbers))

    def each(self, wheres: Iterable[Where]) -> tuple[int, ...]:
        return tuple(map(self.of, wheres))

    def resolved(
        self, kernel: Callable[..., Any]
    ) -> tuple[tuple[Source, ...], tuple[tuple[Frame, ...], ...]]:
        """The sources, the kernel's own first, and the places in their terms."""
        finder = _Finder()
        code = kernel.__code__
        finder.source(Location(code.co_filename, code.co_firstlineno, code.co_name))
        places = tuple(
            tuple(Frame(finder.source(at), at.line, at.function) for at in where)
            for where in self.numbers
        )
        return tuple(finder.sources()), places


class _Finder:
    """Finds the function around a line, each file parsed once."""

    def __init__(self) -> None:
        self.functions: dict[str, list[tuple[int, int, str]]] = {}
        self.found: dict[tuple[str, int, int, str], int] = {}

    def source(self, at: Location) -> int:
        """The number of the source that a location is in."""
        if at.file not in self.functions:
            self.functions[at.file] = list(_functions(linecache.getlines(at.file)))
        around = [f for f in self.functions[at.file] if f[0] <= at.line <= f[1]]
        # Of nested functions the outermost, so that a helper defined inside stands in its place.
        first, last, name = around[0] if around else (at.line, at.line, at.function)
        return self.found.setdefault((at.file, first, last, name), len(self.found))

    def sources(self) -> Iterator[Source]:
        for file, first, last, name in self.found:
            lines = linecache.getlines(file)[first - 1 : last]
            texts = tuple(line.rstrip("\n") for line in lines) or ("",) * (last - first + 1)
            yield Source(shown_path(file), name, first, texts)


def _functions(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """The first and last line and the name of each function, decorators included, outer ones
    before those inside."""
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield first, node.end_lineno or node.lineno, node.name


def shown_path(file: str) -> str:
    """A path as a page shows it: from the current folder on, where it is inside."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file
