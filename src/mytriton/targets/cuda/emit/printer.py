"""The lines of a kernel's body: indentation, blocks, unrolled loops, comments and `#line`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ....errors import Where

WIDTH = 96
"""A loop of one statement stands on one line up to this many columns."""


class Printer:
    """Collects lines. A heading (a comment, a `#line`) is printed before the next line put.

    places: for each line the kernel lines that it came from. where: those of the lines put next.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[Where] = []
        self.where: Where = ()
        self.depth = 1
        self.heading: tuple[str, ...] = ()
        self._place: tuple[str, int] = ("", 0)

    def put(self, line: str) -> None:
        """Adds a line at the current depth."""
        self.flush()
        self._add("    " * self.depth + line)

    def _add(self, line: str) -> None:
        self.lines.append(line)
        self.places.append(self.where)

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
        file = where[0].file.replace("\\", "\\\\").replace('"', '\\"')
        return (f'#line {where[0].line} "{file}"',)

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
        single = len(inside) == 1 and not inside[0].lstrip().startswith(("#", "//"))
        text = f"{head} {inside[0].strip()}" if single else ""
        if single and len(text) + 4 * self.depth <= WIDTH:
            del self.lines[start - 1 :], self.places[start - 1 :]
            self.put(text)
        else:
            self.put("}")
