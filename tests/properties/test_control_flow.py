"""Random programs mean what Python says they mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.backends import available, run_on
from tests.support.block_functions import round_trip

from . import programs
from .inputs import examples

TARGETS = [name for name in ("traced", "interpret", "eager", "cpu") if name in available()]
INPUTS = [(0, 0), (1, 2), (7, 3), (-4, 9), (2**31 - 1, -(2**31))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def check(source: str, folder: Path) -> None:
    kernel = programs.load(source, folder)
    for n, m in INPUTS:
        log = np.zeros(programs.SLOTS, np.int32)
        blocks = np.arange(programs.LANES, dtype=np.int32) * 7 - n % 5
        wanted = log.copy(), blocks.copy()
        programs.reference(source, *wanted, n, m)
        for target in TARGETS:
            got = run_on(target, kernel, (1,), log, blocks, n, m)
            what = f"{target}, n={n}, m={m}:\n{source}"
            np.testing.assert_array_equal(got["log"], wanted[0], what)
            np.testing.assert_array_equal(got["blocks"], wanted[1], what)
    for compilation in kernel.compilations.values():
        for stage in {"traced", "ssa"} & set(compilation.made()):
            round_trip(compilation[stage])
    kernel.clear_cache()


@examples(25)
@given(st.integers(0, 2**24), st.integers(1, 6))
def test_random_programs(folder, seed, size):
    check(programs.text(seed, size), folder)


def test_the_reference_wraps_and_exits_as_kernels_do(folder):
    source = (
        programs.HEADER
        + "    for i in range(n & 7):\n"
        + "        if i == 3:\n            break\n"
        + "        if i == 1:\n            continue\n"
        + "        a = a * 1000003 + i\n"
        + "    if m > 5:\n        return\n"
        + programs.FOOTER
    )
    log, blocks = np.zeros(programs.SLOTS, np.int32), np.zeros(programs.LANES, np.int32)
    programs.reference(source, log, blocks, 7, 3)
    a = (7 * 1000003 * 1000003 + 2) % 2**32
    assert log[0] == a - 2**32 * (a >= 2**31) and log[1] == 3
    check(source, folder)
