"""Fenced code blocks of a Markdown file, and how the promises they make are kept.

A reader types what a page shows, so every block of these languages is run:

- `python`: all blocks of a page are one program, run from the repository's root. Line N of the
  program is line N of the page, so a traceback (and a kernel's error) names the page's line.
- `output`: what the `python` block before it prints.
- `console`: `$ command` lines (a trailing backslash continues them), each followed by all that it
  prints. A command must succeed, unless it ends in `# exit N`.

In expected text a line `...` stands for any number of lines, and `…` for any text inside a line.
`<!-- not run: reason -->` on the line before a fence leaves that block out. Languages that only
show something (`text`, `cuda`, …) and MyST's directives (`{include}`) are not run; those that
look as if they could be are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUN = ("python", "output", "console")
REFUSED = ("", "py", "py3", "python3", "pycon", "sh", "bash", "shell", "zsh", "shell-session")

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})\s*(?P<language>\{?[\w+-]*)[^`]*$")
NOT_RUN = re.compile(r"<!--\s*not run:\s*(?P<reason>\S.*?)\s*-->\s*$")
EXIT = re.compile(r"#\s*exit (?P<status>\d+)\s*$")


@dataclass(frozen=True)
class Block:
    """One fenced block: its opening fence's line (1-based), its language and its lines."""

    path: Path
    line: int
    language: str
    lines: tuple[str, ...]
    not_run: str | None = None  # the reason

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True)
class Command:
    """One `$ command` of a console block, with what it must print and its exit status."""

    line: int
    text: str
    expected: str

    @property
    def status(self) -> int:
        found = EXIT.search(self.text)
        return int(found["status"]) if found else 0


def blocks(path: Path, text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        opening = FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        end = closing_fence(path, lines, number, opening["fence"])
        indent = len(opening["indent"])
        body = tuple(line[min(indent, leading(line)) :] for line in lines[number + 1 : end])
        reason = NOT_RUN.search(lines[number - 1]) if number else None
        yield Block(path, number + 1, opening["language"], body, reason and reason["reason"])
        number = end + 1


def leading(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def closing_fence(path: Path, lines: list[str], start: int, fence: str) -> int:
    for number in range(start + 1, len(lines)):
        line = lines[number].strip()
        if line and not line.strip(fence[0]) and len(line) >= len(fence):
            return number
    raise ValueError(f"{path}:{start + 1}: this block is never closed")


def program(page: list[Block]) -> str:
    """Return the page's python blocks as one program with the page's own line numbers.

    The line of a block's closing fence prints a marker (see `outputs`).
    """
    lines: dict[int, str] = {}
    for block in page:
        lines.update(enumerate(block.lines, block.line + 1))
        lines[block.line + len(block.lines) + 1] = f"print({marker(block)!r}, flush=True)"
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1)) + "\n"


def marker(block: Block) -> str:
    return f"\x1eend of block {block.line}\x1e"


def outputs(page: list[Block], printed: str) -> dict[int, str]:
    """Split what a program printed: the line of each of its blocks, to that block's part."""
    found = {}
    for block in page:
        part, _, printed = printed.partition(marker(block) + "\n")
        found[block.line] = part
    return found


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a console block."""
    starts = [i for i, line in enumerate(block.lines) if line.startswith("$ ")]
    if starts[:1] != [0]:
        raise ValueError(f"{block.path}:{block.line}: a console block starts with `$ command`")
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        split = start + 1
        while block.lines[split - 1].endswith("\\"):
            split += 1
        text = "\n".join(block.lines[start:split])[2:].replace("\n> ", "\n")
        yield Command(block.line + 1 + start, text, "\n".join(block.lines[split:end]))


def matches(expected: str, actual: str) -> bool:
    """Compare to the letter, but for the wildcards and for blanks at the end of a line."""
    pattern = "".join(line_pattern(line.rstrip()) for line in expected.rstrip().splitlines())
    lines = "".join(line.rstrip() + "\n" for line in actual.rstrip().splitlines())
    return re.fullmatch(pattern, lines) is not None


def line_pattern(line: str) -> str:
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    return ".*?".join(re.escape(part) for part in line.split("…")) + r"\n"
