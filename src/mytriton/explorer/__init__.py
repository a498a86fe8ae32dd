"""The explorer: one page from a kernel's Python to its machine code.

    page = explain(compilation)
    page.document                 # every text, and which line of which came from which
    page.save("page.html")        # one file that asks for nothing else; shown inline in a notebook

Read `document` first, then `make` and `columns`, which fill it, then `page`, which shows it.
"""

from __future__ import annotations

from .explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
