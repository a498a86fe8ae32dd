"""Running kernel code: the entry of a trace, and calls of jit functions inside it.

A jit function that kernel code calls is not compiled by itself: its rewritten body runs in place,
so its ops become part of the caller's. Read by `trace.py`, the runtime and the eager driver.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any

from ..errors import (
    CompileError,
    CompileTypeError,
    CompileValueError,
    KernelFault,
    Location,
    is_user_code,
    wrong_arguments,
)
from ..strict import refuse
from .python_errors import EXPLAINED, explained
from .rewritten import rewritten
from .signature import as_call, constexpr_argument, is_constexpr, signature

MAX_DEPTH = 100
"""How deep calls between jit functions may nest."""

_inlining: ContextVar[tuple[Any, ...]] = ContextVar("inlining", default=())
_reached: ContextVar[set[Any] | None] = ContextVar("reached", default=None)


@contextmanager
def recording() -> Iterator[set[Any]]:
    """Collects the functions that traces inside the `with` run."""
    reached: set[Any] = set()
    token = _reached.set(reached)
    try:
        yield reached
    finally:
        _reached.reset(token)


def _enter(stack: tuple[Any, ...]) -> Token[tuple[Any, ...]]:
    reached = _reached.get()
    if reached is not None:
        reached.add(stack[-1])
    return _inlining.set(stack)


def trace_entry(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Runs kernel code: frames inside this call that are not of the package are the kernel's."""
    positional, named = as_call(function, arguments)
    return function(*positional, **named)


def run(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Runs a rewritten kernel with the current builder; what goes wrong is a CompileError."""
    entered = _enter((function,))
    try:
        return trace_entry(rewritten(function), arguments)
    except KernelFault:
        raise
    except (AssertionError, KeyboardInterrupt):
        raise
    except Exception as error:
        if is_debugger_quit(error):
            raise
        made = _as_compile_error(error)
        raise made from (None if isinstance(error, EXPLAINED) and made is not error else error)
    finally:
        _inlining.reset(entered)


def is_debugger_quit(error: Exception) -> bool:
    """Whether the user has left a debugger by `quit`."""
    bdb = sys.modules.get("bdb")  # not loaded unless there is a debugger
    return bdb is not None and isinstance(error, bdb.BdbQuit)


def inline(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a jit function by kernel code: its body becomes part of the caller.

    Raises CompileTypeError where the arguments do not fit its parameters, CompileError for
    recursion that does not end while compiling.
    """
    stack = _inlining.get()
    if len(stack) >= MAX_DEPTH:
        raise _too_deep(function, stack)
    if function in stack:
        refuse(f"`{function.__name__}` calls itself", "a loop, or tl.static_range")
    form = signature(function)
    try:
        bound = form.bind(*args, **kwargs)
    except TypeError as error:
        text = wrong_arguments(error, form.parameters, kwargs)
        raise CompileTypeError(f"{function.__name__}(): {text}") from None
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        if is_constexpr(form.parameters[name]):
            bound.arguments[name] = constexpr_argument(value)
    entered = _enter((*stack, function))
    try:
        return rewritten(function)(*bound.args, **bound.kwargs)
    finally:
        _inlining.reset(entered)


def _too_deep(function: Callable[..., Any], stack: tuple[Any, ...]) -> CompileError:
    name, names = function.__name__, [active.__name__ for active in stack]
    if function not in stack:
        return CompileError(f"calls of jit functions nest deeper than {MAX_DEPTH}")
    last = len(stack) - 1 - stack[::-1].index(function)
    chain = " → ".join([*names[last:], name])
    return CompileError(
        f"{name} calls itself ({chain}), more than {MAX_DEPTH} calls deep: recursion has to end"
        " while the kernel is compiled, by an `if` on tl.constexpr arguments; on values that only"
        " the run knows use a loop"
    )


_KINDS: tuple[tuple[type[Exception], type[CompileError]], ...] = (
    (TypeError, CompileTypeError),
    (ValueError, CompileValueError),
)


def _as_compile_error(error: Exception) -> Exception:
    """A Python error of the kernel's own code as a CompileError at its line; others as they are."""
    frames = _kernel_frames(error.__traceback__)
    if not frames:
        return error
    where = tuple(
        Location(f.tb_frame.f_code.co_filename, f.tb_lineno, f.tb_frame.f_code.co_name)
        for f in frames
    )
    kind = next((made for given, made in _KINDS if isinstance(error, given)), CompileError)
    text = explained(error, frames[0].tb_frame, frames[0].tb_lineno)
    return kind(text, where).with_traceback(error.__traceback__)


def _kernel_frames(trace: TracebackType | None) -> list[TracebackType]:
    """The kernel frames of a traceback, innermost first."""
    frames: list[TracebackType] = []
    entered = False
    while trace is not None:
        code = trace.tb_frame.f_code
        if entered and is_user_code(code.co_filename):
            frames.append(trace)
        entered = entered or code.co_name == trace_entry.__name__
        trace = trace.tb_next
    return frames[::-1]
