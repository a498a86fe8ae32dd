"""The CPU target: a function of the IR as native code, through LLVM.

Read in this order. What a function becomes: `lowering` and `table` (one row an op), `lower/` (ops
without an instruction become others), `schedule/` (which loops there are, and what lies in
buffers). From the plan to LLVM's text: `types`, `code`, `nest` (how a value looks at a point of a
loop), `pointwise` (ops as functions of their index), `loops` (a loop nest), `region`, `control`,
`module`.
"""

from __future__ import annotations

from ...ir.nodes import Function
from .. import CompileOptions
from .host import host as machine
from .launch.kernel import CpuKernel
from .lower.expand import expand
from .module import nests_text
from .schedule.planner import plan_of
from .schedule.text import plan_text as printed
from .table import LOWERINGS


def compile(function: Function, options: CompileOptions) -> CpuKernel:
    """The executable of an optimised function."""
    return CpuKernel(function, options.overlap)


def plan_text(function: Function, overlap: bool = False) -> str:
    """The plan of an optimised function as text: its loop nests, and what lies in buffers."""
    expanded = expand(function)
    return printed(expanded, plan_of(expanded, overlap, LOWERINGS))


def loops_text(function: Function, overlap: bool = False) -> str:
    """The loops of an optimised function as text: segments of lanes, and the class of each access;
    for this machine, or the one that `host.made_for` names.
    """
    return nests_text(expand(function), overlap, machine())


__all__ = ["CpuKernel", "compile", "expand", "loops_text", "plan_text"]
