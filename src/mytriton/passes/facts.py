"""What is known of each int and pointer of a function before it runs.

One idea: an abstract value (`known.Facts`) for each SSA value, pushed through the function once, op
by op (`transfer.RULES`), and round each loop until nothing changes. The result is a side table.

    known = facts(function, {"n": replace(unknown(I32), multiple=(16,))})
    known.of(store.operands[0]).contiguous    # how far a vector store may go, per axis
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd

from ..ir.nodes import Const, Function, Op, Operand, Param, Region, Value
from ..ir.types import Type
from . import loop_values
from .known import Facts, join, of_constant, type_bounds, unknown, within
from .transfer import RULES

__all__ = ["Facts", "Table", "facts", "of_constant", "unknown"]

ROUNDS = 3
"""How often a loop is gone round before bounds that still move are given up."""


class Table(dict[Value | Param, Facts]):
    """The facts of every value of a function."""

    def of(self, operand: Operand) -> Facts:
        """The facts of an operand, constants included."""
        if isinstance(operand, Const):
            return of_constant(operand.value, operand.ty)
        assert operand is not None
        return self[operand]


def facts(function: Function, given: Mapping[str, Facts] | None = None) -> Table:
    """The facts of every value; `given` are those of parameters, by name."""
    table = Table()
    for param in function.params:
        table[param] = (given or {}).get(param.name) or unknown(param.ty)
    _region(function.body, table)
    return table


def _region(region: Region, table: Table) -> None:
    for op in region.ops:
        if op.row.is_loop:
            _loop(op, table)
        elif op.regions:
            _branches(op, table)
        else:
            rule = RULES.get(op.name)
            operands = [None if v is None else table.of(v) for v in op.operands]
            known = rule(op, operands) if rule else None
            for value in op.results:
                table[value] = within(known or unknown(value.ty), value.ty)


def _branches(op: Op, table: Table) -> None:
    """A branch gives one side's value or the other's; a function's results are not looked at."""
    for region in op.regions:
        table.update((param, unknown(param.ty)) for param in region.params)
        _region(region, table)
    for value in op.results:
        if op.row.has_control_flow:
            left, right = (table.of(source) for source in loop_values.incoming(op, value.index))
            table[value] = join(left, right)
        else:
            table[value] = unknown(value.ty)


def _loop(op: Op, table: Table) -> None:
    """Goes round until what is carried holds for every round; bounds that keep moving are given up,
    and then all else."""
    carried = [table.of(loop_values.incoming(op, slot)[0]) for slot in range(len(op.types))]
    _index(op, table)
    for turn in range(ROUNDS * 12):
        for slot, known in enumerate(carried):
            table.update((param, known) for param in loop_values.iter_args(op, slot))
        for region in op.regions:
            _region(region, table)
        again = [
            join(known, table.of(loop_values.incoming(op, slot)[1]))
            for slot, known in enumerate(carried)
        ]
        if again == carried:
            break
        pairs = zip(op.types, carried, again)
        carried = [_widened(*pair) if turn >= ROUNDS else pair[2] for pair in pairs]
    table.update(zip(op.results, carried))


def _widened(ty: Type, before: Facts, after: Facts) -> Facts:
    """The facts without a bound that moved."""
    low, high = type_bounds(ty)
    return replace(
        after,
        low=low if after.low != before.low else after.low,
        high=high if after.high != before.high else after.high,
    )


def _index(op: Op, table: Table) -> None:
    """The index of a counted loop: start + k * step, between the bounds."""
    bounds = loop_values.bounds(op)
    if not bounds:
        return
    low, high, step = map(table.of, bounds)
    known = unknown(op.regions[0].params[0].ty)
    multiple = (gcd(low.multiple[0], step.multiple[0]),)
    if step.low is not None and step.low > 0 and high.high is not None:
        known = replace(known, low=low.low, high=max(high.high - 1, low.low or 0))
    elif step.high is not None and step.high < 0 and high.low is not None:
        known = replace(known, low=min(high.low + 1, low.high or 0), high=low.high)
    table[op.regions[0].params[0]] = replace(known, multiple=multiple)
