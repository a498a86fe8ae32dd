"""Why a kernel is compiled again: what differs from the most similar compilation before.

`MYTRITON_LOG=recompiles` tells it on stderr:

    mytriton recompiles: add_kernel: n is i64, not i32
    mytriton recompiles: add_kernel: the global SCALE has changed
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..frontend.signature import Constexpr
from ..log import tell, wants
from ..targets import CompileOptions


def tell_why(
    name: str,
    options: CompileOptions,
    arguments: Mapping[str, Any],
    before: Mapping[tuple[Any, ...], Any],
    key: tuple[Any, ...],
) -> None:
    """Tells why a kernel is compiled for these options and arguments. before: its compilations so
    far by key; a key has the options first, and then a part for each argument."""
    if not before or not wants("recompiles"):
        return
    same = before.get(key)
    if same is not None:
        tell("recompiles", f"{name}: {same.violated()} has changed")
        return
    nearest = min(before, key=lambda other: len(list(_differences(other, key))))
    earlier = before[nearest]
    said = list(_options_text(earlier.options, options))
    for place in _differences(nearest, key):
        if place > 0:
            parameter = list(arguments)[place - 1]
            now, then = _text(arguments[parameter]), _text(earlier.arguments[parameter])
            said.append(f"{parameter} is {now}, not {then}")
    tell("recompiles", f"{name}: {'; '.join(said)}")


def _differences(one: tuple[Any, ...], other: tuple[Any, ...]) -> Iterator[int]:
    return (place for place, (a, b) in enumerate(zip(one, other)) if a != b)


def _options_text(then: CompileOptions, now: CompileOptions) -> Iterator[str]:
    for field in dataclasses.fields(now):
        old, new = getattr(then, field.name), getattr(now, field.name)
        if old != new:
            yield f"the option {field.name} is {_text(new)}, not {_text(old)}"


def _text(value: Any) -> str:
    """A type, a known value, or a tuple of these, in a few words."""
    if isinstance(value, Constexpr):
        value = value.value
        name: Callable[..., Any] | None = getattr(value, "__name__", None)
        return str(name) if name is not None else _short(repr(value))
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"
