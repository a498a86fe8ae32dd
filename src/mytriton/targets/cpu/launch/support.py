"""The native code that every launch shares: pool workers, threads of their own, interrupts.

It is compiled once a process and never freed, since threads may be inside it until the process
ends. The records it reads are ctypes structures, here too.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_void_p
from functools import cache
from typing import Any, ClassVar

from ..host import host
from . import record
from .machine_code import MachineCode, load
from .objects import cached_object

SPIN_LIMIT = 1 << 16
"""How often one who waits for work looks before it sleeps: some tens of microseconds."""


class PoolRecord(ctypes.Structure):
    """What all workers of the pool share: the launch at hand (`record`, `run`), the semaphore that
    tells the launching thread that all are `done`, the system's functions on semaphores, how many
    are `pending`, and the `epoch`, the number of the launch."""

    _fields_: ClassVar = [
        ("record", c_void_p),
        ("run", c_void_p),
        ("done", c_void_p),
        ("wait", c_void_p),
        ("post", c_void_p),
        ("pending", c_int64),
        ("epoch", c_int64),
    ]


class WorkerRecord(ctypes.Structure):
    """One thread: what to run on which launch with which scratch memory, and whether it is `done`;
    for a worker of the pool the semaphore that wakes it, and the pool instead."""

    _fields_: ClassVar = [
        ("wake", c_void_p),
        ("arena", c_void_p),
        ("pool", c_void_p),
        ("run", c_void_p),
        ("record", c_void_p),
        ("done", c_int64),
    ]


def _at(structure: str, owner: Any, *fields: str) -> str:
    """Lines that make the addresses `%field.at` of a structure's fields."""
    return "\n".join(
        f"  %{field}.at = getelementptr i8, ptr %{structure}, i64 {getattr(owner, field).offset}"
        for field in fields
    )


def _loaded(structure: str, owner: Any, *fields: str) -> str:
    """Lines that load the pointers `%field` of a structure."""
    loads = "\n".join(f"  %{field} = load ptr, ptr %{field}.at" for field in fields)
    return f"{_at(structure, owner, *fields)}\n{loads}"


WORKER = f"""
define void @worker(ptr %self) {{
entry:
{_loaded("self", WorkerRecord, "pool")}
{_loaded("pool", PoolRecord, "wait", "post", "done")}
{_at("self", WorkerRecord, "wake", "arena")}
{_at("pool", PoolRecord, "record", "run", "pending", "epoch")}
  br label %sleep
watch:
  %looks = phi i64 [ 0, %worked ], [ %looks.next, %look ]
  %now = load atomic i64, ptr %epoch.at monotonic, align 8
  %called = icmp ne i64 %now, %served
  br i1 %called, label %sleep, label %look
look:
  %looks.next = add i64 %looks, 1
  %tired = icmp ugt i64 %looks, {SPIN_LIMIT}
  br i1 %tired, label %sleep, label %watch
sleep:
  %wake = load ptr, ptr %wake.at
  %slept = call i32 %wait(ptr %wake, i64 -1)
  %woken = icmp eq i32 %slept, 0
  br i1 %woken, label %work, label %sleep
work:
  %served = load atomic i64, ptr %epoch.at monotonic, align 8
  %record = load ptr, ptr %record.at
  %run = load ptr, ptr %run.at
  %arena = load ptr, ptr %arena.at
  call void %run(ptr %record, ptr %arena)
  %before = atomicrmw sub ptr %pending.at, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %tell, label %worked
tell:
  %told = call i32 %post(ptr %done)
  br label %worked
worked:
  br label %watch
}}
"""
"""A worker never returns. It watches the epoch for a moment, then sleeps until it is woken."""

DISPATCH = f"""
define void @dispatch(ptr %pool, ptr %gates, i64 %count, ptr %run, ptr %record, ptr %arena) {{
entry:
{_loaded("pool", PoolRecord, "done", "wait", "post")}
{_at("pool", PoolRecord, "record", "run", "pending", "epoch")}
  store ptr %record, ptr %record.at
  store ptr %run, ptr %run.at
  store atomic i64 %count, ptr %pending.at release, align 8
  %epoch = atomicrmw add ptr %epoch.at, i64 1 release
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
  call void %run(ptr %record, ptr %arena)
  br label %watch
watch:
  %looks = phi i64 [ 0, %work ], [ %looks.next, %look ]
  %left = load atomic i64, ptr %pending.at monotonic, align 8
  %all = icmp eq i64 %left, 0
  br i1 %all, label %sleep, label %look
look:
  %looks.next = add i64 %looks, 1
  %tired = icmp ugt i64 %looks, {SPIN_LIMIT}
  br i1 %tired, label %sleep, label %watch
sleep:
  %slept = call i32 %wait(ptr %done, i64 -1)
  %woken = icmp eq i32 %slept, 0
  br i1 %woken, label %end, label %sleep
end:
  ret void
}}
"""
"""Wakes `count` workers, works itself, and waits for the rest."""

