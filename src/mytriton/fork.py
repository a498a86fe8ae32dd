"""Locks that are held while the process forks, so that no child inherits one that nobody releases.

A fork copies the memory of all threads but only the forking thread itself: a lock that another
thread holds at that moment stays locked in the child for ever, and what it guards may be half
changed. Every lock of this package that guards state of the whole process is made here. A fork
waits until it has all of them, and both sides release them (POSIX, `pthread_atfork`, rationale).

    _lock = held_over_fork(threading.RLock())
"""

from __future__ import annotations

import os
import threading
from typing import Protocol, TypeVar


class Lock(Protocol):
    """What `threading.Lock` and `threading.RLock` have in common."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...

    def release(self) -> None: ...


AnyLock = TypeVar("AnyLock", bound=Lock)
_locks: list[Lock] = []
_one_fork = threading.RLock()


def held_over_fork(lock: AnyLock) -> AnyLock:
    """Registers a lock that lives as long as the process, and returns it."""
    _locks.append(lock)
    return lock


def _acquire_all() -> None:
    """Takes every lock in whatever order other threads take them: whoever cannot have the next one
    gives back all that it has and waits for that one, so two never wait for each other.
    """
    _one_fork.acquire()
    first: Lock | None = None
    while True:
        if first is not None:
            first.acquire()
        held = [] if first is None else [first]
        first = _acquire_rest(held)
        if first is None:
            return
        for lock in held:
            lock.release()


def _acquire_rest(held: list[Lock]) -> Lock | None:
    """Takes the locks that are not held yet, up to one that is taken, which is returned."""
    already = held[:]
    for lock in _locks:
        if any(lock is one for one in already):
            continue
        if not lock.acquire(blocking=False):
            return lock
        held.append(lock)
    return None


def _release_all() -> None:
    for lock in reversed(_locks):
        lock.release()
    _one_fork.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_acquire_all, after_in_parent=_release_all, after_in_child=_release_all
    )

compiling = held_over_fork(threading.RLock())
"""Held by the thread that compiles, and while modules are imported that only compiling needs: a
fork in the middle of an import would leave the child a module that never gets ready."""
