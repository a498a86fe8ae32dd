"""Explaining a call of a kernel: `kernel.explain(x, y, out, n, grid=(4,), BLOCK=64)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .explanation import Explanation, explain
from .launch import Captured, compiled_for, launch_of


def explain_call(
    kernel: Any, values: Sequence[Any], options: Mapping[str, Any], grid: Any, gpu: str = ""
) -> Explanation:
    """Explains a kernel for arguments, in the order of its parameters; with a grid also what each
    program reads and writes, on copies of the arrays."""
    compilation = compiled_for(kernel, values, options, gpu)
    return explain(compilation, launch_of(compilation, values, grid), gpu)


def explain_captured(found: Captured, gpu: str = "") -> Explanation:
    """Explains the first launch that was seen."""
    assert found.first is not None, "there was no launch"
    return explain(*found.first, gpu)
