"""Making a function anew: how passes change what is immutable.

One idea: a pass says what becomes of an op and the rest follows: users of a changed op are made
anew with its replacement, everything else is the very node it was, so a pass that finds nothing to
do costs one walk and gives back the function it got.

`Rebuild` emits through a `Builder`, so what a change makes known is folded, shared and hoisted on
the way. `Copies` leaves every op where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..ir.build import Builder, using
from ..ir.effects import Effects
from ..ir.nodes import Function, Op, Operand, Param, Region, Value

Results = Sequence[Operand] | None


class Rebuild:
    """Emits a function again, op by op; `rules` say what to emit in place of an op of that name.

    A rule gets this object, the op and its new operands, emits what it likes and returns the
    results; None: the op stays. Region params stay the nodes they are.
    """

    def __init__(self, rules: Mapping[str, Callable[[Any, Op, tuple[Operand, ...]], Results]]):
        self.rules = rules
        self.builder = Builder(where=())
        self.new: dict[Value | Param, Operand] = {}
        self.effects = Effects()

    def operand(self, operand: Operand) -> Operand:
        """What the old operand has become."""
        return self.new.get(operand, operand) if isinstance(operand, (Value, Param)) else operand

    def operands(self, op: Op) -> tuple[Operand, ...]:
        return tuple(map(self.operand, op.operands)) if self.new else op.operands

    def function(self, function: Function) -> Function:
        with using(self.builder):
            self.ops(function.body)
        made = self.builder.ops
        if same(made, function.body.ops[:-1]):
            return function
        body = Region((), (*made, function.body.ops[-1]))
        return Function(function.name, function.params, body)

    def ops(self, region: Region) -> None:
        """Emits the region's ops, but for its yield, into the open region."""
        for op in region.ops[:-1]:
            results = self.op(op)
            for old, new in zip(op.results, results, strict=True):
                if old is not new:
                    self.new[old] = new

    def op(self, op: Op) -> Sequence[Operand]:
        operands = self.operands(op)
        rule = self.rules.get(op.name)
        self.builder.where = op.where
        results = rule(self, op, operands) if rule else None
        return self.keep(op, operands) if results is None else results

    def keep(self, op: Op, operands: tuple[Operand, ...]) -> Sequence[Operand]:
        """The op on its new operands; the op itself where nothing in it changed."""
        regions = tuple(self.region(op, region) for region in op.regions)
        self.builder.where = op.where
        if same(operands, op.operands) and same(regions, op.regions):
            return self.builder.reuse(op)
        return self.builder.emit(op.name, operands, dict(op.attrs), regions)

    def region(self, op: Op, region: Region) -> Region:
        """A region of the op, emitted as one of its kind."""
        self.builder.open(op.row.region_kind, region.params)
        self.ops(region)
        results = tuple(map(self.operand, region.results))
        if same(self.builder.ops, region.ops[:-1]) and same(results, region.results):
            self.builder.discard()
            return region
        self.builder.where = region.ops[-1].where
        return self.builder.close(results)

    def inline(self, region: Region, arguments: Sequence[Operand]) -> list[Operand]:
        """Emits a region's ops where we stand, for these params; what it yields."""
        self.new.update(zip(region.params, arguments))
        self.ops(region)
        return [self.operand(result) for result in region.results]


def trim(region: Region, params: Sequence[Param], results: Sequence[Operand]) -> Region:
    """The region with fewer params and results; its ops are the same nodes."""
    end = Op(region.ops[-1].row, tuple(results), where=region.ops[-1].where)
    return Region(tuple(params), (*region.ops[:-1], end))


def pick(items: Sequence[Any], places: Iterable[int]) -> tuple[Any, ...]:
    """The items at these places."""
    return tuple(items[place] for place in places)


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
        if same(operands, op.operands) and same(regions, op.regions):
            return op
        copy = Op(op.row, operands, op.types, op.attrs, regions, op.where)
        self.new.update(zip(op.results, copy.results))
        return copy

    def region(self, region: Region, ops: Sequence[Op]) -> Region:
        return region if same(ops, region.ops) else Region(region.params, tuple(ops))

    def function(self, function: Function, body: Region) -> Function:
        if body is function.body:
            return function
        return Function(function.name, function.params, body)


def same(left: Sequence[object], right: Sequence[object]) -> bool:
    """Whether two sequences hold the very same nodes."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right))
