"""NaN and infinity: the op that made one of finite operands.

The taint follows the element as long as it is not finite, so what is selected or divided away again
(an infinity in the denominator of a sigmoid) is no fault. It is told where it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...elementary.term import IrTerm
from ...ir.nodes import Const, Op, Operand
from ...ir.types import F32, ScalarType, element_of, shape_of
from .propagate import along, kept_axis
from .shadows import Rules, Sink

FINITE = frozenset(["neg", "abs", "minimum", "maximum", "floor", "ceil", "trunc", "rint"])
"""Element-wise ops that make only finite numbers of finite numbers."""


def is_float(operand: Operand) -> bool:
    return operand is not None and element_of(operand.ty).kind == "f"


def _taints(op: Op) -> bool:
    if not op.types or element_of(op.types[0]).kind != "f":
        return False
    if op.name == "cast":
        (operand,) = op.operands
        return not is_float(operand) or _range(op.results[0]) < _range(operand)
    if op.name in ("dot", "reduce", "scan"):
        return True
    return op.row.element is not None and op.name not in FINITE


def _range(operand: Operand) -> float:
    """The greatest number of a float type."""
    assert operand is not None
    element = element_of(operand.ty)
    assert isinstance(element, ScalarType)
    return element.max_finite


def finite(term: IrTerm) -> IrTerm:
    """Whether each element is neither infinite nor NaN."""
    wide = term if term.element.bits >= 32 else term.to(F32)
    return wide.abs() < float("inf")


def _lanes(op: Op, operands: Sequence[Operand], result: IrTerm) -> IrTerm | None:
    if not is_float(result.value):
        return None
    found = finite(result) ^ True
    for place, operand in enumerate(operands):
        if is_float(operand) and not isinstance(operand, Const):
            found = found & _all_finite(op, place, IrTerm(operand))
    return found


def _all_finite(op: Op, place: int, operand: IrTerm) -> IrTerm:
    """Whether the elements of an operand that make an element of the result are finite."""
    whole = finite(operand)
    if op.name == "reduce":
        return along("and", whole, op.attrs["axis"])
    if op.name == "scan":
        return kept_axis("and", whole, op.attrs["axis"])
    if op.name == "dot" and place < 2:
        return kept_axis("and", whole, len(shape_of(whole.ty)) - 1 - place)
    return whole


def _kept(op: Op, result: IrTerm, shadow: IrTerm) -> IrTerm:
    """A finite element is clean."""
    changes = op.row.element is not None or op.name in ("cast", "dot", "reduce", "scan")
    if not changes or not is_float(result.value) or op.name in ("neg", "abs"):
        return shadow
    return finite(result).where(0, shadow)


def _clears(op: Op) -> bool:
    """What is no float is not followed."""
    return bool(op.types) and element_of(op.types[0]).kind not in "f"


NAN = Rules(
    kind="nan",
    taints=_taints,
    lanes=_lanes,
    clears=_clears,
    kept=_kept,
    sinks={
        "store": (Sink("value", "a stored value"),),
        "atomic": (Sink("value", "the operand of an atomic"),),
        "atomic_cas": (Sink("value", "the operand of an atomic"),),
    },
)
