"""How a kernel tells of tainted lanes: one number for a whole block, and a report if it is not 0.

The number is the largest over the lanes of (taint, place from the end), so its upper half says
which op tainted and its lower half which is the first of the lanes that it tainted:

    key = max over lanes of  taint * 2**32 + (size - 1 - lane)   where tainted and on, else 0

A reduction joins the loops that compute and store the block; the report itself is a scalar matter.
"""

from __future__ import annotations

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
    """What a program will report: the key, what the value was used as, the shape of the block, and
    the op's line."""

    key: IrTerm
    role: str
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
        bad, key = stretched(bad, shape), stretched(key, shape) | _from_the_end(shape)
    return IrTerm(reduced("maximum", bad.where(key, 0).value))


def _from_the_end(shape: tuple[int, ...]) -> IrTerm:
    """How many lanes come after each, in row-major order."""
    after, step = None, 1
    for axis in reversed(range(len(shape))):
        extent = shape[axis]
        lanes = IrTerm(emit("arange", start=0, end=extent)).to(I64)
        part = (lanes * -1 + (extent - 1)) * step
        if len(shape) > 1:
            at = tuple(extent if other == axis else 1 for other in range(len(shape)))
            part = IrTerm(emit("reshape", part.value, shape=at))
        after, step = part if after is None else after + part, step * extent
    assert after is not None
    return after


def emit_findings(kind: str, findings: Sequence[Finding]) -> None:
    """Emits the reports of findings, behind one condition."""
    some = findings[0].key
    for finding in findings[1:]:
        some = some | finding.key

    def report() -> None:
        for finding in findings:
            current().where = finding.where
            attrs = {"kind": kind, "detail": (finding.role, *finding.shape)}
            current().emit("report", [finding.key.ne(0).value, finding.key.value], attrs)

    emit_if(some.ne(0), report)


def decoded(key: int, shape: tuple[int, ...]) -> tuple[int, int]:
    """The taint and the lane of a key."""
    size = 1
    for extent in shape:
        size *= extent
    return key >> HALF, size - 1 - (key & (1 << HALF) - 1)
