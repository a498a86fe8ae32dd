"""The plans and the loops of every example's kernels, as text; `UPDATE=1` refreshes the files.

The loops are those for one machine, whichever this one is.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mytriton.targets.cpu import loops_text, plan_text
from mytriton.targets.cpu.host import made_for

from .machines import MACHINES
from .plans import NAMES, kernels_of


@pytest.mark.parametrize("name", NAMES)
def test_plan_and_loops_are_as_their_files_say(
    name: str, expected: Callable[[str, str], None]
) -> None:
    kernels = kernels_of(name)
    assert kernels
    with made_for(MACHINES["sse2"]):  # whatever this machine multiplies in one instruction
        plans = [f"{kernel}\n{plan_text(*given)}" for kernel, given in kernels.items()]
    with made_for(MACHINES["avx2"]):
        loops = [f"{kernel}\n{loops_text(*given)}" for kernel, given in kernels.items()]
    expected(f"plans/{name}.txt", "\n".join(plans))
    expected(f"loops/{name}.txt", "\n".join(loops))


def test_there_are_plans_of_forty_kernels() -> None:
    from tests.conftest import EXPECTED

    texts = [file.read_text() for file in (EXPECTED / "plans").iterdir()]
    assert sum(text.count("\n\n") + 1 for text in texts) >= 40
