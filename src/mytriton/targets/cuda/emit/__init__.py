"""From a function and its distribution over threads to CUDA C++ text: a printer, values in layouts,
and a rule per op."""

from __future__ import annotations

from ....ir.nodes import Function
from ..options import Options
from ..source import CudaSource
from . import combine, control, dot, memory, pointwise, report, shapes, sorting
from .distribution import Distribution
from .emitter import Emitter, Rules

RULES = Rules(
    remake={**pointwise.REMAKE, **shapes.REMAKE},
    rules={
        **combine.RULES,
        **control.RULES,
        **dot.RULES,
        **memory.RULES,
        **pointwise.RULES,
        **report.RULES,
        **shapes.RULES,
        **sorting.RULES,
    },
)
"""How each op of the table is printed."""


def emit(function: Function, distribution: Distribution, options: Options) -> CudaSource:
    """The function as CUDA C++."""
    return Emitter(function, distribution, options, RULES).source()
