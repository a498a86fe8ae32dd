"""Launches of kernels with checks: the values of the hidden parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.nodes import Param
from ..passes.checks.hidden import Hidden
from ..targets import Executable, Grid
from ..targets.memory import Argument, Buffer

EVERYWHERE = (0, 1 << 62)
"""The bounds of an array whose size is not known."""


@dataclass(frozen=True)
class Checked:
    """An executable that takes hidden parameters after the kernel's own."""

    executable: Executable
    params: tuple[Param, ...]
    hidden: tuple[Hidden, ...]

    def launch(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        """Runs every program of the grid. Raises KernelMemoryError for an access outside its
        array, and what the executable raises."""
        given = dict(zip(self.params, arguments))
        values = [ROLES[param.role](given, param) for param in self.hidden]
        self.executable.launch(grid, [*arguments, *values])


Given = dict[Param, Argument]


def _span(given: Given, param: Hidden) -> tuple[int, int]:
    assert param.of is not None
    buffer = given[param.of]
    assert isinstance(buffer, Buffer)
    return EVERYWHERE if buffer.nbytes is None else buffer.span


ROLES: dict[str, Callable[[Given, Hidden], Argument]] = {
    "start": lambda given, param: _span(given, param)[0],
    "end": lambda given, param: _span(given, param)[1],
}
"""The value of a hidden parameter, by its role."""
