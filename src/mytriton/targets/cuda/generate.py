"""From an optimised function to CUDA C++: the distribution is chosen, then the text is printed."""

from __future__ import annotations

from dataclasses import replace

from ...ir.build import PlainBuilder
from ...ir.nodes import Function, Op, Operand, walk
from ...ir.recursion import deeply
from ...ir.types import F32, element_of, shape_of
from ...passes.axis_info import AxisInfo, divisible, equal_to
from ...passes.rebuild import Rebuild, Results
from .assign import tiled
from .emit import emit
from .emit.distribution import MOVING, Distribution, lane_rule
from .emit.numbering import numbering
from .options import Options
from .pipeline import plan
from .source import CudaSource

__all__ = ["Options", "generate", "is_tiled"]

DEFAULT = Options()
WARPS = 4
"""The warps of a program where the launch does not say."""


def generate(function: Function, options: Options = DEFAULT, **changed: object) -> CudaSource:
    """The kernel as CUDA C++; keywords replace fields of the options.

    Raises CompileValueError, at the op's kernel line, for what cannot be lowered.
    """
    options = replace(options, **changed)  # type: ignore[arg-type]
    function = with_precision(function, options.f32_dot)
    # Regions are emitted inside regions, and a chain of `elif` nests them.
    return deeply(lambda: emit(function, distribution(function, options), options))


def with_precision(function: Function, name: str) -> Function:
    """The function whose f32 products say what their input precision is."""

    def dot(rebuild: Rebuild, op: Op, operands: tuple[Operand, ...]) -> Results:
        unsaid = op.attribute("precision") == "default"
        if not unsaid or element_of(op.operands[0].ty) != F32:  # type: ignore[union-attr]
            return None
        return rebuild.builder.make(op.row, operands, {"precision": name})

    if name == "ieee" or all(op.name != "dot" for op in walk(function.body)):
        return function
    return Rebuild({"dot": dot}, PlainBuilder(where=())).function(function)


def distribution(function: Function, options: Options) -> Distribution:
    """How the function's blocks are spread over threads: tiled where `num_warps` is given, or where
    the lane rule is not defined."""
    if not is_tiled(function, options):
        return lane_rule(function)
    inside = frozenset[Operand]() if options.wraps else numbering(function.body)
    made = tiled(function, options.num_warps or WARPS, known(function, options), inside)
    return replace(made, pipelines=plan(function, made, options.num_stages, options.overlap))


def is_tiled(function: Function, options: Options) -> bool:
    """Whether the function is lowered over warps: where `num_warps` is given, and where blocks have
    two axes or values move between lanes, which the lane rule has no words for."""
    if options.num_warps is not None:
        return True
    ops = list(walk(function.body))
    wide = any(len(shape_of(ty)) > 1 for op in ops for ty in op.types)
    return wide or any(op.name in MOVING for op in ops)


def known(function: Function, options: Options) -> dict[str, AxisInfo]:
    """What the specialised arguments are known to be."""
    facts = {}
    for param in function.params:
        if param.name in options.aligned:
            facts[param.name] = divisible(param.ty, 16)
        if param.name in options.ones:
            facts[param.name] = equal_to(param.ty, 1)
    return facts
