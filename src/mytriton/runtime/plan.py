"""How launches whose arguments are of equal kinds are done, found once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..targets import TARGETS
from ..targets.memory import Argument
from .arguments import Converter, flatten
from .compiled_kernel import CompiledKernel
from .launch import execute, grid_of
from .quick import Like, QuickLaunch, never, quick_launch

if TYPE_CHECKING:
    from .compile import Compilation
    from .jit import JITFunction


@dataclass(frozen=True)
class Plan:
    """What a launch needs to know, found by the arguments' kinds alone: the compilation, the
    target, and for each run-time argument its place and its converter. nested: some are tuples.
    quick: see `quick.py`."""

    compilation: Compilation
    target: str | None
    converters: tuple[tuple[int, Converter], ...]
    nested: bool
    quick: QuickLaunch = never

    def quickened(self, kernel: JITFunction, like: Like) -> Plan:
        """The plan with a function that does launches like one quickly, where there can be one."""
        checked = bool(self.compilation.options.checks)
        if self.target is None or checked or not TARGETS[self.target].takes_addresses:
            return self
        return replace(self, quick=quick_launch(kernel, self, like) or never)

    def warm_up(self) -> CompiledKernel:
        """Compiles all that a launch will need."""
        self.compilation.prepare(self.target)
        if self.target is not None:
            self.compilation.executable(self.target)
        return CompiledKernel(self.compilation, self.target, None)

    def launch(self, grid: Any, values: Sequence[Any]) -> CompiledKernel:
        """Launches over a grid, or only compiles where no target was found.

        Raises CompileValueError for a grid that is none, KernelError for what goes wrong.
        """
        compilation, target = self.compilation, self.target
        # Compiling only, a grid of no program is a mistake; a run over none does nothing.
        extents = grid_of(grid, 1 if target is None else 0)
        if target is None:
            compilation.prepare(None)
        else:
            execute(compilation, target, extents, self.arguments(values))
        return CompiledKernel(compilation, target, extents)

    def arguments(self, values: Sequence[Any]) -> list[Argument]:
        """The run-time arguments, in the order of the function's params."""
        made = [make(values[place]) for place, make in self.converters]
        return flatten(made) if self.nested else made
