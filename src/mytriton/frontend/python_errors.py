"""Python's own errors in kernel code, in the words of someone who writes kernels.

A wrong name, attribute or argument is noticed by Python while the kernel's line runs. `explained`
turns what Python says into what was given and what was probably meant.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from .. import language
from ..errors import did_you_mean
from ..ir.types import PointerType
from ..language import hints
from ..language.tensor import tensor

_OF_ARRAYS = frozenset({"device", "dim", "ndim", "nbytes", "size", "stride", "strides"})
"""What an array has and a pointer does not."""


def explained(error: Exception, frame: FrameType, line: int) -> str:
    """The message for an error that Python raised at a line of kernel code."""
    for kind, explain in _EXPLAIN.items():
        if isinstance(error, kind):
            return explain(error, frame, line)
    return f"{type(error).__name__}: {error}"


def _attribute(error: AttributeError, frame: FrameType, line: int) -> str:
    owner, name = error.obj, error.name
    if name is None:
        return f"AttributeError: {error}"
    if owner is None:
        return f"None has no attribute `{name}`{hints.returned_nothing(frame, line)}"
    if isinstance(owner, ModuleType):
        called = _module_name(owner, frame)
        return f"{called} has no `{name}`{did_you_mean(name, dir(owner), f'{called}.')}"
    if isinstance(owner, tensor) and isinstance(owner.type, PointerType) and name in _OF_ARRAYS:
        return (
            f"a pointer ({owner.type}) has no `{name}`: a kernel is given an array's address alone;"
            " pass its sizes and strides as arguments"
        )
    kind = "a tensor" if isinstance(owner, tensor) else f"`{type(owner).__name__}`"
    meant = did_you_mean(name, dir(owner))
    if not meant and isinstance(owner, tensor) and callable(getattr(language, name, None)):
        meant = f"; there is the function `tl.{name}`"
    return f"{kind} has no attribute `{name}`{meant}"


def _module_name(module: ModuleType, frame: FrameType) -> str:
    """A module as the kernel calls it: `tl.math`."""
    known = {**frame.f_globals, **frame.f_locals}
    names = {id(value): name for name, value in known.items() if isinstance(value, ModuleType)}
    if id(module) in names:
        return names[id(module)]
    return module.__name__.replace(language.__name__, "tl")


def _name(error: NameError, frame: FrameType, line: int) -> str:
    name = error.name or str(error).split("'")[1]
    if callable(getattr(language, name, None)):
        return f"name `{name}` is not defined; did you mean `tl.{name}`?"
    known = [*frame.f_locals, *frame.f_globals, *dir(builtins)]
    return f"name `{name}` is not defined{did_you_mean(name, known)}"


def _type(error: TypeError, frame: FrameType, line: int) -> str:
    text = f"TypeError: {error}"
    if "does not support ufuncs" in str(error):
        return hints.foreign_call(frame, line) or text
    return text + (hints.returned_nothing(frame, line) if "NoneType" in str(error) else "")


_EXPLAIN: dict[type[Exception], Callable[[Any, FrameType, int], str]] = {
    AttributeError: _attribute,
    NameError: _name,
    TypeError: _type,
}
EXPLAINED = tuple(_EXPLAIN)
"""The kinds of Python error of which the message says all."""
