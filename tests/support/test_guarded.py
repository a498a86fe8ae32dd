"""Guarded arrays: the byte past the end stops the process, one written beside is reported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.guarded import PAGE, PROTECTED, Guarded, guarded_copies

ROOT = Path(__file__).parents[2]
READ = "import ctypes; ctypes.string_at(a.ctypes.data + ({at}), 1)"
PROGRAM = """
import numpy as np
from tests.support.guarded import Guarded
a = Guarded(np.arange({size}, dtype=np.int16), {at_end}).array
"""


@pytest.mark.parametrize("shape", [(), (1,), (5, 3), (PAGE,), (0, 4)])
@pytest.mark.parametrize("at_end", [True, False])
def test_a_copy_holds_the_same(shape: tuple[int, ...], at_end: bool) -> None:
    given = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    guard = Guarded(given, at_end)
    assert guard.array.dtype == given.dtype and guard.array.flags.c_contiguous
    np.testing.assert_array_equal(guard.array, given)
    guard.require_intact("x")


@pytest.mark.skipif(not PROTECTED, reason="no mprotect")
@pytest.mark.parametrize("size", [3, PAGE // 2, PAGE])
def test_the_byte_past_the_end_stops_the_process(size: int) -> None:
    def status(at: str, at_end: bool) -> int:
        program = PROGRAM.format(size=size, at_end=at_end) + READ.format(at=at)
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        command = [sys.executable, "-c", program]
        environment = os.environ | {"PYTHONPATH": path}
        return subprocess.run(command, env=environment, capture_output=True).returncode

    assert status("a.nbytes - 1", True) == 0
    assert status("a.nbytes", True) < 0
    assert status("0", False) == 0
    assert status("-1", False) < 0


def test_a_byte_written_beside_is_reported() -> None:
    for at_end, place in ((True, -1), (False, 3)):
        guard = Guarded(np.zeros(3, np.uint8), at_end)
        guard.bytes[(guard.inside.start + place)] = 7
        with pytest.raises(AssertionError, match="x: bytes beside the array were written"):
            guard.require_intact("x")


def test_copies_leave_the_arguments_alone() -> None:
    x = np.arange(4)
    with guarded_copies((x, 5, None)) as (copy, number, nothing):
        copy[:] = 9
        assert (number, nothing) == (5, None)
    assert x.tolist() == [0, 1, 2, 3]
