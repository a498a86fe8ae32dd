"""The document of the explorer: all that is known of one compiled kernel, as one JSON value.

The dataclasses here are the value; `json_of` gives it as dicts, lists, strings and numbers, which
`schema.json` describes (`schema()` reads it). A text is a column: its lines, and for each line the
number of its *place*, a call stack of kernel lines, and of the line of another column that it was
made from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib.resources import files
from typing import Any

VERSION = 1
"""Raised by a change that a reader of the document must know of."""


@dataclass(frozen=True)
class Frame:
    """One frame of kernel code: a source (its number in `Document.sources`), a line of its file
    (from 1), and the function's name."""

    source: int
    line: int
    function: str


@dataclass(frozen=True)
class Source:
    """A part of a Python file: one function's lines, the first of which is line `first`."""

    file: str
    function: str
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A text of the kernel: a stage of the compiler, or what another tool makes of one.

    places: for each line a number in `Document.places`; -1 where it has none. origins: for each
    line the line of the column `made_from` that it was made from, from 1; 0 where it has none.
    marks: for each line of a pass's result what the pass did: "new", "operands" (the same op on
    other operands), "moved" (to another region), "gone" (a line of the text before, which is not in
    this one), or "". notes: what else there is to say, each perhaps at a place. error: why there is
    no text.
    """

    name: str
    title: str
    about: str
    language: str
    lines: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    made_from: str | None = None
    origins: tuple[int, ...] = ()
    marks: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Note:
    """A remark about a column: a rule that a pass applied so many times, and the rule's law."""

    text: str
    detail: str = ""
    places: tuple[int, ...] = ()
    count: int = 1


@dataclass(frozen=True)
class Document:
    """Everything about a kernel.

    kernel: its name. arguments: each parameter's type, or its value where it is a constexpr.
    places: call stacks, innermost frame first.
    """

    kernel: str
    file: str
    arguments: Mapping[str, str]
    options: Mapping[str, str]
    made_by: str
    sources: tuple[Source, ...]
    places: tuple[tuple[Frame, ...], ...]
    columns: tuple[Column, ...]
    version: int = VERSION

    def column(self, name: str) -> Column:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)


def json_of(value: Any) -> Any:
    """A value of these dataclasses as JSON holds it."""
    if is_dataclass(value):
        return {field.name: json_of(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (tuple, list)):
        return [json_of(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): json_of(item) for key, item in value.items()}
    assert value is None or isinstance(value, (str, int, float)), f"{value!r} is no JSON"
    return value


@cache
def schema() -> Any:
    """The JSON Schema of the document."""
    return json.loads(files(__package__).joinpath("schema.json").read_text(encoding="utf-8"))
