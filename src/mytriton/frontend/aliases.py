"""Objects that may be one of two after control flow, and so may not be changed any more.

Where two paths leave a name with different objects of one structure, what follows gets a fresh
object with the items of the one or the other. That is right as long as no other name leads to
either of the two: a change through that name would have to show in the fresh object on one path
and not on the other. Such objects are shared: they may be read, and a change is an error.

    b = a                       after this `if`, `a` is `b` on one path only: the fresh object that
    if c:                       `a` names, and the one that `b` names, are shared
        a = [a[0] + 1]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from .heap import ANYTHING, Heap, Held, read
from .plan import Assembly, Fresh
from .watch import ChangeError, Suspect, moment


@dataclass(frozen=True)
class Shared:
    """An object that may not be changed any more, and why."""

    held: Held
    moment: int
    reason: str


shared: ContextVar[list[Shared] | None] = ContextVar("shared", default=None)
"""The shared objects of the trace."""


@contextmanager
def sharing() -> Iterator[None]:
    """Begins with no shared objects, for the extent of a `with`."""
    token = shared.set([])
    try:
        yield
    finally:
        shared.reset(token)


def check_shared() -> None:
    """Raises if a shared object was changed."""
    for one in shared.get() or ():
        if not one.held.content.same(read(one.held.value)):
            raise two_objects(one.held.path, one.reason, Suspect(one.moment, 0, ANYTHING))


def two_objects(path: str, reason: str, suspect: Suspect) -> ChangeError:
    """The error of a change that would show in another name's object on some paths only."""
    return ChangeError(
        f"`{path}` is changed, but {reason} it may be the same object as another name's, or not,"
        " depending on the run; make a copy (list(…), dict(…)) that no other name leads to",
        suspect,
    )


@dataclass(frozen=True)
class Pair:
    """The objects of two paths, and the plan of the fresh one in their place."""

    path: str
    left: Any
    right: Any
    plan: Fresh


@dataclass
class Aliases:
    """The pairs of objects, of two paths, in whose places fresh ones come."""

    pairs: dict[tuple[int, int], Pair] = field(default_factory=dict)

    def plan(self, left: Any, right: Any) -> Fresh | None:
        """The plan of the object in the place of the two, if there is one."""
        known = self.pairs.get((id(left), id(right)))
        return known.plan if known else None

    def add(self, path: str, left: Any, right: Any, plan: Fresh) -> None:
        self.pairs[id(left), id(right)] = Pair(path, left, right, plan)

    def ambiguous(self, frame: FrameType, values: Mapping[str, Any]) -> Iterator[Pair]:
        """The pairs of which an object has two partners, is still reached by itself, or is shared
        already: the fresh one in its place may be what the shared one may be. values: what names
        of the frame are about to be bound to."""
        if not self.pairs:
            return
        known = {id(one.held.value) for one in shared.get() or ()}
        known |= Heap.take(frame, values).objects.keys()
        for key, pair in self.pairs.items():
            partners = [other for other in self.pairs if other[0] == key[0] or other[1] == key[1]]
            if len(partners) > 1 or not known.isdisjoint(key):
                yield pair


def share(pair: Pair, assembly: Assembly, frame: FrameType, reason: str) -> None:
    """Forbids changes of the objects of an ambiguous pair from now on."""
    known = shared.get()
    if known is None:
        return
    for value in (assembly.made.get(pair.plan), pair.left, pair.right):
        if value is not None:
            held = Held(value, pair.path, read(value), False)
            known.append(Shared(held, moment([held], frame), reason))
