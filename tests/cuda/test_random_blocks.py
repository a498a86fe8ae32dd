"""Random programs over blocks leave under cudasim what the eager driver leaves: see
random_blocks.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.backends import missing

from .random_blocks import check

pytestmark = pytest.mark.skipif(bool(missing("cudasim")), reason=missing("cudasim"))


@pytest.mark.parametrize("first", [0, 3, 6, 1010, 1020])
def test_random_blocks_leave_the_same_memory(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 3):
        check(seed, tmp_path)


@pytest.mark.fuzz
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("first", range(100, 1100, 100))
def test_more_random_blocks_leave_the_same_memory(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 100):
        check(seed, tmp_path)
