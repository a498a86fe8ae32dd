"""What goes wrong in a user's kernel, and where.

A `KernelFault` is either a `CompileError`, raised before anything runs, or a `KernelError`, found
while a kernel ran. It is raised while the user's own line is on the Python stack, so the
traceback's last frame outside this package is the wrong line; `user_stack` reads the same frames
for the IR's `where`.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterable
from itertools import groupby
from types import FrameType
from typing import NamedTuple

PACKAGE = os.path.dirname(__file__) + os.sep
TRACE_ENTRY = "trace_entry"
"""Name of the one function of this package below which every frame outside the package is kernel
code."""


def is_user_code(filename: str) -> bool:
    """Whether code of that file is the user's rather than this package's own."""
    return not filename.startswith(PACKAGE)


def has_text(filename: str) -> bool:
    """Whether the lines that `linecache` has under a name are those of the code of that name: many
    texts are called `<string>`, and Python 3.13 keeps that of `python -c` under it."""
    return filename not in ("<string>", "<stdin>")


def source_line(frame: FrameType, line: int | None = None) -> str:
    """The line a frame is at (or another of its file), stripped; '' where it cannot be had."""
    number, file = frame.f_lineno if line is None else line, frame.f_code.co_filename
    return linecache.getline(file, number, frame.f_globals).strip() if has_text(file) else ""


class Location(NamedTuple):
    """One frame of kernel code: the file, the 1-based line and the function's name."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"

    @property
    def text(self) -> str:
        """The source line itself, stripped; empty where the source cannot be had."""
        return linecache.getline(self.file, self.line).strip() if has_text(self.file) else ""


Where = tuple[Location, ...]
"""The inlining stack of an op, innermost frame first; empty for ops made by a pass or a test."""


def user_stack() -> Where:
    """The kernel frames of the current Python stack, innermost first; empty outside a trace."""
    frames: list[Location] = []
    frame: FrameType | None = sys._getframe(1)
    package = PACKAGE  # this runs for every op: `is_user_code` in place
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(package):
            frames.append(Location(code.co_filename, frame.f_lineno, code.co_name))
        elif code.co_name == TRACE_ENTRY:
            return tuple(frames)
        frame = frame.f_back
    return ()


def describe(where: Where) -> str:
    """Lines that say where: the innermost kernel line with its source, then who called it."""
    if not where:
        return ""
    lines = [f"  at {where[0]}"]
    if where[0].text:
        lines.append(f"    {where[0].text}")
    for frame, repeated in groupby(where[1:]):
        times = len(list(repeated))
        lines.append(f"  called from {frame}" + (f", {times} times" if times > 1 else ""))
    return "\n".join(lines)


def did_you_mean(name: str, names: Iterable[str], prefix: str = "") -> str:
    """The end of a message about a name that is not one of `names`: "; did you mean `x`?", or ''.

    prefix: what stands before a name, as `tl.`.
    """
    from difflib import get_close_matches

    public = sorted({n for n in names if name.startswith("_") or not n.startswith("_")})
    close = get_close_matches(name, public, n=1, cutoff=0.65)
    return f"; did you mean `{prefix}{close[0]}`?" if close else ""


def wrong_arguments(error: TypeError, names: Iterable[str], given: Iterable[str] = ()) -> str:
    """Python's message about arguments that do not fit a function of these parameters, with the
    parameter that was probably meant or, if none is close, all of them.

    given: the keywords of the call; one that is no parameter comes before anything missing.
    """
    text, known = re.sub(r"\. Did you mean .*", "", str(error)), list(names)
    unknown = [name for name in given if name not in known]
    if unknown:
        head = re.match(r"\w+\(\) ", text)
        text = f"{head[0] if head else ''}got an unexpected keyword argument '{unknown[0]}'"
        text += did_you_mean(unknown[0], known)
    if text.endswith("?"):
        return text
    return f"{text}; the parameters are ({', '.join(known)})"


class KernelFault(Exception):
    """Anything wrong with a kernel or a launch: what was given, what is allowed, what to do, and
    the kernel's line.

    `message` is the text without the place; `where` the kernel frames, innermost first.
    """

    def __init__(self, message: str, where: Where | None = None) -> None:
        self.message = message
        self.where = user_stack() if where is None else where
        place = describe(self.where)
        super().__init__(f"{message}\n{place}" if place else message)


class CompileError(KernelFault):
    """A kernel, a launch or an argument that is refused before anything runs."""


class CompileTypeError(CompileError, TypeError):
    """A value or argument of a type that is not allowed there."""


class CompileValueError(CompileError, ValueError):
    """A value that is not allowed there, or a kernel that a target cannot lower."""


class OutOfResources(CompileValueError):
    """A kernel that needs more of something than the device has: `required`, `limit`, and the
    `name` of the resource."""

    def __init__(
        self, required: int, limit: int, name: str, message: str = "", where: Where | None = None
    ) -> None:
        self.required, self.limit, self.name = required, limit, name
        text = f"out of resource: {name}, required: {required}, limit: {limit}"
        super().__init__(f"{message} ({text})" if message else text, where)

    def __reduce__(self) -> tuple[type, tuple[int, int, str]]:
        return type(self), (self.required, self.limit, self.name)


class KernelError(KernelFault, RuntimeError):
    """A fault found while a kernel ran; it names the program and, for a block, the lane."""


class KernelMemoryError(KernelError, IndexError):
    """An access by a masked-on lane to memory that belongs to no argument, or that may not be
    written."""


class KernelRaceError(KernelError):
    """Two accesses of the same memory, one of them a write, that nothing orders."""


class KernelAssertionError(KernelError, AssertionError):
    """A `tl.device_assert` or `tl.assume` that does not hold."""
