"""Tracing: running a kernel's rewritten source on symbolic values.

One idea: there is no visitor of Python. The kernel runs; the tensors it computes with record what
is done to them in the current builder. `trace_entry` is the frame below which every frame outside
this package is kernel code.

    trace(add_kernel, {"x": PointerType(F32), "n": I32, "BLOCK": 256})   →  Function
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any

from ..errors import (
    PACKAGE,
    CompileError,
    CompileTypeError,
    CompileValueError,
    Location,
    Where,
)
from ..ir.build import Builder, current, using
from ..ir.nodes import Function, Param
from ..ir.types import Element, Type, parse_type
from ..language.constexpr import const, constexpr, unwrap
from ..language.tensor import tensor

MAX_DEPTH = 100
"""How deep calls between jit functions may nest."""

_inlining: ContextVar[tuple[Any, ...]] = ContextVar("inlining", default=())
_reached: ContextVar[set[Any] | None] = ContextVar("reached", default=None)


@dataclass(frozen=True)
class Constexpr:
    """Marks a value of `arguments` as known, whatever it is (a dtype, say)."""

    value: Any


def trace_entry(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Runs kernel code: frames inside this call that are not of the package are the kernel's."""
    positional, named = _as_call(function, arguments)
    return function(*positional, **named)


def _as_call(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Splits arguments by name into positional and keyword ones, `*args` included."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature(function).parameters.values():
        if parameter.name not in arguments:
            continue
        value = arguments[parameter.name]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        else:
            positional.append(value)
    return positional, named


@cache
def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The function's signature, its annotations as objects where they can be had."""
    found = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=_annotation(parameter.annotation, function))
        for parameter in found.parameters.values()
    ]
    return found.replace(parameters=parameters)


def _annotation(annotation: Any, function: Any) -> Any:
    """An annotation given as text, evaluated; text that is no expression stays (`"*fp32"`)."""
    if not isinstance(annotation, str):
        return annotation
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    try:
        captured = {name: cell.cell_contents for name, cell in cells}
        return eval(annotation, function.__globals__, captured)
    except Exception:
        return constexpr if annotation.split(".")[-1] == "constexpr" else annotation


def is_constexpr(parameter: inspect.Parameter) -> bool:
    """Whether the annotation makes the parameter one known at compile time."""
    return parameter.annotation is constexpr or isinstance(parameter.annotation, constexpr)


def is_const(parameter: inspect.Parameter) -> bool:
    return parameter.annotation is const


def trace(
    function: Callable[..., Any], arguments: Mapping[str, Any], builder: Builder | None = None
) -> Function:
    """The IR of a kernel for these arguments: an IR type for a run-time one (or a tuple of them),
    a Python value (or `Constexpr`) for a known one.

    Raises CompileError at the kernel's line.
    """
    parameters = signature(function).parameters
    params: list[Param] = []
    given: dict[str, Any] = {}
    with using(builder or Builder()) as active:
        for name, value in arguments.items():
            known = name in parameters and is_constexpr(parameters[name])
            given[name] = value if known else _symbolic(name, value, params)
            if isinstance(given[name], Constexpr):
                given[name] = given[name].value
        result = run(function, given)
        if result is not None:
            raise CompileTypeError(
                f"a kernel returns nothing, but {function.__name__} returned {result!r}; store"
                " what it computes through a pointer"
            )
        return active.function(function.__name__, params)


def _symbolic(name: str, value: Any, params: list[Param]) -> Any:
    """The kernel's view of one argument; run-time parts become params."""
    if isinstance(value, Type):
        params.append(Param(name, value))
        return tensor(params[-1])
    if isinstance(value, tuple):
        parts = [_symbolic(f"{name}_{i}", part, params) for i, part in enumerate(value)]
        return getattr(type(value), "_make", tuple)(parts)
    return value.value if isinstance(value, Constexpr) else value


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


def run(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Runs a kernel's twin with the current builder; what goes wrong is a CompileError."""
    from .source import twin  # loaded by the first trace, with all that rewrites

    entered = _enter((function,))
    try:
        return trace_entry(twin(function), arguments)
    except CompileError:
        raise
    except (AssertionError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise _as_compile_error(error) from error
    finally:
        _inlining.reset(entered)


_KINDS: tuple[tuple[type[Exception], type[CompileError]], ...] = (
    (TypeError, CompileTypeError),
    (ValueError, CompileValueError),
)


def _as_compile_error(error: Exception) -> Exception:
    """A Python error of the kernel's own code as a CompileError at its line; others as they are."""
    where = _where(error.__traceback__)
    if not where:
        return error
    kind = next((made for given, made in _KINDS if isinstance(error, given)), CompileError)
    text = f"{type(error).__name__}: {error}"
    return kind(text, where).with_traceback(error.__traceback__)


def _where(trace: TracebackType | None) -> Where:
    """The kernel frames of a traceback, innermost first, if it was raised by kernel code itself."""
    frames: list[Location] = []
    entered = inside = False
    while trace is not None:
        code = trace.tb_frame.f_code
        inside = not code.co_filename.startswith(PACKAGE)
        if entered and inside:
            frames.append(Location(code.co_filename, trace.tb_lineno, code.co_name))
        entered = entered or code.co_name == trace_entry.__name__
        trace = trace.tb_next
    return tuple(reversed(frames))


def inline(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a jit function by kernel code: its body becomes part of the caller.

    Raises CompileTypeError where the arguments do not fit its parameters, CompileError for
    recursion.
    """
    stack = _inlining.get()
    if any(active is function for active in stack):
        chain = " → ".join(active.__name__ for active in (*stack, function))
        raise CompileError(
            f"{function.__name__} calls itself ({chain}): recursion cannot be compiled; use a loop"
        )
    if len(stack) >= MAX_DEPTH:
        raise CompileError(f"calls of jit functions nest deeper than {MAX_DEPTH}")
    form = signature(function)
    try:
        bound = form.bind(*args, **kwargs)
    except TypeError as error:
        raise CompileTypeError(f"{function.__name__}(): {error}") from None
    bound.apply_defaults()
    for name, value in bound.arguments.items():
        if is_constexpr(form.parameters[name]):
            bound.arguments[name] = now_or_later(value)
    from .source import twin

    entered = _enter((*stack, function))
    try:
        return twin(function)(*bound.args, **bound.kwargs)
    finally:
        _inlining.reset(entered)


def now_or_later(value: Any) -> Any:
    """What the annotation `tl.constexpr` makes of a value inside a kernel: a plain value if it is
    known now, else the tensor; what cannot take a tensor says so where it is used."""
    value = unwrap(value)
    if not isinstance(value, tensor):
        return value
    known = current().known(value.handle)
    return value if known is None else known


def annotated_type(annotation: Any) -> Element | None:
    """The type that an annotation other than constexpr and const demands, if any."""
    if isinstance(annotation, Element):
        return annotation
    return parse_type(annotation.split(".")[-1]) if isinstance(annotation, str) else None
