"""Programs that wait for each other on the CPU: they may print, and a deadlock says where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import KernelError
from mytriton.targets.cpu.launch import cooperative_launch


@triton.jit
def consumer_first(flag, value):
    if tl.program_id(0) == 0:
        while tl.atomic_add(flag, 0) == 0:
            pass
        tl.device_print("got", tl.load(value))
    else:
        tl.store(value, 5)
        tl.atomic_xchg(flag, 1)


@triton.jit
def for_ever(flag):
    while tl.atomic_add(flag, 0) == 0:  # waits
        pass


@triton.jit
def for_ever_in_two_places(flag):
    while tl.atomic_add(flag, 0) == 0:
        pass
    while tl.atomic_add(flag, 1) == 0:
        pass


def test_a_kernel_that_prints_and_waits_ends(capsys: Any) -> None:
    """Programs that wait run side by side, also where they print."""
    consumer_first[(2,)](np.zeros(1, np.int32), np.zeros(1, np.int32), target="cpu")
    assert capsys.readouterr().out == "pid (0, 0, 0) got: 5\n"


@pytest.mark.parametrize("programs", [1, 3])
def test_a_deadlock_names_its_loop_and_counts_who_waits(programs: int, monkeypatch: Any) -> None:
    """The error says how many programs wait, and at which line."""
    monkeypatch.setattr(cooperative_launch, "DEADLOCK_SECONDS", 0.2)
    with pytest.raises(KernelError, match=f"and {programs} programs wait") as caught:
        for_ever[(programs,)](np.zeros(1, np.int32), target="cpu")
    assert caught.value.where[0].text.endswith("# waits")


def test_a_deadlock_names_every_loop_that_may_wait(monkeypatch: Any) -> None:
    monkeypatch.setattr(cooperative_launch, "DEADLOCK_SECONDS", 0.2)
    with pytest.raises(KernelError, match="1 programs wait") as caught:
        for_ever_in_two_places[(1,)](np.zeros(1, np.int32), target="cpu")
    assert str(caught.value).count("perhaps at") == 2
