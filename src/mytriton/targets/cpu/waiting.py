"""Launches whose programs wait for each other: as many threads as it takes, and an end to
deadlocks.

One idea: a `while` that may wait for another program (`may_spin`) gives up the processor each
time round, and counts in the job when what it carries has changed. A few threads begin; while
nothing is finished, more are started, until every program that has not been begun has its own. When
all of them wait and nothing has changed for seconds, the launch is stopped.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

from ...errors import KernelError
from ...ir.effects import may_spin
from ...ir.nodes import Function, walk
from .pool import Arena

PATIENCE = 5.0
"""Seconds without any change after which waiting programs are taken to wait for ever."""
PAUSE = 0.002
"""Seconds between two looks at a launch that waits."""
STACK = 1 << 20
DEADLOCK = -1

WAIT = """define internal i1 @wait_turn(ptr %job, i1 %changed) noinline {
  br i1 %changed, label %count, label %yield
count:
  %progress = getelementptr i8, ptr %job, i64 88
  %old = atomicrmw add ptr %progress, i64 1 monotonic
  br label %yield
yield:
  %yield.at = getelementptr i8, ptr %job, i64 72
  %function = load ptr, ptr %yield.at
  %gone = call i32 %function()
  %status.at = getelementptr i8, ptr %job, i64 40
  %status = load atomic i64, ptr %status.at monotonic, align 8
  %stop = icmp ne i64 %status, 0
  ret i1 %stop
}"""
"""Gives up the processor; true when the launch has been stopped. Offsets are those of
`module.JOB`.
"""


def waits(function: Function) -> bool:
    return any(may_spin(op) for op in walk(function.body))


def deadlock(function: Function, left: int) -> KernelError:
    """What `left` programs that wait for ever raise: at the loop, or naming each that may wait."""
    loops = dict.fromkeys(op.where for op in walk(function.body) if may_spin(op))
    text = f"deadlock: nothing changes any more, and {left} programs wait for that"
    if len(loops) == 1:
        return KernelError(text, *loops)
    places = "".join(f"\n  perhaps at {where[0]}" for where in loops if where)
    return KernelError(text + places, ())


class Watch:
    """The fields of a job that tell how far its programs are."""

    def __init__(self, job: Any, offsets: dict[str, int]) -> None:
        self._job, self._offsets = job, offsets

    def __getitem__(self, name: str) -> int:
        place = ctypes.addressof(self._job) + self._offsets[name]
        return ctypes.c_int64.from_address(place).value

    def stop(self, status: int) -> None:
        place = ctypes.addressof(self._job)
        ctypes.c_int64.from_address(place + self._offsets["status"]).value = status
        ctypes.c_int64.from_address(place).value = 1 << 62

    def state(self) -> tuple[int, int]:
        return self["finished"], self["progress"]


def run_waiting(
    run: Callable[[int, int], None], job: Any, watch: Watch, arena_bytes: int, threads: int
) -> int:
    """Runs a job whose programs may wait for each other. Returns how many did so for good, and were
    stopped.
    """
    total, left, workers = watch["total"], 0, []

    def work() -> None:
        arena = Arena()  # must outlive the run
        run(ctypes.addressof(job), arena.at_least(arena_bytes))

    def start(count: int) -> None:
        before = threading.stack_size(STACK)
        for _ in range(count):
            workers.append(threading.Thread(target=work, daemon=True))
            workers[-1].start()
        threading.stack_size(before)

    start(min(total, threads))
    seen, since = watch.state(), time.monotonic()
    while watch["finished"] < total and watch["status"] == 0:
        workers[0].join(PAUSE) if workers[0].is_alive() else time.sleep(PAUSE)
        state, now = watch.state(), time.monotonic()
        if state != seen:
            seen, since = state, now
        elif watch["next"] < total:
            start(min(len(workers), total - watch["next"]))
        elif now - since > PATIENCE and watch["inside"] >= total - state[0]:
            left = total - state[0]
            watch.stop(DEADLOCK)
    for worker in workers:
        worker.join()
    return left
