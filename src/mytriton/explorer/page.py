"""The page: the document, and what shows it, as one HTML file that asks for nothing else.

The template, the style and the scripts are files in `page_files`. Jinja escapes what the template
puts in; the document goes in as JSON, with the characters that could end a script written as
escapes, and the scripts only ever put it on the page as text.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from .document import Document, json_of

SCRIPTS = (
    "model.js",
    "syntax.js",
    "lines.js",
    "code.js",
    "grid.js",
    "layouts.js",
    "accesses.js",
    "costs.js",
    "page.js",
)
"""One module, in this order."""


def html_of(document: Document) -> str:
    """The page of a document."""
    return str(
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            data=script_json(json_of(document)),
            style=_file("page.css"),
            script="\n".join(map(_file, SCRIPTS)),
        )
    )


def script_json(value: Any) -> str:
    """JSON that may stand in a script element: `<`, `>` and `&` are escapes, as are the line ends
    that JavaScript knows and JSON does not."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def _file(name: str) -> str:
    return files(__package__).joinpath("page_files").joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
