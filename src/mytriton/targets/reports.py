"""What a running kernel tells of itself, gathered until the launch ends.

A `report` op that finds something calls `tell` with the program and the values of its operands. The
launch that listens (`with listening() as found`) gets them all; without a listener they are lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..ir.nodes import Op

Index = tuple[int, int, int]
MOST_EACH = 16
"""How many reports of one op a launch keeps; the others are counted."""


@dataclass(frozen=True)
class Told:
    """One report: the op, the program, and its operands' values in it."""

    op: Op
    program: Index
    values: tuple[Any, ...]


@dataclass
class Listener:
    """The reports of one launch, and how often each op reported."""

    told: list[Told] = field(default_factory=list)
    counts: dict[Op, int] = field(default_factory=dict)

    def add(self, op: Op, program: Index, values: Sequence[Any]) -> None:
        """Keeps a report, unless there are many of its kind."""
        self.counts[op] = self.counts.get(op, 0) + 1
        if self.counts[op] <= MOST_EACH:
            self.told.append(Told(op, program, tuple(values)))


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening() -> Iterator[Listener]:
    """Gathers the reports of the launches of this thread, for the extent of a `with`."""
    listener = Listener()
    token = _listener.set(listener)
    try:
        yield listener
    finally:
        _listener.reset(token)


def listener() -> Listener | None:
    """Who listens to the launches of this thread."""
    return _listener.get()


def tell(op: Op, program: Index, values: Sequence[Any]) -> None:
    """Gives a report to the listener of this thread."""
    found = _listener.get()
    if found is not None:
        found.add(op, program, values)
