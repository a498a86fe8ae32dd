"""How a value passes through a loop or a branch: what belongs to result number k.

One idea: a `for` or `while` carries k values, each with a start, a param in every region, what the
body gives back, and a result; an `if` gives k values from either side. Whoever follows or drops one
of them asks here, so no other file knows where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.nodes import Op, Operand, Param
from .rebuild import pick, trim


def has_slots(op: Op) -> bool:
    """Whether the op is a loop or a branch."""
    return bool(op.regions) and op.row.has_control_flow


def _is_loop(op: Op) -> bool:
    return op.row.has_loop_regions


def bounds(op: Op) -> tuple[Operand, ...]:
    """The operands that are no start of a carried value: lo, hi, step, or a condition."""
    return op.operands[: len(op.operands) - len(op.types)] if _is_loop(op) else op.operands


def controls(op: Op) -> tuple[Operand, ...]:
    """What decides how the regions run."""
    test = op.regions[0].results if len(op.regions) == 2 and _is_loop(op) else ()
    return bounds(op) + test


def sources(op: Op, slot: int) -> list[Operand]:
    """What may become result number `slot`: its start and what the body gives, or both sides."""
    if not _is_loop(op):
        return [region.results[slot] for region in op.regions]
    return [op.operands[len(bounds(op)) + slot], op.regions[-1].results[slot]]


def params(op: Op, slot: int) -> list[Param]:
    """The params that hold the value inside."""
    if not _is_loop(op):
        return []
    return [region.params[len(region.params) - len(op.types) + slot] for region in op.regions]


def keep(op: Op, kept: Sequence[int]) -> Op:
    """The op with these slots only."""
    starts = [op.operands[len(bounds(op)) + slot] for slot in kept] if _is_loop(op) else []
    regions = []
    for place, region in enumerate(op.regions):
        fixed = region.params[: len(region.params) - len(op.types)] if region.params else ()
        inside = [params(op, slot)[place] for slot in kept] if region.params else []
        test = _is_loop(op) and place < len(op.regions) - 1
        results = region.results if test else pick(region.results, kept)
        regions.append(trim(region, (*fixed, *inside), results))
    operands = (*bounds(op), *starts)
    return Op(op.row, operands, pick(op.types, kept), op.attrs, tuple(regions), op.where)
