"""A bar that shows how far a tuning is: on stderr, and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[float], None]
"""Called with the milliseconds of a configuration that has been timed."""
LEAST = 4
"""So many configurations at least are worth a bar."""


@contextmanager
def progress(kernel: str, count: int) -> Iterator[Advance]:
    """Shows, while its block runs, how many configurations of a kernel have been timed, and the
    best time so far; the bar goes away with the block."""
    if count < LEAST or not sys.stderr.isatty():
        yield lambda milliseconds: None
        return
    from rich.console import Console
    from rich.progress import Progress

    best = float("inf")
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"tuning {kernel}", total=count)

        def advance(milliseconds: float) -> None:
            nonlocal best
            best = min(best, milliseconds)
            said = f"tuning {kernel}, best {best:.3g} ms" if best < float("inf") else None
            bar.update(task, advance=1, description=said)

        yield advance
