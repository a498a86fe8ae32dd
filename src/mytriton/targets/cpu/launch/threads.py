"""How many threads there are, the threads that Python does not know, and their scratch memory.

A thread that only runs native code needs no Python thread: it is started by the system's own
function, with a small stack of its own, and joined by it.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import threading
from functools import cache
from typing import Any

from ....errors import CompileValueError

STACK_BYTES = 1 << 20
"""The stack of a thread of a cooperative launch."""
MAX_THREADS = 1024
VARIABLE = "MYTRITON_THREADS"


def threads_asked_for(text: str) -> int | None:
    """The number in MYTRITON_THREADS; None where it is empty or 0. Raises CompileValueError."""
    given = text.strip()
    if not given:
        return None
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else -1
    if not 0 <= number <= MAX_THREADS:
        raise CompileValueError(
            f"{VARIABLE} must be a number of threads from 1 to {MAX_THREADS} (0, or unset: one for"
            f" each processor), got {text!r}"
        )
    return number or None


@cache
def thread_count() -> int:
    """MYTRITON_THREADS, or the processors this process may use."""
    asked = threads_asked_for(os.environ.get(VARIABLE, ""))
    if asked is not None:
        return asked
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def address_of(function: Any) -> int:
    """The address of a C function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def yield_address() -> int:
    """The address of the system's function that lets another thread run."""
    if sys.platform == "win32":
        return address_of(ctypes.windll.kernel32.SwitchToThread)
    return address_of(ctypes.CDLL(None).sched_yield)


@cache
def sleep_address() -> int:
    """The address of the system's function that sleeps a number of microseconds (milliseconds on
    Windows)."""
    if sys.platform == "win32":
        return address_of(ctypes.windll.kernel32.Sleep)
    return address_of(ctypes.CDLL(None).usleep)


def start_thread(function: int, argument: int) -> None:
    """Starts the C function `function(argument)` on a thread of its own, which ends with it.

    Nobody joins it: it says in memory when it is done. Raises RuntimeError where the system has no
    more threads.
    """
    if sys.platform == "win32":
        run = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(function)
        threading.Thread(target=run, args=(argument,), daemon=True).start()
        return
    library, handle = _pthread(), ctypes.c_void_p()
    attributes = ctypes.create_string_buffer(256)
    library.pthread_attr_init(attributes)
    library.pthread_attr_setstacksize(attributes, ctypes.c_size_t(STACK_BYTES))
    library.pthread_attr_setdetachstate(attributes, _DETACHED)
    pointers = (ctypes.c_void_p(function), ctypes.c_void_p(argument))
    error = library.pthread_create(ctypes.byref(handle), attributes, *pointers)
    library.pthread_attr_destroy(attributes)
    if error:
        raise RuntimeError(f"cannot start a thread: {os.strerror(error)}")


_DETACHED = 2 if sys.platform == "darwin" else 1
"""PTHREAD_CREATE_DETACHED."""


@cache
def _pthread() -> Any:
    library = ctypes.CDLL(None)
    if not hasattr(library, "pthread_create"):
        library = ctypes.CDLL(ctypes.util.find_library("pthread"))
    return library


class Scratch:
    """The scratch memory of one running program; it grows and is never given back."""

    def __init__(self) -> None:
        self.size = 0
        self.address = 0
        self._memory: Any = None

    def at_least(self, nbytes: int) -> int:
        """The address of at least so many bytes, aligned to 64."""
        if nbytes > self.size:
            self._memory = ctypes.create_string_buffer(nbytes + 64)
            start = ctypes.addressof(self._memory)
            self.address, self.size = start + -start % 64, nbytes
        return self.address


class OwnScratch(threading.local):
    """The scratch memories of a thread that launches by itself: one for each launch that is under
    way, since what a program prints may launch another kernel."""

    def __init__(self) -> None:
        self.depth = 0
        self.levels = [Scratch()]

    def enter(self, nbytes: int) -> int:
        """Memory that nobody else on this thread uses until `leave`."""
        depth = self.depth
        self.depth = depth + 1
        if depth == len(self.levels):
            self.levels.append(Scratch())
        return self.levels[depth].at_least(nbytes)

    def leave(self) -> None:
        self.depth -= 1


own_scratch = OwnScratch()
