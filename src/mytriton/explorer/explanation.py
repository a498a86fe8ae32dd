"""What `kernel.explain(…)` gives back: the document, and the page that shows it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..runtime.compile import Compilation
from .document import Document, json_of
from .gpus import gpu_named
from .make import document_of
from .page import html_of

if TYPE_CHECKING:
    from .launch import Launch

INLINE_HEIGHT = 720
"""The height of the page inside a notebook, in CSS pixels."""


@dataclass(frozen=True)
class Explanation:
    """A kernel explained. A notebook shows the page where this is the last value of a cell."""

    document: Document

    @cached_property
    def html(self) -> str:
        """The page, which is complete in itself."""
        return html_of(self.document)

    @cached_property
    def json(self) -> str:
        """The document as JSON."""
        return json.dumps(json_of(self.document), ensure_ascii=False, indent=1) + "\n"

    def save(self, path: str | Path) -> Path:
        """Writes the page, or the document where the path ends in `.json`; the path."""
        path = Path(path)
        path.write_text(self.json if path.suffix == ".json" else self.html, encoding="utf-8")
        return path

    def open(self, path: str | Path | None = None) -> Path:
        """Writes the page (to a temporary file where no path is given) and opens it in the browser;
        the path."""
        import tempfile
        import webbrowser

        if path is None:
            folder = tempfile.mkdtemp(prefix="mytriton-explain-")
            path = Path(folder) / f"{self.document.kernel}.html"
        saved = self.save(path)
        webbrowser.open(saved.resolve().as_uri())
        return saved

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that its style and scripts are apart from the
        notebook's."""
        style = f"width:100%;height:{INLINE_HEIGHT}px;border:1px solid #8888"
        return (
            f'<iframe srcdoc="{escape(self.html)}" style="{style}"'
            f' title="{escape(self.document.kernel)}"></iframe>'
        )

    def __repr__(self) -> str:
        there = [column.name for column in self.document.columns if column.error is None]
        return f"<{self.document.kernel} explained: {', '.join(there)}>"


def explain(compilation: Compilation, launch: Launch | None = None, gpu: str = "") -> Explanation:
    """Explains a compilation for a GPU; with a launch also what each program reads and writes.
    Raises CompileError where the kernel cannot be traced.
    """
    return Explanation(document_of(compilation, launch, gpu_named(gpu)))
