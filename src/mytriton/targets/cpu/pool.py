"""The persistent threads that share a launch's programs.

One idea: a worker is a Python thread inside one native call that never returns, so it holds no GIL;
it sleeps on a semaphore until a launch posts it. A launch is one native call as well: it wakes the
workers, works itself, and waits for the rest. Whoever waits looks around for a moment (`SPINS`)
before it sleeps, since the next launch often follows at once and waking takes long.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import threading
from functools import cache
from typing import Any

from .jit import compile_text

SPINS = 1 << 16
"""How often one who waits looks before sleeping: some tens of microseconds."""

TEXT = f"""
define void @worker(ptr %self) {{
entry:
  %pool.at = getelementptr i8, ptr %self, i64 16
  %pool = load ptr, ptr %pool.at
  %wait.at = getelementptr i8, ptr %pool, i64 24
  %wait = load ptr, ptr %wait.at
  %post.at = getelementptr i8, ptr %pool, i64 32
  %post = load ptr, ptr %post.at
  %done.at = getelementptr i8, ptr %pool, i64 16
  %done = load ptr, ptr %done.at
  %arena.at = getelementptr i8, ptr %self, i64 8
  %run.at = getelementptr i8, ptr %pool, i64 8
  %pending = getelementptr i8, ptr %pool, i64 40
  %round = getelementptr i8, ptr %pool, i64 48
  br label %sleep
watch:
  %looks = phi i64 [ 0, %worked ], [ %looks.next, %look ]
  %now = load atomic i64, ptr %round monotonic, align 8
  %called = icmp ne i64 %now, %served
  br i1 %called, label %sleep, label %look
look:
  %looks.next = add i64 %looks, 1
  %tired = icmp ugt i64 %looks, {SPINS}
  br i1 %tired, label %sleep, label %watch
sleep:
  %gate = load ptr, ptr %self
  %slept = call i32 %wait(ptr %gate, i64 -1)
  %woken = icmp eq i32 %slept, 0
  br i1 %woken, label %work, label %sleep
work:
  %served = load atomic i64, ptr %round monotonic, align 8
  %job = load ptr, ptr %pool
  %run = load ptr, ptr %run.at
  %arena = load ptr, ptr %arena.at
  call void %run(ptr %job, ptr %arena)
  %before = atomicrmw sub ptr %pending, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %tell, label %worked
tell:
  %told = call i32 %post(ptr %done)
  br label %worked
worked:
  br label %watch
}}

