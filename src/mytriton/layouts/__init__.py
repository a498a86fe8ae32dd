"""Layouts: which thread and register holds which element of a block, and how to move between two.

layout = blocked((64, 64), warps=4, vector=4)
print(picture(layout))
plan = convert(layout, layout_of_the_transpose)
"""

from __future__ import annotations

from .convert import Permute, Plan, Shared, Shuffle, convert
from .linear import Layout
from .picture import picture
from .shapes import blocked, mma_operand, mma_result

__all__ = [
    "Layout",
    "Permute",
    "Plan",
    "Shared",
    "Shuffle",
    "blocked",
    "convert",
    "mma_operand",
    "mma_result",
    "picture",
]
