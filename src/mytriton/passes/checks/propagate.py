"""How structural ops hand shadows on: the shadow of what an op makes of its operands.

Element-wise ops, `addptr` and `map` take the union of their operands' shadows; the rest is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...elementary.term import IrTerm
from ...ir.build import current, emit
from ...ir.nodes import Function, Op, Operand
from ...ir.types import I32, Type, shape_of
from .findings import stretched
from .reductions import combiner
from .shadows import Handed, Rules, Shadow, Shadows, union

Given = Sequence[Shadow]


def with_shadows(function: Function, rules: Rules) -> tuple[Function, tuple[Op, ...]]:
    """The function with the checks of one kind, and the ops that its reports name by number."""
    shadows = Shadows(function, rules, PROPAGATE)
    return shadows.function(function), tuple(shadows.origins)


def _moved(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    """The op itself, on the shadows."""
    whole = [shadows.full(operand, _type(operand)).value for operand in op.operands]
    return [IrTerm(value) for value in current().make(op.row, whole, op.attrs)]


def _type(operand: Operand) -> Type:
    assert operand is not None
    return operand.ty


def _same(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    return [given[0]]


def _none(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    """What is in memory counts as clean; what went wrong on the way there has been told."""
    return [None] * len(op.types)


def _load(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    """A lane that is off has the taint of `other`."""
    other, mask = given[2], operands[1]
    return [None if other is None or mask is None else IrTerm(mask).where(0, other)]


def _select(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    condition, left, right = given
    if left is None and right is None:
        return [condition]
    zero = (left or right or _zero()).of(0)
    chosen = IrTerm(operands[0]).where(left or zero, right or zero)
    return [union([condition, chosen])]


def _zero() -> IrTerm:
    raise AssertionError("one of the two is tainted")


def _gather(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    source, index = given
    if source is None:
        return [index]
    whole = shadows.full(op.operands[0], _type(op.operands[0]))
    picked = IrTerm(emit("gather", whole.value, operands[1], **op.attrs))
    return [union([picked, index])]


def along(name: str, shadow: IrTerm, axis: int) -> IrTerm:
    """A block reduced along an axis; shadows by `maximum` (any) or `minimum` (all)."""
    region = combiner(name, shadow.element)
    (made,) = current().emit("reduce", [shadow.value], {"axis": axis}, (region,))
    return IrTerm(made)


def kept_axis(name: str, shadow: IrTerm, axis: int) -> IrTerm:
    """`along`, with the axis left at extent 1."""
    shape = list(shape_of(shadow.ty))
    shape[axis] = 1
    return IrTerm(emit("reshape", along(name, shadow, axis).value, shape=tuple(shape)))


def whole_union(op: Op, given: Given) -> IrTerm:
    """The union of the shadows of an op's blocks of one shape, at that shape."""
    found, first = union(given), op.operands[0]
    assert found is not None
    assert first is not None
    return stretched(found, shape_of(first.ty))


def _reduce(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    return [along("maximum", whole_union(op, given), op.attrs["axis"])] * len(op.types)


def _scan(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    attrs, whole = dict(op.attrs), whole_union(op, given)
    (made,) = current().emit("scan", [whole.value], attrs, (combiner("maximum", I32),))
    return [IrTerm(made)] * len(op.types)


def _sort(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
    return [kept_axis("maximum", whole_union(op, given), op.attrs["axis"])] * len(op.types)


def dot_by(name: str) -> Handed:
    """Rows of the left operand, columns of the right one, elements of the accumulator."""

    def handed(shadows: Shadows, op: Op, operands: Sequence[Operand], given: Given) -> Given:
        parts = list(given[2:])
        for place, axis in ((0, -1), (1, -2)):
            operand = op.operands[place]
            if given[place] is not None and operand is not None:
                rank = len(shape_of(operand.ty))
                parts.append(kept_axis(name, shadows.full(operand, operand.ty), rank + axis))
        return [union(parts)]

    return handed


PROPAGATE: Mapping[str, Handed] = {
    **dict.fromkeys(("broadcast", "reshape", "trans", "slice", "split", "join", "cat"), _moved),
    **dict.fromkeys(("cast", "bitcast", "hint"), _same),
    **dict.fromkeys(("atomic", "atomic_cas", "histogram"), _none),
    "load": _load,
    "select": _select,
    "gather": _gather,
    "reduce": _reduce,
    "scan": _scan,
    "sort": _sort,
    "dot": dot_by("maximum"),
}
