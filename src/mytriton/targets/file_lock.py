"""A lock between processes, held on an open file: the system releases it when its holder ends, even
by SIGKILL.

It is advisory (`flock(2)`; `LockFile` on Windows) and guards no correctness here, only against
doing the same work twice: whoever cannot have it in time, or on a file system without locks, goes
on without.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FIRST_POLL_SECONDS, LAST_POLL_SECONDS = 1e-3, 2e-2
"""How long one who waits sleeps between two tries; ever longer."""

_held: set[int] = set()
"""The descriptors of this process's locks. A child of a fork closes its copies: a lock lasts until
the last copy of its descriptor is closed."""


def make_private(folder: Path) -> None:
    """Makes a folder, and those above it that are missing, for this user alone. Raises OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(0o700, exist_ok=True)


@contextmanager
def file_lock(path: Path, seconds: float) -> Iterator[bool]:
    """Holds the lock of a file, which is created where it is missing. Gives whether it is held:
    false where it could not be had within so many seconds, or where there can be none."""
    try:
        make_private(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        yield False
        return
    _held.add(descriptor)
    try:
        yield _wait(descriptor, seconds)
    finally:
        if descriptor in _held:
            _held.discard(descriptor)
            os.close(descriptor)


def _wait(descriptor: int, seconds: float) -> bool:
    """Tries until the lock is held or the time, which a changed clock does not touch, is over."""
    end, pause = time.monotonic() + seconds, FIRST_POLL_SECONDS
    while True:
        try:
            _take(descriptor)
            return True
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= end:
                return False
        except OSError:
            return False
        time.sleep(pause)
        pause = min(2 * pause, LAST_POLL_SECONDS)


def _take(descriptor: int) -> None:
    """Takes the lock. Raises BlockingIOError or PermissionError where another has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _forget_in_child() -> None:
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
