"""The numbering of elements: values made of program ids, ranges and constants alone.

    pid * BLOCK + arange(0, BLOCK)

A launch seldom has 2^31 elements, so they are printed as plain C, whose signed sums the compiler
may take not to overflow. For a grid over which they would leave 32 bits the text is another, whose
arithmetic wraps.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from ....ir.nodes import Const, Function, Op, Operand, Param, Region, Value, walk
from ... import Grid

Bounds = tuple[int, int]


def numbering(region: Region) -> frozenset[Operand]:
    """The values that number elements."""
    found: set[Operand] = set()
    for op in walk(region):
        if _numbers(op, found):
            found.update(op.results)
    return frozenset(found)


def _numbers(op: Op, found: set[Operand]) -> bool:
    inside = all(isinstance(operand, Const) or operand in found for operand in op.operands)
    return op.name in SOURCES or (op.name in ("add", "sub", "mul") and inside)


SOURCES = ("program_id", "num_programs", "arange")


@lru_cache(1024)
def numbers_leave_32_bits(function: Function, grid: Grid) -> bool:
    """Whether some value that numbers elements is outside an int32 in some program of the grid."""
    bounds: dict[Operand, Bounds] = {}
    if prod(grid) < 2:
        return False
    for op in walk(function.body):
        if _numbers(op, set(bounds)):
            low, high = bounds[op.results[0]] = _bounds(op, grid, bounds)
            if low < -(2**31) or high >= 2**31:
                return True
    return False


def _bounds(op: Op, grid: Grid, bounds: dict[Operand, Bounds]) -> Bounds:
    if op.name == "arange":
        return op.attribute("start"), op.attribute("end") - 1
    if op.name in SOURCES:
        extent = grid[op.attribute("axis")]
        return (0, extent - 1) if op.name == "program_id" else (extent, extent)
    left, right = (_of(operand, bounds) for operand in op.operands)
    if op.name == "mul":
        corners = [a * b for a in left for b in right]
        return min(corners), max(corners)
    if op.name == "sub":
        return left[0] - right[1], left[1] - right[0]
    return left[0] + right[0], left[1] + right[1]


def _of(operand: Operand, bounds: dict[Operand, Bounds]) -> Bounds:
    if isinstance(operand, Const):
        return int(operand.value), int(operand.value)
    assert isinstance(operand, (Value, Param))
    return bounds[operand]
