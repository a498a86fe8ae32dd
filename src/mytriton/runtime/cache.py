"""What a kernel's compilations are kept under, and the artifacts themselves.

One idea: a key holds only what can change the code: the types of the run-time arguments and the
values of the constexprs. Each stage of an artifact is made when it is first asked for.

    first cache    a kernel's own: key → Artifact          JITFunction.artifacts
    second cache   loaded GPU kernels by name and source   targets/cuda
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import Where
from ..frontend.guards import Captured, captured
from ..frontend.signature import Constexpr
from ..ir.nodes import Function


@dataclass
class Artifact:
    """One compilation of a kernel: the traced function, and every stage after it on demand."""

    fn: Callable[..., Any]
    arguments: Mapping[str, Any]
    """By parameter: an IR type (or tuple of them) or a `Constexpr`."""
    debug: bool = False
    """Whether CUDA code checks device asserts; the other targets always do."""
    traced: Function = field(init=False)
    captured: Captured = field(init=False)

    def __post_init__(self) -> None:
        from ..frontend.inline import recording  # with all that rewrites: loaded by the first trace
        from ..frontend.trace import trace

        with recording() as reached:
            self.traced = trace(self.fn, self.arguments)
        self.captured = captured(reached)

    @property
    def types(self) -> tuple[Any, ...]:
        """The types of the run-time arguments, in order."""
        return tuple(v for v in self.arguments.values() if not isinstance(v, Constexpr))

    @cached_property
    def function(self) -> Function:
        """The optimised IR."""
        from ..passes.pipeline import optimize

        return optimize(self.traced)

    @cached_property
    def cuda(self) -> Any:
        """The CUDA source. Raises CompileValueError where the lane rule is not defined."""
        from ..targets.cuda import generate

        return generate(self.function, debug=self.debug)

    @cached_property
    def _native(self) -> dict[bool, Any]:
        return {}

    def native(self, overlap: bool) -> Any:
        """The CPU kernel, for arguments that may overlap or that do not."""
        if overlap not in self._native:
            from ..targets import cpu

            self._native[overlap] = cpu.compile(self.function, overlap)
        return self._native[overlap]

    @cached_property
    def written(self) -> dict[str, Where]:
        """The names of the params that are stored through, with the line that does."""
        from ..passes.provenance import written

        return written(self.traced)
