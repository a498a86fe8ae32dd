"""Signatures of kernel functions: their parameters, what the annotations mean, and how arguments
given by name become a call. Read by `trace.py`, `inline.py` and the runtime."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from ..ir.build import current
from ..ir.types import Element, parse_type
from ..language.constexpr import const, constexpr, unwrap
from ..language.tensor import tensor


@dataclass(frozen=True)
class Constexpr:
    """Marks an argument of a trace as known at compile time, whatever it is (a dtype, say)."""

    value: Any


_SIGNATURES: WeakKeyDictionary[Callable[..., Any], inspect.Signature] = WeakKeyDictionary()


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The function's signature, its annotations as objects where they can be evaluated."""
    found = _SIGNATURES.get(function)
    if found is None:
        plain = inspect.signature(function)
        parameters = [
            parameter.replace(annotation=_annotation(parameter.annotation, function))
            for parameter in plain.parameters.values()
        ]
        found = _SIGNATURES[function] = plain.replace(parameters=parameters)
    return found


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
    """Whether the annotation forbids stores through the parameter."""
    return parameter.annotation is const


def annotated_type(annotation: Any) -> Element | None:
    """The type that an annotation other than constexpr and const demands, if any."""
    if isinstance(annotation, Element):
        return annotation
    return parse_type(annotation.split(".")[-1]) if isinstance(annotation, str) else None


def constexpr_argument(value: Any) -> Any:
    """The value bound to a `tl.constexpr` parameter of an inlined call: the Python value if it is
    known while tracing, else the tensor. A later use that needs a constant raises there."""
    value = unwrap(value)
    if not isinstance(value, tensor):
        return value
    known = current().known(value.handle)
    return value if known is None else known


def as_call(
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
