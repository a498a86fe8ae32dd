"""`python -m tools.explorer [FOLDER]`: a page for each kernel of the gallery, and an index of them.

Each file's `main()` is run once on the CPU; the first launch of every kernel in it is explained,
with what its programs read and write. The folder is build/explorer where none is given.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from mytriton.explorer.calls import explain_captured
from mytriton.explorer.launch import captured
from mytriton.runtime.target import set_target
from mytriton.tools.kernel_file import load

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GALLERY = ROOT / "examples" / "gallery"


@dataclass(frozen=True)
class Page:
    """A page that was written: the file's title, the kernel, the page's name, its size in bytes,
    and the seconds that it took."""

    title: str
    kernel: str
    name: str
    size: int
    seconds: float


def main(arguments: list[str]) -> int:
    """Writes the pages and the index; how many kernels could not be explained."""
    folder = Path(arguments[0]) if arguments else ROOT / "build" / "explorer"
    folder.mkdir(parents=True, exist_ok=True)
    pages, failed = [], 0
    for file in sorted(GALLERY.glob("*.py")):
        try:
            for page in explained(file, folder):
                print(f"{page.seconds:5.2f} s {page.size / 1e3:6.0f} kB  {page.name}", flush=True)
                pages.append(page)
        except Exception as error:  # the next file may still be explained
            failed += 1
            print(f"{file.name}: {type(error).__name__}: {error}", file=sys.stderr)
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True)
    text = environment.get_template("index.html").render(pages=pages)
    (folder / "index.html").write_text(text, encoding="utf-8")
    print(folder / "index.html")
    return failed


def explained(file: Path, folder: Path) -> Iterator[Page]:
    """The pages of the kernels that a file's `main()` launches."""
    loaded = load(file)
    title = (sys.modules[file.stem].__doc__ or file.stem).split("\n")[0]
    set_target("cpu")
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            watched = [stack.enter_context(captured(loaded.kernel(n))) for n in loaded.functions]
            sys.modules[file.stem].main()
    finally:
        set_target(None)
    for found in watched:
        if found.count:
            start = time.perf_counter()
            explanation = explain_captured(found)
            name = f"{file.stem}-{explanation.document.kernel}.html"
            path = explanation.save(folder / name)
            seconds = time.perf_counter() - start
            yield Page(title, explanation.document.kernel, name, path.stat().st_size, seconds)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
