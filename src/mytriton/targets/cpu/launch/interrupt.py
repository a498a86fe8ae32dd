"""Ctrl-C during a launch: it ends soon, and KeyboardInterrupt is raised.

Python's own signal handler only sets a flag, which is looked at when the native call returns. So
for the time of a launch that may take long SIGINT is handled by native code first, which stops the
launch; then Python's handler is called as ever, and Python raises KeyboardInterrupt as soon as the
call has returned. A handler that the program has installed itself keeps the signal to itself.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from .record import INTERRUPTED, LaunchRecord
from .support import support
from .threads import address_of


@cache
def _functions() -> tuple[Any, Any, int]:
    """Native `begin`, `end`, and the address of the system's `sigaction`."""
    pointer, code = ctypes.c_void_p, support()
    begin = ctypes.CFUNCTYPE(pointer, pointer, ctypes.c_int32, pointer)
    end = ctypes.CFUNCTYPE(None, pointer, ctypes.c_int32, pointer)
    return (
        begin(code.addresses["interrupt_begin"]),
        end(code.addresses["interrupt_end"]),
        address_of(ctypes.CDLL(None).sigaction),
    )


def interruptible_here() -> bool:
    """Whether Ctrl-C means KeyboardInterrupt in this thread."""
    return (
        threading.current_thread() is threading.main_thread()
        and sys.platform != "win32"
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


@contextmanager
def interruptible(record: LaunchRecord) -> Iterator[None]:
    """SIGINT stops the launch. Raises KeyboardInterrupt where it did."""
    if not interruptible_here():
        yield
        return
    begin, end, sigaction = _functions()
    outer = begin(sigaction, signal.SIGINT, ctypes.addressof(record))
    try:
        yield
    finally:
        end(sigaction, signal.SIGINT, outer)
    if record.error == INTERRUPTED:
        raise KeyboardInterrupt
