"""An autotuner's choices on disk, for `cache_results=True`.

A choice is kept by everything it depends on: the sources of the kernel and of the functions that it
reaches, the plain values that they read from outside, the tuning key (target included), the
configurations, this machine and this package's source. So a choice made for something else is not
found.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..frontend.guards import guards_of
from ..frontend.source import source
from ..targets import store


def choice_key(fn: Callable[..., Any], facts: Iterable[str]) -> str:
    """The key of the choice for a kernel's function that follows from these facts."""
    machine = (platform.machine(), platform.processor(), str(os.cpu_count()))
    return store.key("choice", store.source_digest("**/*"), *machine, *_reached(fn), *facts)


def _reached(fn: Callable[..., Any]) -> Iterator[str]:
    """The sources of the functions that a function reaches, itself included, and the plain values
    that they read from globals, closures, modules and objects."""
    guards = guards_of([fn])
    names = {f"{one.__module__}:{one.__qualname__}": one for one in guards.functions}
    for name in sorted(names):
        yield name
        yield _source(names[name])
    for guard in sorted(guards.entries, key=lambda guard: guard.path):
        if isinstance(guard.value, (bool, int, float, str, tuple, type(None))):
            yield f"{guard.path} = {guard.value!r}"


def _source(fn: Any) -> str:
    """Its text; of one made by `exec`, which has none, its code."""
    code = fn.__code__
    return source(fn) or repr((code.co_code, code.co_names, code.co_consts))


def read_choice(key: str) -> int | None:
    """The index of the configuration chosen before; None where there is none."""
    found = store.get("tuning", key)
    return None if found is None else int.from_bytes(found, "little")


def write_choice(key: str, best: int) -> None:
    """Keeps a choice."""
    store.put("tuning", key, best.to_bytes(4, "little"))
