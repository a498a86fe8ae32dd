"""PTX and SASS whose lines know the line of the CUDA text that they came from.

NVRTC's `-lineinfo` names, before the instructions of a line, the line; where a function was inlined
its own line and that of the call (PTX ISA, "Debugging Directives: .loc"; nvdisasm prints the same
of machine code as comments). The line that is kept is the one in the kernel itself, so what the
prelude's functions become counts as their call. Line information changes no instruction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Located = list[tuple[str, int]]
"""Lines, each with the line of the CUDA text that it came from, from 1; 0 where it has none."""

LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)\s+\d+(?:.*inlined_at\s+\d+\s+(\d+))?")
DEBUG_PTX = re.compile(r"\s*\.(?:file\s+\d|section\s+\.debug_)")
COMMENT = re.compile(r'\s*//## File "[^"]*", line (\d+)( inlined at "[^"]*", line (\d+))?')
SASS_CODE = re.compile(r"\s+(/\*[0-9a-f]{4,}\*/)\s+(@!?\w+)?\s*(.*?)\s*$")


def ptx_lines(text: str, is_kernel: Callable[[int], bool]) -> Located:
    """The lines of PTX without debug information. is_kernel: whether a line of the CUDA text is in
    the kernel, not in the prelude."""
    return list(_ptx(text, is_kernel))


def _ptx(text: str, is_kernel: Callable[[int], bool]) -> Iterator[tuple[str, int]]:
    current = 0
    for line in text.splitlines():
        found = LOC.match(line)
        if found:
            named = [int(number) for number in found.groups() if number]
            current = next(filter(is_kernel, named), current)
        elif DEBUG_PTX.match(line):
            if ".section" in line:
                return  # what follows is debug information to the end
        else:
            is_code = line[:1] == "\t" and not line.lstrip().startswith((".", "//"))
            yield line, current if is_code else 0


def _compact(code: re.Match[str]) -> str:
    """An instruction without the room that is left for wide ones: address, predicate, the rest."""
    address, predicate, instruction = code.groups(default="")
    return f"    {address} {predicate:6}{instruction}"


def sass_lines(text: str, is_kernel: Callable[[int], bool]) -> Located:
    """The lines of disassembled machine code (`nvdisasm -gi`) without those comments."""
    return list(_sass(text, is_kernel))


def _sass(text: str, is_kernel: Callable[[int], bool]) -> Iterator[tuple[str, int]]:
    current, fresh = 0, False
    for line in text.splitlines():
        found = COMMENT.match(line)
        if found is None:
            fresh = False
            code = SASS_CODE.match(line)
            yield (_compact(code) if code else line.rstrip()), current if code else 0
            continue
        named = [int(number) for number in (found[1], found[3]) if number]
        inside = next(filter(is_kernel, named), None)
        if inside is not None and not fresh:
            current, fresh = inside, True
