"""Axis information: divisibility, contiguity, constancy and bounds of every int and pointer.

The lattice and what its facts mean are in `axis_lattice`, what each op makes of them in
`axis_transfer`; the fixed point over loops is that of `dataflow`. (After Triton's `AxisInfo`.)

    known = axis_info(function, {"x": divisible(x.ty, 16), "n": equal_to(n.ty, 1)})
    known.of(store.operands[0]).contiguity         # how far a vector store may go, per axis
    known.of(index).bounded()                      # (least, greatest), or None
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from ..ir.nodes import Const, Function, Op, Operand, Param
from ..ir.types import Type
from .axis_lattice import (
    AxisInfo,
    clamp_to_type,
    cut_to_type,
    divisible,
    equal_to,
    gcds,
    join,
    top,
    type_bounds,
)
from .axis_transfer import RULES
from .dataflow import Analysis
from .loop_values import bounds

__all__ = ["AxisInfo", "axis_info", "divisible", "equal_to", "top"]


class AxisAnalysis(Analysis[AxisInfo]):
    """The axis information of a function's values."""

    def __init__(
        self, function: Function, assumed: Mapping[str, AxisInfo], inside: Set[Operand]
    ) -> None:
        self.assumed, self.inside = assumed, inside
        super().__init__(function)

    def top(self, ty: Type) -> AxisInfo:
        return top(ty)

    def constant(self, constant: Const) -> AxisInfo:
        return equal_to(constant.ty, constant.value)

    def parameter(self, param: Param) -> AxisInfo:
        return self.assumed.get(param.name) or top(param.ty)

    def index(self, op: Op) -> AxisInfo:
        """lo + k * step, between the bounds."""
        low, high, step = map(self.of, bounds(op))
        known = top(op.regions[0].params[0].ty)
        if step.low is not None and step.low > 0 and high.high is not None:
            known = replace(known, low=low.low, high=max(high.high - 1, low.low or 0))
        elif step.high is not None and step.high < 0 and high.low is not None:
            known = replace(known, low=min(high.low + 1, low.high or 0), high=low.high)
        return replace(known, divisibility=gcds(low.divisibility, step.divisibility))

    def transfer(self, op: Op) -> Sequence[AxisInfo]:
        rule = RULES.get(op.name)
        first = rule(op, [None if v is None else self.of(v) for v in op.operands]) if rule else None
        infos = [first or top(ty) for ty in op.types[:1]] + [top(ty) for ty in op.types[1:]]
        if infos and op.results[0] in self.inside:
            infos[0] = cut_to_type(infos[0], op.types[0])
        return [clamp_to_type(info, ty) for info, ty in zip(infos, op.types)]

    def join(self, left: AxisInfo, right: AxisInfo) -> AxisInfo:
        return join(left, right)

    def widen(self, ty: Type, before: AxisInfo, after: AxisInfo) -> AxisInfo:
        """A bound that moved is given up."""
        low, high = type_bounds(ty)
        return replace(
            after,
            low=after.low if after.low == before.low else low,
            high=after.high if after.high == before.high else high,
        )


def axis_info(
    function: Function,
    assumed: Mapping[str, AxisInfo] | None = None,
    inside: Set[Operand] = frozenset(),
) -> AxisAnalysis:
    """The axis information of every value. assumed: what holds of parameters, by name, such as
    `divisible(ty, 16)` of an aligned pointer or `equal_to(ty, 1)` of a stride. inside: values that
    a launch keeps from wrapping, like the numbering of elements by program ids."""
    return AxisAnalysis(function, assumed or {}, inside)
