"""Programs that wait for one another make progress; those that wait for ever are reported."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from mytriton.errors import KernelAssertionError, KernelError
from mytriton.ir.build import emit
from mytriton.ir.fold import constant
from mytriton.ir.types import BOOL, I32
from tests.support.build import kernel, launch, loop, ptr, region, several

ZERO, ONE = constant(0, I32), constant(1, I32)


def spin(condition: Any) -> None:
    """while condition: pass"""
    several("while", regions=(loop(condition), loop(lambda: ())))


def test_a_spin_lock_whose_holder_waits_inside() -> None:
    """Each program takes the lock, waits in it for its turn to be counted, adds, and leaves."""

    def body(lock: Any, total: Any) -> None:
        spin(lambda: emit("cmp_ne", emit("atomic_cas", lock, ZERO, ONE), ZERO))
        value = emit("load", total, None, None)
        test = loop(lambda n: emit("cmp_lt", emit("atomic", total, ZERO, None, kind="add"), n), I32)
        several("while", value, regions=(test, loop(lambda n: n, I32)))
        several("store", total, emit("add", value, ONE), None)
        several("atomic", lock, ZERO, None, kind="xchg")

    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(kernel(body, lock=ptr("i32"), total=ptr("i32")), lock, total, grid=(20, 1, 1))
    assert total[0] == 20
    assert lock[0] == 0


def chain(volatile: bool) -> Any:
    """Program i waits for flag i+1 and then raises flag i; the last one waits for nobody."""

    def body(flags: Any) -> None:
        pid = emit("program_id", axis=0)
        following = emit("addptr", flags, emit("add", pid, ONE))

        def low() -> Any:
            return emit("cmp_eq", emit("load", following, None, None, volatile=volatile), ZERO)

        spin(low)
        several("store", emit("addptr", flags, pid), ONE, None)

    return kernel(body, flags=ptr("i32"))


@pytest.mark.parametrize("volatile", [True, False])
def test_consumers_that_come_before_their_producers(volatile: bool) -> None:
    flags = np.zeros(31, np.int32)
    flags[30] = 1
    launch(chain(volatile), flags, grid=(30, 1, 1))
    assert flags.all()


def test_a_barrier_over_the_whole_grid() -> None:
    """All arrive, then each reads what the last one wrote before it arrived."""

    def body(count: Any, data: Any, out: Any, n: Any) -> None:
        pid = emit("program_id", axis=0)
        several("store", emit("addptr", data, pid), emit("add", pid, ONE), None)
        several("atomic", count, ONE, None, kind="add")
        spin(lambda: emit("cmp_lt", emit("load", count, None, None, volatile=True), n))
        last = emit("load", emit("addptr", data, emit("sub", n, ONE)), None, None)
        several("store", emit("addptr", out, pid), last, None)

    count, data, out = np.zeros(1, "i4"), np.zeros(25, "i4"), np.zeros(25, "i4")
    pointers = dict.fromkeys(("count", "data", "out"), ptr("i32"))
    launch(kernel(body, **pointers, n=I32), count, data, out, 25, grid=(25, 1, 1))
    assert out.tolist() == [25] * 25


def test_a_wait_that_counts_its_tries_lets_others_run() -> None:
    def body(flag: Any, tries: Any) -> None:
        pid = emit("program_id", axis=0)
        first = emit("cmp_eq", pid, ZERO)

        def wait() -> None:
            test = loop(
                lambda n: emit("cmp_eq", emit("load", flag, None, None, volatile=True), ZERO), I32
            )
            count = several("while", ZERO, regions=(test, loop(lambda n: emit("add", n, ONE), I32)))
            several("store", tries, count[0], None)

        several("if", first, regions=(region(wait), region(lambda: None)))
        several("store", flag, ONE, emit("cmp_eq", pid, constant(5, I32)))

    flag, tries = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(kernel(body, flag=ptr("i32"), tries=ptr("i32")), flag, tries, grid=(6, 1, 1))
    assert tries[0] >= 1


def test_a_deadlock_names_who_waits_where() -> None:
    flags, before = np.zeros(4, np.int32), threading.active_count()
    with pytest.raises(KernelError, match="deadlock") as caught:
        launch(chain(True), flags, grid=(3, 1, 1))
    assert "3 programs wait" in str(caught.value)
    assert "program (2, 0, 0) waits at kernel.py:7" in str(caught.value)
    assert threading.active_count() == before


def test_a_loop_without_end_is_a_deadlock_of_one() -> None:
    with pytest.raises(KernelError, match="1 programs wait"):
        launch(kernel(lambda: spin(lambda: constant(True, BOOL))))


def test_a_loop_whose_memory_changes_is_none() -> None:
    """while x > 0: x -= 1, all in memory."""

    def body(x: Any) -> None:
        def step() -> None:
            several("store", x, emit("sub", emit("load", x, None, None), ONE), None)

        test = loop(lambda: emit("cmp_gt", emit("load", x, None, None), ZERO))
        several("while", regions=(test, loop(step)))

    x = np.array([50], np.int32)
    launch(kernel(body, x=ptr("i32")), x)
    assert x[0] == 0


def test_a_failure_ends_the_programs_that_wait() -> None:
    def body(flag: Any, n: Any) -> None:
        pid = emit("program_id", axis=0)
        wrong = emit("cmp_ne", pid, n)
        several("assert", wrong, None, message="not this one")
        spin(lambda: emit("cmp_eq", emit("load", flag, None, None, volatile=True), ZERO))

    before = threading.active_count()
    with pytest.raises(KernelAssertionError, match=r"not this one, in program \(3, 0, 0\)"):
        launch(kernel(body, flag=ptr("i32"), n=I32), np.zeros(1, np.int32), 3, grid=(5, 1, 1))
    assert threading.active_count() == before


def test_programs_that_never_wait_use_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any) -> None:
        raise AssertionError("a thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    def body(x: Any) -> None:
        several("atomic", x, ONE, None, kind="add")

    x = np.zeros(1, np.int32)
    launch(kernel(body, x=ptr("i32")), x, grid=(10, 1, 1))
    assert x[0] == 10
