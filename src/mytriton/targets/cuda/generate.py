"""From an optimised function to CUDA C++: the distribution is chosen, then the text is printed."""

from __future__ import annotations

from dataclasses import replace

from ...errors import CompileValueError
from ...ir.nodes import Function
from .assign import tiled
from .emit import emit
from .emit.distribution import Distribution, lane_rule
from .emit.options import Options
from .source import CudaSource

__all__ = ["Options", "generate"]

WARPS = 4
"""The warps of a program where the launch does not say."""


def generate(function: Function, options: Options = Options(), **changed: object) -> CudaSource:
    """The kernel as CUDA C++; keywords replace fields of the options.

    Raises CompileValueError, at the op's kernel line, for what cannot be lowered.
    """
    options = replace(options, **changed)  # type: ignore[arg-type]
    return emit(function, distribution(function, options), options)


def distribution(function: Function, options: Options) -> Distribution:
    """How the function's blocks are spread over threads: tiled where `num_warps` is given, or where
    the lane rule is not defined."""
    if options.num_warps is None:
        try:
            return lane_rule(function)
        except CompileValueError:
            pass
    return tiled(function, options.num_warps or WARPS)