define void @dispatch(ptr %pool, ptr %gates, i64 %count, ptr %run, ptr %job, ptr %arena) {{
entry:
  %run.at = getelementptr i8, ptr %pool, i64 8
  %done.at = getelementptr i8, ptr %pool, i64 16
  %wait.at = getelementptr i8, ptr %pool, i64 24
  %post.at = getelementptr i8, ptr %pool, i64 32
  %pending = getelementptr i8, ptr %pool, i64 40
  store ptr %job, ptr %pool
  store ptr %run, ptr %run.at
  store atomic i64 %count, ptr %pending release, align 8
  %round = getelementptr i8, ptr %pool, i64 48
  %rounds = atomicrmw add ptr %round, i64 1 release
  %done = load ptr, ptr %done.at
  %wait = load ptr, ptr %wait.at
  %post = load ptr, ptr %post.at
  br label %wake
wake:
  %i = phi i64 [ 0, %entry ], [ %i.next, %wake ]
  %gate.at = getelementptr ptr, ptr %gates, i64 %i
  %gate = load ptr, ptr %gate.at
  %posted = call i32 %post(ptr %gate)
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %wake, label %work
work:
  call void %run(ptr %job, ptr %arena)
  br label %watch
watch:
  %looks = phi i64 [ 0, %work ], [ %looks.next, %look ]
  %left = load atomic i64, ptr %pending monotonic, align 8
  %all = icmp eq i64 %left, 0
  br i1 %all, label %sleep, label %look
look:
  %looks.next = add i64 %looks, 1
  %tired = icmp ugt i64 %looks, {SPINS}
  br i1 %tired, label %sleep, label %watch
sleep:
  %slept = call i32 %wait(ptr %done, i64 -1)
  %woken = icmp eq i32 %slept, 0
  br i1 %woken, label %end, label %sleep
end:
  ret void
}}
"""
"""A pool is job, run, done, wait, post, pending, round; a worker's self is gate, arena, pool:
eight bytes each.
"""


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
        self.wait, self.post = (_address(getattr(library, name)) for name in names)
        self.kept: list[Any] = []

    def new(self) -> int:
        """The address of a semaphore at zero."""
        if sys.platform == "darwin":
            return int(self._create(0))
        place = ctypes.create_string_buffer(64)
        self.kept.append(place)
        self._init(place, 0, 0)
        return ctypes.addressof(place)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class Pool:
    """Workers and their arenas. One launch uses it at a time; others run in their own thread."""

    def __init__(self, threads: int) -> None:
        semaphores = Semaphores()
        code = compile_text(TEXT, ("worker", "dispatch"))
        pointer, word = ctypes.c_void_p, ctypes.c_int64
        self.threads = threads
        self.lock = threading.Lock()
        self._code, self._semaphores = code, semaphores
        self._dispatch: Any = ctypes.CFUNCTYPE(
            None, pointer, pointer, word, pointer, pointer, pointer
        )(code.addresses["dispatch"])
        worker = ctypes.CFUNCTYPE(None, pointer)(code.addresses["worker"])
        self._pool = (ctypes.c_int64 * 7)(
            0, 0, semaphores.new(), semaphores.wait, semaphores.post, 0, 0
        )
        here = ctypes.addressof(self._pool)
        self._gates = (ctypes.c_int64 * threads)(*(semaphores.new() for _ in range(threads)))
        self._selves = [(ctypes.c_int64 * 3)(gate, 0, here) for gate in self._gates]
        self.arenas = [Arena() for _ in range(threads)]
        for number, own in enumerate(self._selves[1:], 1):
            name, place = f"mytriton-{number}", ctypes.addressof(own)
            threading.Thread(target=worker, args=(place,), name=name, daemon=True).start()

    def run(self, run: int, job: int, arena_bytes: int) -> None:
        """Runs a job on all threads, this one included; the lock must be held."""
        for arena, own in zip(self.arenas, self._selves):
            own[1] = arena.at_least(arena_bytes)
        gates = ctypes.addressof(self._gates) + 8
        self._dispatch(self._pool, gates, self.threads - 1, run, job, self._selves[0][1])


class Arena:
    """The scratch memory of a thread; it grows and is never given back."""

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


class _Local(threading.local):
    """The arena of a thread that launches by itself."""

    def __init__(self) -> None:
        self.arena = Arena()


local = _Local()


@cache
def thread_count() -> int:
    """MYTRITON_THREADS, or the processors this process may use."""
    chosen = os.environ.get("MYTRITON_THREADS", "")
    if chosen.isdigit() and int(chosen):
        return int(chosen)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


@cache
def yield_address() -> int:
    """The address of the system's function that lets another thread run."""
    if sys.platform == "win32":
        return _address(ctypes.windll.kernel32.SwitchToThread)
    return _address(ctypes.CDLL(None).sched_yield)


@cache
def _pool() -> Pool | None:
    threads = thread_count()
    return None if threads < 2 or sys.platform == "win32" else Pool(threads)


class _Making:
    """One thread at a time makes the pool: the workers of a second one would outlive it."""

    lock = threading.Lock()


def pool() -> Pool | None:
    """The process's pool; None where there is one processor, or no semaphores to sleep on."""
    with _Making.lock:
        return _pool()


def _forked() -> None:
    """A child has none of the threads, nor whoever held the lock."""
    _Making.lock = threading.Lock()
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
