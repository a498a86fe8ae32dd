"""The site of the documentation: `make docs` writes it to build/docs.

Pages are Markdown (MyST). The README is the first page; what it and other pages link to outside
this folder (sources, examples) is copied into the site as a file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pygments.lexers.c_cpp import CppLexer
from pygments.lexers.special import TextLexer
from pygments.token import Error, Text
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from mytriton import __version__  # noqa: E402 - after the path
from mytriton.tools.ssa_lexer import SsaLexer  # noqa: E402

project, author, copyright = "mytriton", "mytriton contributors", "mytriton contributors"
version = release = __version__
extensions = ["myst_parser"]
exclude_patterns = ["conf.py"]
html_theme = "furo"
html_title = f"mytriton {version}"
myst_heading_anchors = 4
myst_links_external_new_tab = True
pygments_style, pygments_dark_style = "friendly", "monokai"

FOLDERS = ("examples", "benchmarks", "src", "tests")


class PartialCpp(CppLexer):
    """C++ in which `…` stands for what is left out."""

    name, aliases = "CUDA", ("cuda",)

    def get_tokens_unprocessed(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        for place, token, text in super().get_tokens_unprocessed(*args, **kwargs):
            yield place, Text if token is Error else token, text


def site_links(text: str) -> str:
    """The README's links as the site needs them: pages by their names there, and folders of the
    repository, and pages outside docs, as plain text, since a site has nothing to show there."""
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        text = text.replace(f"]({name})", f"]({name.lower()})")
    link = re.compile(rf"\[([^]]+)\]\((?:\.\./)?((?:{'|'.join(FOLDERS)})[\w./-]*?)/?\)")

    def kept(found: re.Match[str]) -> str:
        outside = (ROOT / found[2]).is_dir() or found[2].endswith(".md")
        return found[1] if outside else found[0]

    return link.sub(kept, text)


def read(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = site_links(source[0])


def include(app: Sphinx, path: Path, parent: str, source: list[str]) -> None:
    source[0] = site_links(source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_lexer("output", TextLexer)
    app.add_lexer("cuda", PartialCpp)
    app.add_lexer("ssa", SsaLexer)
    app.connect("source-read", read)
    app.connect("include-read", include)
    return {"parallel_read_safe": True}
