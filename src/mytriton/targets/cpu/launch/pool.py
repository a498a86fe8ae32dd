"""The persistent threads that share a launch's programs.

A worker is a Python thread inside one native call that never returns, so it holds no GIL; it sleeps
on a semaphore until a launch posts it. A launch is one native call as well: it wakes the workers,
works itself, and waits for the rest. Whoever waits looks around for a moment before it sleeps,
since the next launch often follows at once and waking takes long.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import threading
from functools import cache
from typing import Any

from ....fork import held_over_fork
from .interrupt import Guard
from .machine_code import keep_for_ever
from .support import PoolRecord, WorkerRecord, support
from .threads import Scratch, address_of, thread_count


class Semaphores:
    """The system's counting semaphores, as addresses of functions that native code can call.

    `wait` takes a second argument that POSIX's ignores and Apple's dispatch reads as "for ever".
    """

    def __init__(self) -> None:
        if sys.platform == "darwin":
            library = ctypes.CDLL("/usr/lib/system/libdispatch.dylib")
            names = ("dispatch_semaphore_wait", "dispatch_semaphore_signal")
            self._create: Any = library.dispatch_semaphore_create
            self._create.restype = ctypes.c_void_p
            self._create.argtypes = [ctypes.c_long]
        else:
            library = ctypes.CDLL(ctypes.util.find_library("pthread") or None)
            names = ("sem_wait", "sem_post")
            self._init: Any = library.sem_init
        self.wait, self.post = (address_of(getattr(library, name)) for name in names)
        self.kept: list[Any] = []

    def new(self) -> int:
        """The address of a semaphore at zero."""
        if sys.platform == "darwin":
            return int(self._create(0))
        place = ctypes.create_string_buffer(64)
        self.kept.append(place)
        self._init(place, 0, 0)
        return ctypes.addressof(place)


class Pool:
    """Workers and their scratch memories, for ever: the workers read them until the process ends.
    One launch uses it at a time; others run in their own thread.
    """

    def __init__(self, threads: int) -> None:
        keep_for_ever(self)
        semaphores = Semaphores()
        code = support()
        pointer, word = ctypes.c_void_p, ctypes.c_int64
        self.threads = threads
        self.lock = threading.Lock()
        self._semaphores = semaphores
        given = (pointer, pointer, word, pointer, pointer, pointer)
        guard = (pointer, ctypes.c_int32)
        self._dispatch: Any = ctypes.CFUNCTYPE(None, *given)(code.addresses["dispatch"])
        self._dispatch_guarded: Any = ctypes.CFUNCTYPE(None, *guard, *given)(
            code.addresses["dispatch_guarded"]
        )
        self._pool = PoolRecord(done=semaphores.new(), wait=semaphores.wait, post=semaphores.post)
        here = ctypes.addressof(self._pool)
        self._gates = (ctypes.c_int64 * threads)(*(semaphores.new() for _ in range(threads)))
        self._workers = [WorkerRecord(wake=gate, pool=here) for gate in self._gates]
        self._scratch = [Scratch() for _ in range(threads)]
        worker = ctypes.CFUNCTYPE(None, pointer)(code.addresses["worker"])
        self._worker = worker
        for number, own in enumerate(self._workers[1:], 1):
            name, place = f"mytriton-{number}", ctypes.addressof(own)
            threading.Thread(target=worker, args=(place,), name=name, daemon=True).start()

    def run(self, run: int, record: int, scratch_bytes: int, guard: Guard | None) -> None:
        """Runs a launch on all threads, this one included; the lock must be held."""
        for scratch, own in zip(self._scratch, self._workers):
            own.arena = scratch.at_least(scratch_bytes)
        gates = ctypes.addressof(self._gates) + ctypes.sizeof(ctypes.c_void_p)
        place = ctypes.addressof(self._pool)
        given = (place, gates, self.threads - 1, run, record, self._workers[0].arena)
        if guard is None:
            self._dispatch(*given)
        else:
            self._dispatch_guarded(*guard, *given)


_making = held_over_fork(threading.Lock())
"""One thread at a time makes the pool: the workers of a second one would outlive it."""


@cache
def _pool() -> Pool | None:
    threads = thread_count()
    return None if threads < 2 or sys.platform == "win32" else Pool(threads)


def pool() -> Pool | None:
    """The process's pool; None where there is one processor, or no semaphores to sleep on."""
    with _making:
        return _pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of the threads
