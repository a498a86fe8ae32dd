"""How a kernel tells of tainted lanes: one number for a whole block, and a report if it is not 0.

The number is the largest over the lanes of (taint, place from the end), so its upper half says
which op tainted and its lower half which is the first of the lanes that it tainted:

    key = max over lanes of  taint * 2**32 + (size - 1 - lane)   where tainted and on, else 0

A reduction joins the loops that compute and store the block; the report itself is a scalar matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...elementary.term import IrTerm
from ...errors import Where
from ...ir.build import current, emit
from ...ir.nodes import Operand
from ...ir.types import I64, shape_of
from .branches import emit_if
from .reductions import reduced

HALF = 32
"""The bits of a key below the taint."""


@dataclass(frozen=True)
class Finding:
    """What a program will report: the key, what the value was used as (words), the shape of the
    block, and the op's line."""

    key: IrTerm
    role: tuple[str, ...]
    shape: tuple[int, ...]
    where: Where


def stretched(term: IrTerm, shape: tuple[int, ...]) -> IrTerm:
    """A term at a larger shape."""
    return (
        term if shape_of(term.ty) == shape else IrTerm(emit("broadcast", term.value, shape=shape))
    )


def first_lane(taint: IrTerm, mask: Operand, shape: tuple[int, ...]) -> IrTerm:
    """The key of a block of taints, of the lanes that the mask has on."""
    bad = taint.ne(0)
    if mask is not None:
        bad = bad & IrTerm(mask)
    key = taint.to(I64) << HALF
    if shape:
        lanes, size = lanes_of(shape), math.prod(shape)
        assert lanes is not None
        key = stretched(key, shape) | (lanes.to(I64) * -1 + (size - 1))
        bad = stretched(bad, shape)
    return IrTerm(reduced("maximum", bad.where(key, 0).value))


def lanes_of(shape: tuple[int, ...]) -> IrTerm | None:
    """The number of each lane of a block, in row-major order; None for a scalar."""
    found: IrTerm | None = None
    step = 1
    for axis in reversed(range(len(shape))):
        part = IrTerm(emit("arange", start=0, end=shape[axis])) * step
        if len(shape) > 1:
            at = tuple(shape[axis] if other == axis else 1 for other in range(len(shape)))
            part = IrTerm(emit("reshape", part.value, shape=at))
        found, step = part if found is None else found + part, step * shape[axis]
    return found


def emit_findings(kind: str, findings: Sequence[Finding]) -> None:
    """Emits the reports of findings, behind one condition."""
    some = findings[0].key
    for finding in findings[1:]:
        some = some | finding.key

    def report() -> None:
        for finding in findings:
            current().where = finding.where
            attrs = {"kind": kind, "detail": (*finding.role, *finding.shape)}
            current().emit("report", [finding.key.ne(0).value, finding.key.value], attrs)

    emit_if(some.ne(0), report)


def decoded(key: int, shape: tuple[int, ...]) -> tuple[int, int]:
    """The taint and the lane of a key."""
    return key >> HALF, math.prod(shape) - 1 - (key & (1 << HALF) - 1)