THREAD = f"""
define ptr @run_once(ptr %self) {{
{_loaded("self", WorkerRecord, "run", "record", "arena")}
{_at("self", WorkerRecord, "done")}
  call void %run(ptr %record, ptr %arena)
  store atomic i64 1, ptr %done.at release, align 8
  ret ptr null
}}
"""
"""The main function of a thread of its own: after `done` it touches nothing any more."""

ACTION_BYTES = 256
"""No system's `struct sigaction` is larger; in all of them the handler comes first."""
INTERRUPT = f"""
@active = internal global ptr null
@previous = internal global [{ACTION_BYTES} x i8] zeroinitializer, align 16
@changed = internal global [{ACTION_BYTES} x i8] zeroinitializer, align 16

define internal void @interrupted(i32 %signal, ptr %info, ptr %context) {{
  %record = load atomic ptr, ptr @active seq_cst, align 8
  %none = icmp eq ptr %record, null
  br i1 %none, label %chain, label %stop
stop:
{_at("record", record.LaunchRecord, "error", "next")}
  %pair = cmpxchg ptr %error.at, i64 0, i64 {record.INTERRUPTED} acq_rel monotonic
  %all = atomicrmw or ptr %next.at, i64 {record.TAKEN_BY_NOBODY} monotonic
  br label %chain
chain:
  %handler = load ptr, ptr @previous
  call void %handler(i32 %signal, ptr %info, ptr %context)
  ret void
}}

define internal ptr @interrupt_begin(ptr %sigaction, i32 %signal, ptr %record) {{
  %outer = load atomic ptr, ptr @active seq_cst, align 8
  store atomic ptr %record, ptr @active seq_cst, align 8
  %nested = icmp ne ptr %outer, null
  br i1 %nested, label %done, label %first
first:
  %asked = call i32 %sigaction(i32 %signal, ptr null, ptr @previous)
  %handler = load i64, ptr @previous
  %plain = icmp ult i64 %handler, 2
  br i1 %plain, label %done, label %change
change:
  %copied = call ptr @memcpy(ptr @changed, ptr @previous, i64 {ACTION_BYTES})
  store ptr @interrupted, ptr @changed
  %set = call i32 %sigaction(i32 %signal, ptr @changed, ptr null)
  br label %done
done:
  ret ptr %outer
}}

define internal void @interrupt_end(ptr %sigaction, i32 %signal, ptr %outer) {{
  store atomic ptr %outer, ptr @active seq_cst, align 8
  %nested = icmp ne ptr %outer, null
  br i1 %nested, label %done, label %look
look:
  %asked = call i32 %sigaction(i32 %signal, ptr null, ptr @changed)
  %handler = load ptr, ptr @changed
  %ours = icmp eq ptr %handler, @interrupted
  br i1 %ours, label %restore, label %done
restore:
  %set = call i32 %sigaction(i32 %signal, ptr @previous, ptr null)
  br label %done
done:
  ret void
}}

define void @run_guarded(ptr %sigaction, i32 %signal, ptr %run, ptr %record, ptr %arena) {{
  %outer = call ptr @interrupt_begin(ptr %sigaction, i32 %signal, ptr %record)
  call void %run(ptr %record, ptr %arena)
  call void @interrupt_end(ptr %sigaction, i32 %signal, ptr %outer)
  ret void
}}

define void @dispatch_guarded(ptr %sigaction, i32 %signal,
    ptr %pool, ptr %gates, i64 %count, ptr %run, ptr %record, ptr %arena) {{
  %outer = call ptr @interrupt_begin(ptr %sigaction, i32 %signal, ptr %record)
  call void @dispatch(ptr %pool, ptr %gates, i64 %count, ptr %run, ptr %record, ptr %arena)
  call void @interrupt_end(ptr %sigaction, i32 %signal, ptr %outer)
  ret void
}}

declare ptr @memcpy(ptr, ptr, i64)
"""
"""While a launch runs, SIGINT first stops it (`error`, `next`), then does what it did before. The
handler touches nothing but atomics, as a signal handler must."""

TEXT = WORKER + DISPATCH + THREAD + INTERRUPT
NAMES = ("worker", "dispatch", "run_once", "run_guarded", "dispatch_guarded")


@cache
def support() -> MachineCode:
    """The compiled code of this file."""
    return load(cached_object(TEXT, host()), NAMES, immortal=True)
