"""Launches whose programs wait for each other: as many threads as it takes, and an end to
deadlocks.

A `while` that may wait for another program (`may_spin`) gives up the processor each time round.
After `SPIN_LIMIT` turns in which nothing changed that it carries or that its atomics return, its
program counts as blocked until something does. A few threads begin; only while every program that
has begun and not finished is blocked are more started. When all have begun, and all that are left
have been blocked for `DEADLOCK_TURNS` turns each, the launch is stopped: turns are counted, so one
that computes for long, or a machine that stands still, is no deadlock.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass, field

from ....errors import KernelError
from ....ir.nodes import Function, walk
from ....passes.spinning import may_spin
from .record import CANCELLED, DEADLOCK, LaunchRecord, offset, stop
from .support import WorkerRecord, support
from .threads import Scratch, start_thread

SPIN_LIMIT = 64
"""Turns without a change after which a waiting program counts as blocked."""
SLEEP_MICROSECONDS = 50
"""How long a blocked program sleeps from one turn to the next."""
DEADLOCK_TURNS = 1000
DEADLOCK_SECONDS = 5.0
"""How many turns each of the blocked programs makes, and how long it takes at least, before they
are taken to wait for ever."""
THREADS_PER_PROCESSOR = 2
"""With how many threads a launch begins: one can work while another waits."""
FIRST_POLL_SECONDS, LAST_POLL_SECONDS = 20e-6, 2e-3
"""How long the launching thread sleeps between two looks; ever longer."""

WAIT_TURN = f"""define internal i1 @wait_turn(ptr %record, i1 %changed, ptr %still) noinline {{
  %turns = load i64, ptr %still
  %was = icmp uge i64 %turns, {SPIN_LIMIT}
  br i1 %changed, label %moved, label %same
moved:
  store i64 0, ptr %still
  %progress.at = getelementptr i8, ptr %record, i64 {offset("progress")}
  %progress = atomicrmw add ptr %progress.at, i64 1 monotonic
  br i1 %was, label %unblock, label %yield
unblock:
  %blocked.at = getelementptr i8, ptr %record, i64 {offset("blocked")}
  %blocked = atomicrmw sub ptr %blocked.at, i64 1 acq_rel
  br label %yield
same:
  %more = add i64 %turns, 1
  store i64 %more, ptr %still
  br i1 %was, label %sleep, label %few
few:
  %now = icmp eq i64 %more, {SPIN_LIMIT}
  br i1 %now, label %block, label %yield
block:
  %count.at = getelementptr i8, ptr %record, i64 {offset("blocked")}
  %count = atomicrmw add ptr %count.at, i64 1 acq_rel
  br label %yield
sleep:
  %turns.at = getelementptr i8, ptr %record, i64 {offset("turns")}
  %all = atomicrmw add ptr %turns.at, i64 1 monotonic
  %sleep.at = getelementptr i8, ptr %record, i64 {offset("sleep_function")}
  %sleeping = load ptr, ptr %sleep.at
  %slept = call i32 %sleeping(i32 {SLEEP_MICROSECONDS})
  br label %look
yield:
  %yield.at = getelementptr i8, ptr %record, i64 {offset("yield_function")}
  %yielding = load ptr, ptr %yield.at
  %gone = call i32 %yielding()
  br label %look
look:
  %error.at = getelementptr i8, ptr %record, i64 {offset("error")}
  %error = load atomic i64, ptr %error.at monotonic, align 8
  %stop = icmp ne i64 %error, 0
  ret i1 %stop
}}"""
"""The end of a turn; `still` counts the turns without a change. True: the launch was stopped."""

WAIT_END = f"""define internal void @wait_end(ptr %record, ptr %still) noinline {{
  %turns = load i64, ptr %still
  store i64 0, ptr %still
  %progress.at = getelementptr i8, ptr %record, i64 {offset("progress")}
  %progress = atomicrmw add ptr %progress.at, i64 1 monotonic
  %was = icmp uge i64 %turns, {SPIN_LIMIT}
  br i1 %was, label %unblock, label %done
unblock:
  %blocked.at = getelementptr i8, ptr %record, i64 {offset("blocked")}
  %blocked = atomicrmw sub ptr %blocked.at, i64 1 acq_rel
  br label %done
done:
  ret void
}}"""
"""After the loop: what was waited for has come."""


def waits(function: Function) -> bool:
    """Whether programs of the function may wait for each other."""
    return any(may_spin(op) for op in walk(function.body))


def deadlock(function: Function, left: int) -> KernelError:
    """What `left` programs that wait for ever raise: at the loop, or naming each that may wait."""
    loops = dict.fromkeys(op.where for op in walk(function.body) if may_spin(op))
    text = f"deadlock: nothing changes any more, and {left} programs wait for that"
    if len(loops) == 1:
        return KernelError(text, *loops)
    places = "".join(f"\n  perhaps at {where[0]}" for where in loops if where)
    return KernelError(text + places, ())


@dataclass
class Cooperative:
    """One launch of programs that may wait for each other, under way."""

    run: int
    """The address of the kernel's `run`."""
    record: LaunchRecord
    scratch_bytes: int
    workers: list[tuple[WorkerRecord, Scratch]] = field(default_factory=list)
    most: int = 0
    """How many threads there were."""

    def launch(self, processors: int) -> int:
        """Runs all programs. Returns how many waited for ever, and were stopped.

        Whatever ends it, no thread is left when it returns: an exception in this thread (Ctrl-C)
        stops the launch first.
        """
        try:
            self._start(min(self.record.total, THREADS_PER_PROCESSOR * processors))
            return self._watch()
        except BaseException:
            stop(self.record, CANCELLED)
            raise
        finally:
            self._wait_for_threads()

    def _wait_for_threads(self) -> None:
        """Until no thread is inside the launch, whatever is raised meanwhile (Ctrl-C once more),
        which is raised then."""
        raised: BaseException | None = None
        pause = FIRST_POLL_SECONDS
        while True:
            try:
                while not all(own.done for own, _ in self.workers):
                    time.sleep(pause)
                    pause = min(2 * pause, LAST_POLL_SECONDS)
                break
            except BaseException as error:
                raised = error
                stop(self.record, CANCELLED)
        if raised is not None:
            raise raised

    def _start(self, count: int) -> None:
        main = support().addresses["run_once"]
        for _ in range(count):
            scratch = Scratch()
            own = WorkerRecord(
                arena=scratch.at_least(self.scratch_bytes),
                run=self.run,
                record=ctypes.addressof(self.record),
            )
            self.workers.append((own, scratch))
            try:
                start_thread(main, ctypes.addressof(own))
            except RuntimeError:
                self.workers.pop()
                raise
        self.most = len(self.workers)

    def _watch(self) -> int:
        """Until all have finished, or one has failed: more threads where it takes more."""
        record, total, pause = self.record, self.record.total, FIRST_POLL_SECONDS
        seen, turns, since = self._state(), record.turns, time.monotonic()
        left: int
        while record.finished < total and not record.error:
            time.sleep(pause)
            pause = min(2 * pause, LAST_POLL_SECONDS)
            state = self._state()
            if state != seen:
                seen, turns, since = state, record.turns, time.monotonic()
                continue
            left = total - record.finished
            if record.next < total:
                self._start_more(total - record.next)
            elif (
                record.blocked >= left
                and record.turns - turns >= DEADLOCK_TURNS * left
                and time.monotonic() - since >= DEADLOCK_SECONDS
                and self._state() == seen
            ):
                stop(record, DEADLOCK)
                return left
        return 0

    def _start_more(self, waiting: int) -> None:
        """As many again, where every program that has begun is blocked."""
        begun = self.record.next - self.record.finished
        if self.record.blocked >= begun >= len(self.workers):
            self._start(min(len(self.workers), waiting))

    def _state(self) -> tuple[int, int]:
        return self.record.finished, self.record.progress
