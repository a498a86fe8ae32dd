"""Ctrl-C during a launch: it ends soon, and KeyboardInterrupt is raised.

Python's own signal handler only sets a flag, which is looked at when the native call returns. So
for the time of a launch that may take long SIGINT is handled by native code first, which stops the
launch; then Python's handler is called as ever, and Python raises KeyboardInterrupt as soon as the
call has returned. A handler that the program has installed itself keeps the signal to itself. The
handler is changed and changed back by the same native call that runs the programs, so no exception
can come between.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Callable
from functools import cache

from .support import support
from .threads import address_of

Guard = tuple[int, int]
"""The address of the system's `sigaction`, and the signal: the first arguments of guarded calls."""


@cache
def _guard() -> Guard:
    return address_of(ctypes.CDLL(None).sigaction), int(signal.SIGINT)


def guard_here() -> Guard | None:
    """What guards a launch in this thread; None where Ctrl-C is not its business."""
    if (
        sys.platform == "win32"
        or threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        return None
    return _guard()


@cache
def run_guarded() -> Callable[..., None]:
    """Native `(*guard, run, record, arena)`: runs programs, SIGINT stops them."""
    pointer = ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(None, pointer, ctypes.c_int32, pointer, pointer, pointer)
    return kind(support().addresses["run_guarded"])
