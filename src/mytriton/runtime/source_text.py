"""A kernel's function made anew from a changed source text."""

from __future__ import annotations

import itertools
import linecache
from types import FunctionType
from typing import Any

from ..errors import CompileError

_numbers = itertools.count(1)


def function_from(fn: FunctionType, text: str) -> FunctionType:
    """The function that the text (a `def` of the name of `fn`) defines in the globals of `fn`.

    Its lines are kept where `inspect` and tracebacks look for them. Raises CompileError for text
    that defines no such function, and for closures, whose cells a text cannot name.
    """
    if fn.__closure__:
        raise CompileError(
            f"{fn.__name__} is a closure over {', '.join(fn.__code__.co_freevars)}: its source"
            " cannot be replaced; pass these as tl.constexpr arguments"
        )
    file = f"<{fn.__name__}, changed source {next(_numbers)}>"
    space: dict[str, Any] = {}
    try:
        exec(compile(text, file, "exec"), fn.__globals__, space)
    except SyntaxError as error:
        raise CompileError(f"the new source of {fn.__name__} is no Python: {error}") from None
    made = space.get(fn.__name__)
    if not isinstance(made, FunctionType):
        raise CompileError(f"the new source has no `def {fn.__name__}`")
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    made.__module__, made.__qualname__ = fn.__module__, fn.__qualname__
    return made
