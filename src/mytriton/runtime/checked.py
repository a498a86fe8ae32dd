"""Launches of kernels with checks: the values of the hidden parameters, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import KernelMemoryError
from ..ir.nodes import Op, Param
from ..passes.checks.hidden import Hidden
from ..targets import Executable, Grid
from ..targets.memory import Argument, Buffer
from ..targets.reports import Listener, listening
from .checks import session

EVERYWHERE = (0, 1 << 62)
"""The bounds of an array whose size is not known."""


@dataclass(frozen=True)
class Checked:
    """An executable that takes hidden parameters after the kernel's own. origins: the ops that its
    reports name by number, by kind."""

    executable: Executable
    kernel: str
    params: tuple[Param, ...]
    hidden: tuple[Hidden, ...]
    origins: Mapping[str, tuple[Op, ...]]

    def launch(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        """Runs every program of the grid, and gives what is found to the session at hand. Raises
        KernelMemoryError for an access outside its array, and what the executable raises."""
        given = dict(zip(self.params, arguments))
        values = [ROLES[param.role](given, param) for param in self.hidden]
        with listening() as heard:
            try:
                self.executable.launch(grid, [*arguments, *values])
            except KernelMemoryError as error:
                self._tell(heard, error)
                raise
        self._tell(heard, None)

    def _tell(self, heard: Listener, error: KernelMemoryError | None) -> None:
        found = session()
        if found is None or not (heard.told or error):
            return
        from .explain_reports import findings_of, out_of_bounds

        for finding in findings_of(heard, self.origins, self.kernel):
            found.add(finding)
        if error is not None:
            found.add(out_of_bounds(error, self.kernel))


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
