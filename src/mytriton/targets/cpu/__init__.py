"""The CPU target: a function of the IR as native code, through LLVM.

Read in this order: `types`, `code`, `nest` (how a value looks at a point of a loop), `virtual` (ops
as functions of their index), `schedule` and `plan` (which loops there are), `loops` (a loop nest as
text), `region` and `control`, `module`.
"""

from __future__ import annotations

from ...ir.nodes import Function
from .kernel import CpuKernel


def compile(function: Function, overlap: bool) -> CpuKernel:
    """Compiles an optimised function. `overlap`: distinct pointer arguments may share memory."""
    return CpuKernel(function, overlap)


__all__ = ["CpuKernel", "compile"]
