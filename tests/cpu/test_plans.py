"""The plans of every example's kernels, as text; `UPDATE=1` refreshes the files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mytriton.targets.cpu import plan_text
from mytriton.targets.cpu.host import made_for

from .machines import MACHINES
from .plans import NAMES, kernels_of


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_is_as_its_file_says(name: str, expected: Callable[[str, str], None]) -> None:
    kernels = kernels_of(name)
    assert kernels
    with made_for(MACHINES["sse2"]):  # whatever this machine multiplies in one instruction
        parts = [f"{kernel}\n{plan_text(*given)}" for kernel, given in kernels.items()]
    expected(f"plans/{name}.txt", "\n".join(parts))


def test_there_are_plans_of_forty_kernels() -> None:
    from tests.conftest import EXPECTED

    texts = [file.read_text() for file in (EXPECTED / "plans").iterdir()]
    assert sum(text.count("\n\n") + 1 for text in texts) >= 40
