"""Making a function anew: how passes change what is immutable.

A pass says what becomes of an op and the rest follows: users of a changed op are made anew with its
replacement, everything else is the very node it was, so a pass that finds nothing to do costs one
walk and gives back the function it got.

Ops are emitted through a `Builder`, so what a change makes known is folded, shared and hoisted on
the way; a `PlainBuilder` leaves every op where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ..errors import Where
from ..ir.build import Builder, using
from ..ir.effects import Effects
from ..ir.nodes import Function, Op, Operand, Param, Region, Value
from ..ir.recursion import Walk, run

Results = Sequence[Operand] | None
Rules = Mapping[str, Callable[[Any, Op, tuple[Operand, ...]], Any]]
"""By op name. A rule gets the rebuild, the op and its new operands, emits what it likes and returns
the results; None: the op stays. The rule of an op with regions returns a `Walk` of that."""


@dataclass(frozen=True)
class Applied:
    """A rule that a pass has applied, and the kernel lines of the op that it was applied to."""

    rule: str
    where: Where


_applied: ContextVar[list[Applied] | None] = ContextVar("applied", default=None)


@contextmanager
def recording_rules() -> Iterator[list[Applied]]:
    """Records, for the extent of a `with`, the rules that passes apply, in order."""
    applied: list[Applied] = []
    token = _applied.set(applied)
    try:
        yield applied
    finally:
        _applied.reset(token)


def note(rule: str, op: Op) -> None:
    """Says that a rule was applied to an op."""
    applied = _applied.get()
    if applied is not None:
        applied.append(Applied(rule, op.where))


class Rebuild:
    """Emits a function again, op by op, with what `rules` say in place of an op of that name.

    Region params stay the nodes they are.
    """

    def __init__(self, rules: Rules, builder: Builder | None = None) -> None:
        self.rules = rules
        self.builder = builder or Builder(where=())
        self.new: dict[Value | Param, Operand] = {}
        self.effects = Effects()

    def operand(self, operand: Operand) -> Operand:
        """What the old operand has become."""
        return self.new.get(operand, operand) if isinstance(operand, (Value, Param)) else operand

    def operands(self, op: Op) -> tuple[Operand, ...]:
        return tuple(map(self.operand, op.operands)) if self.new else op.operands

    def function(self, function: Function) -> Function:
        with using(self.builder):
            run(self.ops(function.body))
        made = self.builder.ops
        if same(made, function.body.ops[:-1]):
            return function
        body = Region((), (*made, function.body.ops[-1]))
        return Function(function.name, function.params, body)

    def chosen(self, region: Region) -> Sequence[Op]:
        """The ops of a region that are emitted again, in their order, but for its yield."""
        return region.ops[:-1]

    def ops(self, region: Region) -> Walk[None]:
        """Emits the chosen ops of the region into the open one."""
        for op in self.chosen(region):
            self.builder.where = op.where
            results = (yield self.with_regions(op)) if op.regions else self.op(op)
            for old, new in zip(op.results, results, strict=True):
                if old is not new:
                    self.new[old] = new

    def op(self, op: Op) -> Sequence[Operand]:
        """The results of an op without regions."""
        operands = self.operands(op)
        rule = self.rules.get(op.name)
        results = rule(self, op, operands) if rule else None
        return self.keep(op, operands) if results is None else results

    def keep(self, op: Op, operands: tuple[Operand, ...]) -> Sequence[Operand]:
        """The op without regions on its new operands; the op itself where they are the old."""
        if same(operands, op.operands):
            return self.builder.reuse(op)
        return self.builder.make(op.row, operands, op.attrs)

    def with_regions(self, op: Op) -> Walk[Sequence[Operand]]:
        """`op`, of one with regions."""
        operands = self.operands(op)
        rule = self.rules.get(op.name)
        results: Results = (yield rule(self, op, operands)) if rule else None
        if results is None:
            results = yield self.keep_regions(op, operands)
        return results or ()

    def keep_regions(self, op: Op, operands: tuple[Operand, ...]) -> Walk[Sequence[Operand]]:
        """`keep`, of an op with regions."""
        regions = []
        for region in op.regions:
            regions.append((yield self.region(op, region)))
        self.builder.where = op.where
        if same(operands, op.operands) and same(regions, op.regions):
            return self.builder.reuse(op)
        return self.builder.make(op.row, operands, op.attrs, tuple(regions))

    def region(self, op: Op, region: Region) -> Walk[Region]:
        """A region of the op, emitted as one of its kind."""
        self.builder.open(op.row.region_kind, region.params)
        yield self.ops(region)
        results = tuple(map(self.operand, region.results))
        if same(self.builder.ops, region.ops[:-1]) and same(results, region.results):
            self.builder.discard()
            return region
        self.builder.where = region.ops[-1].where
        return self.builder.close(results)

    def inline(self, region: Region, arguments: Sequence[Operand]) -> Walk[list[Operand]]:
        """Emits a region's ops where we stand, for these params; what it yields."""
        self.new.update(zip(region.params, arguments))
        yield self.ops(region)
        return [self.operand(result) for result in region.results]


def trim(region: Region, params: Sequence[Param], results: Sequence[Operand]) -> Region:
    """The region with fewer params and results; its ops are the same nodes."""
    end = Op(region.ops[-1].row, tuple(results), where=region.ops[-1].where)
    return Region(tuple(params), (*region.ops[:-1], end))


def pick(items: Sequence[Any], places: Iterable[int]) -> tuple[Any, ...]:
    """The items at these places."""
    return tuple(items[place] for place in places)


def same(left: Sequence[object], right: Sequence[object]) -> bool:
    """Whether two sequences hold the very same nodes."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right))
