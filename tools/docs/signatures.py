"""Public objects as Markdown: a heading, the signature as Python shows it, the docstring.

Nothing is executed but `inspect.signature`; annotations stand as they are written in the source.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Container, Iterator
from typing import Any

WIDTH = 88
_PLAIN = re.compile(r"(`[^`]*`)")
_SPECIAL = re.compile(r"([*_<\[\]|\\])")
_HIDDEN = frozenset(("_semantic", "_generator", "_builder"))


def signature_text(name: str, function: Callable[..., Any], method: bool = False) -> str:
    """`name(a, b=1) -> T`, broken into lines where it is long."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f"{name}(…)"
    parameters = list(signature.parameters.values())[1 if method else 0 :]
    shown = [_parameter(p) for p in parameters if p.name not in _HIDDEN]
    kinds = [p.kind for p in parameters if p.name not in _HIDDEN]
    if p_only := kinds.count(inspect.Parameter.POSITIONAL_ONLY):
        shown.insert(p_only, "/")
    result = signature.return_annotation
    arrow = "" if result is inspect.Signature.empty else f" -> {_annotation(result)}"
    line = f"{name}({', '.join(shown)}){arrow}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in shown) + f"){arrow}"


def _parameter(parameter: inspect.Parameter) -> str:
    bare = parameter.replace(annotation=inspect.Parameter.empty, default=inspect.Parameter.empty)
    text = str(bare)
    if parameter.annotation is not inspect.Parameter.empty:
        text += f": {_annotation(parameter.annotation)}"
    if parameter.default is inspect.Parameter.empty:
        return text
    spaced = " = " if ":" in text else "="
    return f"{text}{spaced}{_default(parameter.default)}"


def _annotation(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return str(getattr(annotation, "__name__", annotation)).replace("typing.", "")


def _default(value: Any) -> str:
    """A default as source, without addresses."""
    if inspect.isfunction(value) or inspect.isclass(value):
        return str(value.__name__)
    text = repr(value)
    return "…" if " at 0x" in text else re.sub(r"<(\w+\.\w+): \w+>", r"\1", text)


def prose(text: str | None) -> str:
    """A docstring as Markdown: its paragraphs, indented parts as blocks, Markdown's own characters
    as they are."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(_paragraph(part) for part in paragraphs if part.strip())


def _paragraph(text: str) -> str:
    if all(line.startswith("    ") or not line for line in text.splitlines()):
        return "```text\n" + inspect.cleandoc(text) + "\n```"
    pieces = _PLAIN.split(text)
    return "".join(p if p.startswith("`") else _SPECIAL.sub(r"\\\1", p) for p in pieces)


def first_sentence(text: str | None) -> str:
    """The first sentence of a docstring, on one line, for a table."""
    line = " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())
    sentence = re.split(r"(?<=[.!?]) ", line)[0]
    return _paragraph(sentence).replace("\\|", "\\|")


def function(title: str, value: Callable[..., Any], level: int = 3) -> Iterator[str]:
    """The section of a function."""
    yield f"{'#' * level} `{title}`\n"
    yield f"```text\n{signature_text(title, value)}\n```\n"
    yield prose(value.__doc__) + "\n"


def kind(title: str, value: type, level: int = 3, skip: Container[str] = ()) -> Iterator[str]:
    """The section of a class: how it is made, what it is, its public methods and properties but
    those of `skip`."""
    yield f"{'#' * level} `{title}`\n"
    own = vars(value)
    if "__init__" in own and not issubclass(value, BaseException):
        yield f"```text\n{signature_text(title, value)}\n```\n"
    yield prose(value.__doc__) + "\n"
    rows = [
        row
        for name, member in sorted(own.items())
        if name not in skip
        for row in _member(name, member)
    ]
    if rows:
        yield "| | |\n|---|---|\n" + "\n".join(rows) + "\n"


def _member(name: str, member: Any) -> Iterator[str]:
    if name.startswith("_") or not getattr(member, "__doc__", None):
        return
    member = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
    if isinstance(member, property) or not callable(member):
        shown = name
    else:
        shown = " ".join(signature_text(name, member, method=True).split())
    described = first_sentence(member.__doc__)
    if isinstance(member, property) or inspect.isfunction(member):
        yield f"| {cell(shown)} | {described} |"


def cell(code: str) -> str:
    """Code in a cell of a table, where `|` would end the cell."""
    return f"`{code}`".replace("|", "\\|")
