"""A browser for the explorer's pages: Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "" if CHROMIUM else "there is no chromium; on Debian: apt-get install chromium"


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page with what went wrong on it: console errors, exceptions, and requests that leave it."""

    def __init__(self, browser: Any, file: Path, fragment: str = "", **options: Any) -> None:
        self.page = browser.new_page(**{"viewport": {"width": 1500, "height": 900}, **options})
        self.faults: list[str] = []
        own = file.as_uri()
        self.page.on("console", lambda m: m.type in ("error", "warning") and self._add(m.text))
        self.page.on("pageerror", lambda error: self._add(str(error)))
        self.page.on(
            "request", lambda r: r.url.startswith((own, "data:")) or self._add(f"asks for {r.url}")
        )
        self.page.goto(own + fragment)
        self.page.wait_for_function("document.documentElement.dataset.ready")

    def _add(self, fault: str) -> None:
        self.faults.append(fault)

    def line(self, column: str, text: str) -> Any:
        """The first line of a shown column that has the text."""
        return self.page.locator(f'.pane[data-column="{column}"] .line', has_text=text).first

    def lit(self, column: str, kind: str = "lit") -> list[str]:
        """The texts of a column's lines that are lit."""
        found: list[str] = self.page.locator(
            f'.pane[data-column="{column}"] .line.lit.{kind} > code'
        ).all_text_contents()
        return found
