"""Loop-carried values and branch results: what belongs to result number k of a `for`, `while` or
`if`.

The terms are those of MLIR's `scf` dialect. A loop carries values: each has an `init` operand, an
`iter_arg` (a param of every region), what the body `yielded` for the next iteration, and a
`result`. An `if` has results only, which either region yields. Passes and analyses ask here, so
that the positions of these operands and params are known to this file alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.nodes import Op, Operand, Param
from .rebuild import pick, trim


def bounds(op: Op) -> tuple[Operand, ...]:
    """The operands that are no `init`: lo, hi and step of a `for`, the condition of an `if`."""
    return op.operands[: len(op.operands) - len(op.types)] if op.row.is_loop else op.operands


def controls(op: Op) -> tuple[Operand, ...]:
    """What decides how the regions run: the bounds, and the condition of a `while`."""
    test = op.regions[0].results if op.row.is_loop and len(op.regions) == 2 else ()
    return bounds(op) + test


def init(op: Op, k: int) -> Operand:
    """The value that a loop's result k has before the first iteration."""
    return op.operands[len(op.operands) - len(op.types) + k]


def yielded(op: Op, k: int) -> Operand:
    """What a loop's body gives for result k at the end of an iteration."""
    return op.regions[-1].results[k]


def incoming(op: Op, k: int) -> list[Operand]:
    """The values that result k, and the iter_args of a loop, may take."""
    if op.row.is_loop:
        return [init(op, k), yielded(op, k)]
    return [region.results[k] for region in op.regions]


def iter_args(op: Op, k: int) -> list[Param]:
    """The params that hold value k inside a loop, one in each region; none of an `if`."""
    if not op.row.is_loop:
        return []
    return [region.params[len(region.params) - len(op.types) + k] for region in op.regions]


def index(op: Op) -> Param | None:
    """The induction variable of a `for`."""
    return op.regions[0].params[0] if op.row.is_loop and len(op.regions) == 1 else None


def keep(op: Op, kept: Sequence[int]) -> Op:
    """The op with only these of its results (and of the values it carries)."""
    inits = [init(op, k) for k in kept] if op.row.is_loop else []
    regions = []
    for place, region in enumerate(op.regions):
        fixed = region.params[: len(region.params) - len(op.types)] if region.params else ()
        inside = [iter_args(op, k)[place] for k in kept] if region.params else []
        test = op.row.is_loop and place < len(op.regions) - 1
        results = region.results if test else pick(region.results, kept)
        regions.append(trim(region, (*fixed, *inside), results))
    operands = (*bounds(op), *inits)
    return Op(op.row, operands, pick(op.types, kept), op.attrs, tuple(regions), op.where)
