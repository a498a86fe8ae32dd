"""What a checked launch finds, and how it reads.

error[undefined]: lane 232 of program (3, 0, 0) uses an undefined value: it is stored
  --> kernel.py:9 in add
   |
 9 |     tl.store(out + i, a + b)
   |     ^^^^^^^^^^^^^^^^^^^^^^^^
note: its mask is off in that lane, and without `other` the lane has no value
  --> kernel.py:7 in add
   |
 7 |     a = tl.load(x + i, mask=i < n)
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
help: give this load `other=`, or mask what uses it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import Location, Where

Index = tuple[int, int, int]


@dataclass(frozen=True)
class Note:
    """A second place that belongs to a finding: what is there, and where."""

    text: str
    where: Where


@dataclass(frozen=True)
class Finding:
    """One fault of a kernel.

    kind: "bounds", "undefined", "races", "overflow", "nan" or "order". message: what is wrong.
    where: the kernel line, innermost frame first. notes: other places. help: what to do. kernel:
    its name. program, lane: where in the launch; None where that has no meaning. array: the name of
    the argument, "" where there is none. cause: the place that findings with one cause have in
    common, where that is not `where`.
    """

    kind: str
    message: str
    where: Where
    notes: tuple[Note, ...] = ()
    help: str = ""
    kernel: str = ""
    program: Index | None = None
    lane: tuple[int, ...] | None = None
    array: str = ""
    cause: Where = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """What findings have in common that are told once: the place of the cause."""
        return self.kind, self.cause or self.where

    @property
    def places(self) -> tuple[Where, ...]:
        """The finding's own place and those of its notes."""
        return (self.where, *(note.where for note in self.notes))

    def is_suppressed(self) -> bool:
        """Whether a line that it names has a comment `# mytriton: ignore[kind]`."""
        lines = (frame.text for where in self.places for frame in where)
        return any(self.kind in ignored(line) for line in lines)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"error[{self.kind}]: {self.message}"
        yield from place_lines(self.where)
        for note in self.notes:
            yield f"note: {note.text}"
            yield from place_lines(note.where)
        if self.help:
            yield f"help: {self.help}"


IGNORE = re.compile(r"#\s*mytriton:\s*ignore(?:\[([\w\s,]*)\])?")
KINDS = ("bounds", "undefined", "races", "overflow", "nan", "order")


def ignored(line: str) -> frozenset[str]:
    """The kinds of findings that a comment on the line keeps quiet."""
    found = IGNORE.search(line)
    if found is None:
        return frozenset()
    names = found[1]
    return frozenset(KINDS if names is None else (name.strip() for name in names.split(",")))


def place_lines(where: Where) -> Iterator[str]:
    """A place as text: the line with a caret under its code, then who called."""
    if not where:
        yield "  --> (made by the compiler)"
        return
    yield f"  --> {where[0]}"
    yield from excerpt(where[0])
    for frame in where[1:]:
        yield f"  called from {frame}"


def excerpt(place: Location) -> Iterator[str]:
    """The source line with its number, its code underlined."""
    text = place.text
    if not text:
        return
    number = str(place.line)
    margin = " " * max(len(number), 3)
    code = re.sub(r"\s*#[^'\"]*$", "", text)
    yield f" {margin} |"
    yield f" {number:>{len(margin)}} | {text}"
    yield f" {margin} | {'^' * len(code)}"
