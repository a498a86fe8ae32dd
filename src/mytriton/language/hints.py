"""What the user of a kernel probably meant: the end of an error message.

Everything here is called when an error is being made, so it may look at the user's own frame: the
line, and what the names in it stand for.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..errors import TRACE_ENTRY, CompileTypeError, is_user_code, source_line

_ALIASES = {
    "absolute": "abs", "amax": "max", "amin": "min", "arange": "arange", "arccos": "acos",
    "arcsin": "asin", "arctan": "atan", "clip": "clamp", "concatenate": "cat", "fabs": "abs",
    "matmul": "dot", "power": "pow", "transpose": "trans",
}  # fmt: skip
"""NumPy's and math's names of what the language calls otherwise."""

_COMPREHENSION = re.compile(r"[\[({].*\bfor\b.+\bin\b")
_PRINTS = re.compile(r"(?<!static_)print\(.*\bf[\"']")
_CALL = re.compile(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)\s*\(")


def kernel_frames() -> list[FrameType]:
    """The kernel's frames on the Python stack, innermost first; none outside a trace."""
    frames = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != TRACE_ENTRY:
        if is_user_code(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames if frame is not None else []


def called(frame: FrameType, line: int | None = None) -> Iterator[tuple[str, Any]]:
    """The calls on a line of a frame: their text, as `np.exp`, and the function."""
    for found in _CALL.finditer(source_line(frame, line)):
        first, *rest = found[1].split(".")
        value = frame.f_locals.get(first, frame.f_globals.get(first))
        for name in rest:
            value = getattr(value, name, None)
        if value is not None:
            yield found[1], value


def instead_of(name: str) -> str:
    """The language's function for one of NumPy or math: "use tl.exp"; '' where there is none."""
    name = _ALIASES.get(name, name)
    language = importlib.import_module(__package__)
    if callable(getattr(language, name, None)):
        return f"use tl.{name}"
    if callable(getattr(language.extra.libdevice, name, None)):
        return f"use tl.extra.libdevice.{name}"
    return "use the functions of tl and tl.math"


def foreign_call(frame: FrameType, line: int | None = None) -> str:
    """What to write for the call of NumPy or math on the line; '' where there is none."""
    for text, function in called(frame, line):
        module = getattr(function, "__module__", None) or type(function).__module__
        if module.split(".")[0] in ("math", "numpy"):
            return (
                f"{text} works on numbers and arrays, not on tensors: {instead_of(_name(function))}"
            )
    return ""


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", ""))


# -- values that only the run knows


def subject(value: Any) -> str:
    """A run-time value in words: an argument by its name."""
    name = argument_name(value)
    if name:
        return f"`{name}`, an argument of type {value.type} known only at run time,"
    return f"a value of type {value.type}, known only at run time,"


def argument_name(value: Any) -> str:
    """The name of the kernel's parameter whose value this is; '' for any other value."""
    name = getattr(value.handle, "name", "")
    frames = kernel_frames()
    if not name or not frames:
        return ""
    code = frames[-1].f_code
    return name if name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] else ""


def as_constexpr(value: Any) -> str:
    """How to make a run-time value known."""
    name = argument_name(value)
    return f"annotate its parameter `{name}: tl.constexpr`" if name else "make it a tl.constexpr"


def python_value(value: Any, use: str) -> str:
    """What to do where Python asks a run-time value for a number or a truth."""
    frames = kernel_frames()
    if frames and not source_line(frames[0]):
        return (
            f"the source text of `{frames[0].f_code.co_name}` cannot be had, so a run-time `if` or"
            " loop in it cannot be compiled: put the kernel in a file"
        )
    line = source_line(frames[0]) if frames else ""
    if use == "a Python int" and _COMPREHENSION.search(line):
        return (
            "a comprehension runs while the kernel is compiled, so what it runs over must be known:"
            f" write a `for` loop, or {as_constexpr(value)}"
        )
    if use == "a Python float" and frames and (call := foreign_call(frames[0])):
        return call
    return f"for element-wise conditions use &, |, ~ and tl.where; else {as_constexpr(value)}"


def refuse_text(value: Any) -> None:
    """Raises CompileTypeError where a run-time value is put into an f-string to be printed."""
    frames = kernel_frames()
    line = source_line(frames[0]) if frames else ""
    if _PRINTS.search(line):
        raise CompileTypeError(
            f"{subject(value)} has no text while the kernel is compiled; give it to print as an"
            ' argument, print("x =", x), instead of in an f-string'
        )


# -- helpers that return nothing


def returned_nothing(frame: FrameType | None = None, line: int | None = None) -> str:
    """Names the functions that return nothing and are called on the line, or where a name of the
    line that holds None was assigned: "; `f` returns nothing"."""
    frames = [frame] if frame else kernel_frames()
    if not frames:
        return ""
    lines = [line or frames[0].f_lineno]
    lines += _assignments_of_none(frames[0], lines[0])
    calls = (call for number in lines for call in called(frames[0], number))
    silent = dict.fromkeys(text for text, function in calls if _is_silent(function))
    return "".join(f"; `{text}` returns nothing: it has no `return`" for text in silent)


def _assignments_of_none(frame: FrameType, line: int) -> Iterator[int]:
    """For each name on the line that holds None, the last line before that assigns it."""
    for name in set(re.findall(r"[^\W\d]\w*", source_line(frame, line))):
        if frame.f_locals.get(name, "") is not None:
            continue
        assigns = re.compile(rf"{name}\s*=(?!=)")
        before = range(line - 1, frame.f_code.co_firstlineno, -1)
        yield from [n for n in before if assigns.match(source_line(frame, n))][:1]


def _is_silent(function: Any) -> bool:
    """Whether a function of the user's has no `return` with a value."""
    function = getattr(function, "fn", function)
    if not inspect.isfunction(function) or not is_user_code(function.__code__.co_filename):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return False
    returns = (n for n in ast.walk(tree) if isinstance(n, (ast.Return, ast.Yield, ast.Lambda)))
    return not any(not isinstance(n, ast.Return) or n.value is not None for n in returns)


__all__ = [
    "argument_name", "as_constexpr", "called", "foreign_call", "instead_of", "kernel_frames",
    "python_value", "returned_nothing", "subject",
]  # fmt: skip
