"""Making a function anew: how passes change what is immutable.

One idea: a pass says what becomes of an op and the rest follows: users of a changed op are made
anew with its replacement, everything else is the very node it was, so a pass that finds nothing to
do costs one walk and gives back the function it got.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir.nodes import Function, Op, Operand, Param, Region, Value


class Copies:
    """Old operand → new operand. An op is copied only where something in it has changed."""

    def __init__(self) -> None:
        self.new: dict[Value | Param, Operand] = {}

    def operand(self, operand: Operand) -> Operand:
        return self.new.get(operand, operand) if isinstance(operand, (Value, Param)) else operand

    def op(self, op: Op, region: Callable[[Region], Region]) -> Op:
        """The op on the new operands, its regions made by `region`; itself if nothing changed."""
        new = self.new
        operands = tuple(self.operand(v) for v in op.operands) if new else op.operands
        regions = tuple(region(inner) for inner in op.regions)
        if _same(operands, op.operands) and _same(regions, op.regions):
            return op
        copy = Op(op.name, operands, op.types, op.attrs, regions, op.where)
        self.new.update(zip(op.results, copy.results))
        return copy

    def region(self, region: Region, ops: Sequence[Op]) -> Region:
        return region if _same(ops, region.ops) else Region(region.params, tuple(ops))

    def function(self, function: Function, body: Region) -> Function:
        if body is function.body:
            return function
        return Function(function.name, function.params, body)


def _same(left: Sequence[object], right: Sequence[object]) -> bool:
    return len(left) == len(right) and all(a is b for a, b in zip(left, right))
