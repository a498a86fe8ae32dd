"""Makes checks of accesses cheap: the ends of a block first, and its lanes only where those fail.

    check_access p, m, s, e     →     if not (s <= low(p) and high(p) + size <= e) {
                                          if any lane of m is outside {
                                              check_access p, m, s, e
                                      } }

The inner check runs only where it stops the launch, so a target may make it slow. The meaning is
that of the check as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...elementary.term import IrTerm
from ...ir.build import current
from ...ir.nodes import Function, Op, Operand
from ...ir.structural import pointee
from ...ir.types import I64, shape_of
from ..rebuild import Rebuild
from .branches import emit_if
from .intervals import Interval, Intervals
from .reductions import reduced

FIRST_PAGE = 4096
"""Addresses below are never memory: a null pointer plus an offset."""


def shrink_checks(function: Function) -> Function:
    """The function with every check behind comparisons that nearly always spare it."""
    return Rebuild({"check_access": _shrunk}).function(function)


def _shrunk(rebuild: Rebuild, op: Op, operands: tuple[Operand, ...]) -> Sequence[Operand]:
    pointer, mask, *bounds = operands
    assert pointer is not None

    def check() -> None:
        current().emit("check_access", operands, dict(op.attrs))

    def look() -> None:
        emit_if(any_lane(outside(pointer, bounds), mask), check)

    if shape_of(pointer.ty):
        known = Intervals()
        fine = inside(known.of(pointer), pointee(pointer.ty).itemsize, bounds)
        for condition in known.conditions:
            fine = fine & condition
        emit_if(fine ^ True, look)
    else:
        look()
    return ()


def inside(ends: Interval, size: int, bounds: Sequence[Operand]) -> IrTerm:
    """Whether all addresses between the ends, `size` bytes each, lie in one of the arrays."""
    if not bounds:
        return ends.low >= FIRST_PAGE
    found: IrTerm | None = None
    for start, end in zip(bounds[::2], bounds[1::2]):
        within = (ends.low >= IrTerm(start)) & (ends.high + size <= IrTerm(end))
        found = within if found is None else found | within
    assert found is not None
    return found


def outside(pointer: Operand, bounds: Sequence[Operand]) -> IrTerm:
    """Which lanes lie in none of the arrays."""
    assert pointer is not None
    address = IrTerm(IrTerm(pointer).to(I64).value)
    return inside(Interval(address, address), pointee(pointer.ty).itemsize, bounds) ^ True


def any_lane(bad: IrTerm, mask: Operand) -> IrTerm:
    """Whether a lane of the mask is bad."""
    if mask is not None:
        bad = bad & IrTerm(mask)
    return IrTerm(reduced("or", bad.value))
