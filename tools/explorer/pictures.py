"""`python -m tools.explorer.pictures`: the documentation's pictures of the explorer.

Chromium shows the page of the gallery's flash attention; each picture is a view of it, as a PNG of
a few colours.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

from mytriton.tools.explain import explain_place
from tools.explorer.__main__ import GALLERY, ROOT

FOLDER = ROOT / "docs" / "pictures"
LAUNCH = "flash_attention(*inputs(1, 2, 100, 40))"
COLOURS = 128
SIZE: Any = {"width": 1280, "height": 800}

PICTURES: dict[str, tuple[str, Literal["light", "dark"], str]] = {
    "explorer-code": ("#python,cuda,sass/python:0.49", "light", ""),
    "explorer-costs": ("#costs", "light", "document.querySelector('.scroll').scrollTop = 78"),
    "explorer-accesses": (
        "#accesses",
        "dark",
        "document.querySelector('.programs [aria-label=\"The next program\"]').click()",
    ),
    "explorer-layouts": (
        "#layouts",
        "light",
        "document.querySelector('[name=by][value=lane]').click();"
        "const move = document.querySelectorAll('.card.move')[0];"
        "move.scrollIntoView(); const grid = move.querySelector('canvas'); grid.focus();"
        "for (const key of ['Right', 'Down', 'Down', 'Down'])"
        " grid.dispatchEvent(new KeyboardEvent('keydown', { key: `Arrow${key}` }))",
    ),
}
"""By name: the page's fragment, its theme, and a script that is run first."""


def main() -> int:
    """Writes the pictures; prints their sizes."""
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser_path is None:
        print("there is no chromium; on Debian: apt-get install chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "page.html"
        with contextlib.redirect_stdout(io.StringIO()):
            place = f"{(GALLERY / 'flash_attention.py').relative_to(ROOT)}::forward_kernel"
            explain_place(place, run=LAUNCH).save(page_file)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, (fragment, scheme, script) in PICTURES.items():
            page = browser.new_page(viewport=SIZE, color_scheme=scheme)
            page.goto(page_file.as_uri() + fragment)
            page.wait_for_function("document.documentElement.dataset.ready")
            if script:
                page.evaluate(script)
            _save(page.screenshot(), FOLDER / f"{name}.png")
            page.close()
        browser.close()
    return 0


def _save(png: bytes, path: Path) -> None:
    """Writes a picture with few colours."""
    from PIL import Image

    picture: Any = Image.open(io.BytesIO(png)).convert("RGB")
    small = picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    print(f"{path.stat().st_size / 1e3:6.1f} kB  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
