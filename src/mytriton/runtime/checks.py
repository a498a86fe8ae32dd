"""Which checks a launch makes: what its options, the code around it and the environment ask for.

kernel[grid](…, debug=True)       this launch: bounds
@triton.jit(debug=True)           every launch of the kernel
MYTRITON_DEBUG=1 python file.py   every launch of the process
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Kinds = tuple[str, ...]


class _Process:
    """What the environment asked for when the process began."""

    debug = os.environ.get("MYTRITON_DEBUG") == "1"


_requested: ContextVar[Kinds | None] = ContextVar("checks", default=None)


@contextmanager
def asking(kinds: Kinds) -> Iterator[None]:
    """Makes the launches of this thread look for these kinds of faults, for the extent of a
    `with`."""
    token = _requested.set(kinds)
    try:
        yield
    finally:
        _requested.reset(token)


def set_debug(on: bool) -> None:
    """Makes every launch of the process check its accesses, or only those that ask for it."""
    _Process.debug = on


def debugging() -> bool:
    """Whether every launch of the process checks its accesses."""
    return _Process.debug


def requested() -> Kinds:
    """The kinds that the code around the launch, or the process, asks for."""
    kinds = _requested.get() or ()
    return ("bounds", *kinds) if _Process.debug and "bounds" not in kinds else kinds


def kinds(debug: bool) -> Kinds:
    """All kinds of a launch; `debug`: the launch or its kernel asks for checks of accesses."""
    found = requested()
    return ("bounds", *found) if debug and "bounds" not in found else found
