"""From a compilation to its document."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from ..frontend.signature import Constexpr
from ..runtime.compile import Compilation
from .columns import ROWS, Maker
from .document import Document
from .places import shown_path


def document_of(compilation: Compilation) -> Document:
    """The document of a compilation. A stage that cannot be made is a column with an error; raises
    CompileError only where the kernel cannot be traced."""
    compilation.function  # noqa: B018 - raises what is wrong with the kernel itself
    maker = Maker(compilation)
    columns = tuple(maker.make(row) for row in ROWS)
    sources, places = maker.places.resolved(compilation.fn)
    return Document(
        compilation.name,
        shown_path(compilation.fn.__code__.co_filename),
        {name: argument_text(value) for name, value in compilation.arguments.items()},
        options_of(compilation),
        made_by(),
        sources,
        places,
        columns,
    )


def argument_text(value: Any) -> str:
    """The type of a parameter, or the value of a constexpr."""
    if isinstance(value, Constexpr):
        return repr(value.value)
    if isinstance(value, tuple):
        return f"({', '.join(map(argument_text, value))})"
    return str(value)


def options_of(compilation: Compilation) -> Mapping[str, str]:
    options = compilation.options
    warps = "the lane rule, else 4" if options.num_warps is None else str(options.num_warps)
    return {"num_warps": warps, "arch": options.arch, "processor": platform.machine()}


def made_by() -> str:
    from importlib.metadata import version

    return f"mytriton {version('mytriton')}"
