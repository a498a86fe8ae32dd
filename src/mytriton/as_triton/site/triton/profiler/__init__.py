"""`triton.profiler` (Proton): accepted and idle, so that instrumented programs run.

`scope` and its kin are context managers and decorators that measure nothing; use
`triton.testing.do_bench` for times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def start(name: str | None = None, **options: Any) -> int:
    """Starts nothing; session number 0."""
    return 0


def activate(session: int | None = None) -> None:
    """Does nothing."""


def deactivate(session: int | None = None) -> None:
    """Does nothing."""


def finalize(session: int | None = None, output_format: str = "") -> None:
    """Writes nothing."""


def profile(func: F | None = None, **options: Any) -> Any:
    """As a decorator: the function itself."""
    return (lambda given: given) if func is None else func


@contextmanager
def scope(name: str, metrics: dict[str, float] | None = None) -> Iterator[None]:
    """A span that is not recorded."""
    yield


cpu_timed_scope = scope
state = scope


def enter_scope(name: str, **options: Any) -> int:
    """Enters nothing."""
    return 0


def exit_scope(name: str | None = None, **options: Any) -> int:
    """Leaves nothing."""
    return 0


__all__ = [
    "activate",
    "cpu_timed_scope",
    "deactivate",
    "enter_scope",
    "exit_scope",
    "finalize",
    "profile",
    "scope",
    "start",
    "state",
]
