"""Programs take turns: one runs at a time, and one that waits lets the others go on.

One idea: a program runs straight through on the calling thread until it pauses (a `while` went
round and may be waiting for somebody). Then its thread sleeps and the turn goes to a program not
yet begun, or else to the one that has slept longest. So kernels that never wait pay nothing, spin
locks and flags make progress, and a deadlock is noticed: everybody went round once more, and
nothing that any of them could see had changed.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ...errors import KernelError, Where
from .memory import Index


class Abandoned(BaseException):
    """Unwinds a sleeping program after another one failed."""


@dataclass(eq=False)
class Sleeper:
    """A program that waits for its turn; `gate` is held until it comes."""

    index: Index
    where: Where
    gate: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


class Turns:
    """Runs `body` on every program. `changes()` counts the changes of memory; `patience` is how
    many rounds without any make a deadlock (one is proof where a pause says truly whether the
    program's own state is the same)."""

    def __init__(
        self,
        programs: Iterable[Index],
        body: Callable[[Index], None],
        changes: Callable[[], int],
        patience: int = 1,
    ) -> None:
        self.programs: Iterator[Index] = iter(programs)
        self.body = body
        self.changes = changes
        self.patience = patience
        self.begun_all = False
        self.sleepers: deque[Sleeper] = deque()
        self.threads: list[threading.Thread] = []
        self.failure: BaseException | None = None
        self.idle = 0
        self.seen = -1

    def run(self) -> None:
        """Returns when all programs have finished. Raises the first exception that one raised."""
        self._work()
        for thread in self.threads:
            thread.join()
        if self.failure is not None:
            raise self.failure

    def _work(self) -> None:
        """Runs programs that nobody has begun, then passes the turn on for good."""
        try:
            while (index := next(self.programs, None)) is not None and self.failure is None:
                self.body(index)
                self.idle = 0
            self.begun_all = True
        except Abandoned:
            pass
        except BaseException as error:
            self.failure = self.failure or error
        if self.sleepers:
            self.sleepers.popleft().gate.release()

    def pause(self, index: Index, where: Where, same: bool) -> None:
        """Lets every other program run before this one goes on; `same`: it went round without any
        change of its own.

        Raises KernelError where no program can ever go on.
        """
        me = Sleeper(index, where)
        self._count(me, same)
        self.sleepers.append(me)
        if not self._begin_another():
            self.sleepers.popleft().gate.release()
        self._sleep(me)
        if self.failure is not None:
            raise Abandoned

    def _begin_another(self) -> bool:
        """Gives the turn to a new thread for the programs not yet begun, if there are any."""
        if self.begun_all:
            return False
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(self._work,), daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads: the programs begun so far go on first
            return False
        self.threads.append(thread)
        return True

    def _sleep(self, me: Sleeper) -> None:
        try:
            me.gate.acquire()
        except BaseException as interruption:  # Ctrl-C: it is somebody else's turn
            self.failure = self.failure or interruption
            me.gate.acquire()

    def _count(self, me: Sleeper, same: bool) -> None:
        """Counts pauses in a row without any change, and raises when that proves a deadlock."""
        changes = self.changes()
        self.idle = self.idle + 1 if same and changes == self.seen else 0
        self.seen = changes
        waiting = [*self.sleepers, me]
        if self.begun_all and self.idle > len(waiting) * self.patience:
            raise KernelError(_deadlock(waiting), me.where)


def _deadlock(waiting: list[Sleeper]) -> str:
    """Who waits where."""
    lines = [f"deadlock: nothing changes any more, and {len(waiting)} programs wait for that:"]
    for sleeper in waiting[:8]:
        place = str(sleeper.where[0]) if sleeper.where else "an unknown line"
        lines.append(f"  program {sleeper.index} waits at {place}")
    if len(waiting) > 8:
        lines.append(f"  and {len(waiting) - 8} more")
    return "\n".join(lines)
