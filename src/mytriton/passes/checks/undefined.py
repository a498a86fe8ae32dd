"""Undefined values: what a masked-off lane of a load without `other` has.

They may flow anywhere, and be selected away, but not be used where it matters: stored, as an
address, a mask or a condition, printed, or combined with defined ones. A row of a block that is
undefined as a whole, as where its mask is off, gives an undefined sum; one that is so in part gives
a wrong one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...elementary.term import IrTerm
from ...ir.nodes import Const, Op, Operand
from ...ir.types import BOOL, element_of, shape_of
from .propagate import Given, along, dot_by, kept_axis, whole_union
from .shadows import Handed, Rules, Shadow, Shadows, Sink, union


def _taints(op: Op) -> bool:
    if op.name != "load":
        return False
    _, mask, other = op.operands
    return other is None and mask is not None and not (isinstance(mask, Const) and mask.value)


def _lanes(op: Op, operands: Sequence[Operand], result: IrTerm) -> IrTerm:
    return IrTerm(operands[1]) ^ True


def _logical(settles: bool) -> Handed:
    """`and`, `or`: an operand with one certain value settles the result, whatever the other is."""

    def handed(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
        if element_of(op.types[0]) != BOOL:
            return [union(given)]
        parts: list[Shadow] = []
        for mine, other, value in ((given[0], given[1], 1), (given[1], given[0], 0)):
            if mine is not None:
                unsettled = IrTerm(operands[value]) ^ settles
                if other is not None:
                    unsettled = unsettled | other.ne(0)
                parts.append(unsettled.where(mine, 0))
        return [union(parts)]

    return handed


def _reduce(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    return [along("minimum", whole_union(op, given), op.attrs["axis"])] * len(op.types)


def _sort(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    return [kept_axis("minimum", whole_union(op, given), op.attrs["axis"])] * len(op.types)


def _mixed(shadow: IrTerm, axis: int) -> IrTerm:
    """Of each line along an axis: its taint where only a part of it is tainted."""
    return along("minimum", shadow, axis).ne(0).where(0, along("maximum", shadow, axis))


def _check_lines(shadows: Shadows, op: Op, given: Given) -> None:
    mixed = _mixed(whole_union(op, given), op.attrs["axis"])
    sink = Sink("values", f"a part of what a {op.name} combines")
    shadows.tell(mixed, None, shape_of(mixed.ty), sink, op.where)


def _check_dot(shadows: Shadows, op: Op, given: Given) -> None:
    for place, axis in ((0, -1), (1, -2)):
        operand = op.operands[place]
        if given[place] is not None and operand is not None:
            whole = shadows.full(operand, operand.ty)
            mixed = _mixed(whole, len(shape_of(operand.ty)) + axis)
            sink = Sink("values", "a part of what a dot combines")
            shadows.tell(mixed, None, shape_of(mixed.ty), sink, op.where)


_ADDRESS = Sink("ptr", "an address", early=True)
_MASK = Sink("mask", "a mask", masked=False, early=True)
UNDEFINED = Rules(
    kind="undefined",
    taints=_taints,
    lanes=_lanes,
    sinks={
        "load": (_ADDRESS, _MASK),
        "store": (_ADDRESS, _MASK, Sink("value", "a stored value")),
        "atomic": (_ADDRESS, _MASK, Sink("value", "the operand of an atomic")),
        "atomic_cas": (
            _ADDRESS,
            Sink("expected", "the operand of an atomic"),
            Sink("value", "the operand of an atomic"),
        ),
        "histogram": (Sink("mask", "a mask", masked=False), Sink("value", "a counted value")),
        "print": (Sink("values", "a printed value", masked=False),),
        "assert": (Sink("condition", "the condition of an assert"),),
        "if": (Sink("condition", "the condition of a branch", early=True),),
        "for": tuple(
            Sink(bound, "the bound of a loop", early=True) for bound in ("lo", "hi", "step")
        ),
    },
    handed={
        "and": _logical(False),
        "or": _logical(True),
        "reduce": _reduce,
        "sort": _sort,
        "dot": dot_by("minimum"),
    },
    checks={"reduce": _check_lines, "sort": _check_lines, "dot": _check_dot},
)
