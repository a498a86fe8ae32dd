"""What loops and branches mean: a region is run with arrays for its params and gives arrays.

Control flow has one Python statement each, because regions are structured. They may be nested
thousands deep, so each meaning is a `Walk` that yields the runs of its regions. A `while` reports
every iteration to the turns (see `turns.py`), so that a program that waits for another lets it run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import KernelError
from ...ir.nodes import Op
from ...ir.numeric import Array
from ...ir.recursion import Walk
from ...passes.spinning import may_spin
from .blocks import Arrays, Meaning

if TYPE_CHECKING:
    from .program import Program


def _for(program: Program, op: Op, values: Sequence[Any]) -> Walk[Sequence[Array]]:
    low, high, step, *carried = values
    if not step:
        raise KernelError(f"range() with a step of 0, in program {program.index}", op.where)
    for index in range(int(low), int(high), int(step)):
        carried = yield program.walk(op.regions[0], [low.dtype.type(index), *carried])
    return tuple(carried)


def _while(program: Program, op: Op, values: Sequence[Any]) -> Walk[Sequence[Array]]:
    test, body = op.regions
    carried, waits = tuple(values), may_spin(op)
    while (yield program.walk(test, carried))[0]:
        before, carried = carried, tuple((yield program.walk(body, carried)))
        same = all(map(_equal_bits, before, carried))
        if same or waits:
            program.pause(op.where, same)
    return carried


def _equal_bits(left: Array, right: Array) -> bool:
    return left is right or left.tobytes() == right.tobytes()


def _if(program: Program, op: Op, values: Sequence[Any]) -> Walk[Sequence[Array]]:
    return program.walk(op.regions[0 if values[0] else 1], ())


def _yield(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return tuple(values)


MEANINGS: dict[str, Meaning] = {"yield": _yield}
CONTROL: dict[str, Callable[[Program, Op, Sequence[Any]], Walk[Sequence[Array]]]] = {
    "for": _for,
    "while": _while,
    "if": _if,
}
