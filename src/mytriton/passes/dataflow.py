"""Forward dataflow analysis: one fact for every value, by abstract interpretation.

An analysis is a lattice of facts and a transfer function from the facts of an op's operands to
those of its results. The driver here walks a function once, joins what the regions of an `if`
yield, and at a loop iterates until the carried facts hold for every iteration: a fixed point.
(P. Cousot and R. Cousot, "Abstract interpretation", POPL 1977.)

Chains in a lattice may be long (the bounds of a counter grow by one an iteration; a shift register
of n values passes a change on for n iterations). So the iteration is accelerated in steps: a fact
that still moves after `WIDEN_AFTER` iterations is widened, from `TOP_AFTER` on it goes to top at
once, and after `ALL_TOP_AFTER` everything that the loop carries does. Whatever the step, the loop
ends only with an iteration that changes nothing, which is the proof that the facts hold.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Generic, TypeVar

from ..ir.nodes import Const, Function, Op, Operand, Param, Region, Value, walk
from ..ir.recursion import Walk, run
from ..ir.types import Type
from . import loop_values

Fact = TypeVar("Fact")

WIDEN_AFTER, TOP_AFTER, ALL_TOP_AFTER = 3, 8, 64


class Analysis(Generic[Fact]):
    """The facts of a function's values; making one runs the analysis, `of` gives a value's fact.

    A subclass says what the lattice is: `top`, `join`, `constant`, `transfer`, and where they are
    more than top `parameter`, `index` and `widen`. Facts are compared with ==.
    """

    def __init__(self, function: Function) -> None:
        self.facts: dict[Value | Param, Fact] = {p: self.parameter(p) for p in function.params}
        run(self._region(function.body))
        if os.environ.get("MYTRITON_CHECK") == "1":
            self.verify(function)

    def of(self, operand: Operand) -> Fact:
        """The fact of an operand that is there, constants included."""
        assert operand is not None
        return self.constant(operand) if isinstance(operand, Const) else self.facts[operand]

    # -- the lattice

    def top(self, ty: Type) -> Fact:
        """The fact that holds of every value of the type."""
        raise NotImplementedError

    def constant(self, constant: Const) -> Fact:
        return self.top(constant.ty)

    def parameter(self, param: Param) -> Fact:
        """What holds of a parameter of the function."""
        return self.top(param.ty)

    def index(self, op: Op) -> Fact:
        """What holds of the induction variable of a `for`."""
        return self.top(op.regions[0].params[0].ty)

    def transfer(self, op: Op) -> Sequence[Fact]:
        """The facts of the results of an op that is no loop or branch, from its operands'."""
        raise NotImplementedError

    def join(self, left: Fact, right: Fact) -> Fact:
        """What holds of a value that is one or the other."""
        raise NotImplementedError

    def widen(self, ty: Type, before: Fact, after: Fact) -> Fact:
        """A fact implied by both, such that a chain of widened facts is short."""
        return after

    # -- the fixed point

    def _region(self, region: Region) -> Walk[None]:
        for op in region.ops:
            if op.row.is_loop:
                yield self._loop(op)
            elif op.row.has_control_flow:
                for inner in op.regions:
                    yield self._region(inner)
                self.facts.update((value, self._joined(op, value.index)) for value in op.results)
            else:
                for inner in op.regions:
                    self.facts.update((param, self.top(param.ty)) for param in inner.params)
                    yield self._region(inner)
                self.facts.update(zip(op.results, self.transfer(op)))

    def _joined(self, op: Op, k: int) -> Fact:
        first, *rest = map(self.of, loop_values.incoming(op, k))
        for fact in rest:
            first = self.join(first, fact)
        return first

    def _loop(self, op: Op) -> Walk[None]:
        carried = [self.of(loop_values.init(op, k)) for k in range(len(op.types))]
        index = loop_values.index(op)
        if index is not None:
            self.facts[index] = self.index(op)
        iteration = 0
        while True:
            for k, fact in enumerate(carried):
                self.facts.update((param, fact) for param in loop_values.iter_args(op, k))
            for region in op.regions:
                yield self._region(region)
            after = [
                self.join(fact, self.of(loop_values.yielded(op, k)))
                for k, fact in enumerate(carried)
            ]
            if after == carried:
                break
            iteration += 1
            steps = zip(op.types, carried, after)
            carried = [self._accelerated(iteration, *step) for step in steps]
        self.facts.update(zip(op.results, carried))

    def _accelerated(self, iteration: int, ty: Type, before: Fact, after: Fact) -> Fact:
        if iteration > ALL_TOP_AFTER:
            return self.top(ty)
        if before == after or iteration <= WIDEN_AFTER:
            return after
        return self.widen(ty, before, after) if iteration <= TOP_AFTER else self.top(ty)

    def verify(self, function: Function) -> None:
        """Asserts that the facts are a fixed point: each op's follow from its operands', and those
        of a carried value from its init and from what the body yields."""
        for op in walk(function.body):
            if op.row.has_control_flow:
                for k, result in enumerate(op.results):
                    targets: list[Value | Param] = [result, *loop_values.iter_args(op, k)]
                    for held in map(self.of, targets):
                        for source in loop_values.incoming(op, k):
                            assert self.join(held, self.of(source)) == held, (op, k, held)
            elif op.results:
                facts = [self.facts[value] for value in op.results]
                assert facts == list(self.transfer(op)), (op, facts)
