"""Whatever loops and buffers the CPU makes of a program, it leaves the same memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from mytriton.targets.cpu.host import made_for

from .machines import MACHINES, runs_here
from .random_blocks import check


@pytest.mark.parametrize("machine", ["here", "sse2"])
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_blocks_leave_the_same_memory(machine: str, first: int, tmp_path: Path) -> None:
    if not runs_here(machine):
        pytest.skip("this processor cannot run that code")
    with made_for(MACHINES[machine]):
        for seed in range(first, first + 10):
            check(seed, tmp_path)


def test_a_vector_made_before_the_lane_loop_is_of_one_width(tmp_path: Path) -> None:
    """Programs whose main version is wider than the others, and hoists a vector."""
    if not runs_here("avx2"):
        pytest.skip("this processor cannot run that code")
    with made_for(MACHINES["avx2"]):
        check(50032, tmp_path)
