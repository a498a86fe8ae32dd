"""The lines of a kernel's body: indentation, blocks, unrolled loops, comments and `#line`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ....errors import Where

WIDTH = 96
"""A loop of one statement stands on one line up to this many columns."""


@dataclass(frozen=True)
class Line:
    """A line of text, and the kernel lines that it came from."""

    text: str
    where: Where = ()


@dataclass(frozen=True)
class Hole:
    """A place among the lines that is filled later: what a loop's body finds to stand before it."""

    lines: list[Line | Hole]
    depth: int
    place: tuple[str, int]
    """The file and line that a `#line` before it says."""


def flattened(lines: Sequence[Line | Hole]) -> list[Line]:
    """The lines with those of the holes in their places."""
    flat: list[Line] = []
    for line in lines:
        if isinstance(line, Line):
            flat.append(line)
            continue
        filled = flattened(line.lines)
        flat += filled
        if line.place[0] and any(inner.text.startswith("#line") for inner in filled):
            flat.append(Line(directive(*line.place)))
    return flat


def directive(file: str, line: int) -> str:
    """The `#line` of a kernel line."""
    escaped = file.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{escaped}"'


class Printer:
    """Collects lines. A heading (a comment, a `#line`) is printed before the next line put.

    where: the kernel lines that the lines put next come from.
    """

    def __init__(self) -> None:
        self.lines: list[Line | Hole] = []
        self.where: Where = ()
        self.depth = 1
        self.heading: tuple[str, ...] = ()
        self._place: tuple[str, int] = ("", 0)

    def put(self, line: str) -> None:
        """Adds a line at the current depth."""
        self.flush()
        self._add("    " * self.depth + line)

    def _add(self, line: str) -> None:
        self.lines.append(Line(line, self.where))

    def flush(self) -> None:
        """Prints the heading that waits, if any."""
        waiting, self.heading = self.heading, ()
        for line in waiting:
            self._add(line if line.startswith("#") else "    " * self.depth + line)

    @contextmanager
    def headed(self, lines: tuple[str, ...], where: Where = ()) -> Iterator[None]:
        """What is put inside stands under these lines, which are printed even if nothing is, and
        comes from these kernel lines."""
        before, self.heading = (self.heading, self.where), lines
        self.where = where
        yield
        self.flush()
        self.heading, self.where = before

    def place(self, where: Where) -> tuple[str, ...]:
        """The `#line` of a kernel line, where it differs from the one before."""
        if not where or (where[0].file, where[0].line) == self._place:
            return ()
        self._place = where[0].file, where[0].line
        return (directive(*self._place),)

    def hole(self) -> Hole:
        """A place here for lines that come later."""
        self.flush()
        hole = Hole([], self.depth, self._place)
        self.lines.append(hole)
        return hole

    @contextmanager
    def inside(self, hole: Hole) -> Iterator[None]:
        """What is put goes to the end of the hole."""
        before = self.lines, self.depth, self.heading, self._place
        self.lines, self.depth, self.heading, self._place = hole.lines, hole.depth, (), ("", 0)
        yield
        self.flush()
        self.lines, self.depth, self.heading, self._place = before

    @contextmanager
    def block(self, head: str, close: bool = True) -> Iterator[None]:
        """What is put inside stands indented between `head {` and `}`."""
        self.put(f"{head} {{".lstrip())
        self.depth += 1
        yield
        self.depth -= 1
        if close:
            self.put("}")

    @contextmanager
    def loop(self, count: int, variable: str = "r", step: int = 1) -> Iterator[str]:
        """An unrolled loop; a single short statement in it stands on the loop's own line."""
        self.put("#pragma unroll")
        advance = f"{variable}++" if step == 1 else f"{variable} += {step}"
        head = f"for (int {variable} = 0; {variable} < {count}; {advance})"
        self.put(f"{head} {{")
        start = len(self.lines)
        self.depth += 1
        yield variable
        self.depth -= 1
        inside = self.lines[start:]
        only = inside[0] if len(inside) == 1 else None
        single = only.text.strip() if isinstance(only, Line) else "#"
        text = f"{head} {single}"
        if not single.startswith(("#", "//")) and len(text) + 4 * self.depth <= WIDTH:
            del self.lines[start - 1 :]
            self.put(text)
        else:
            self.put("}")
