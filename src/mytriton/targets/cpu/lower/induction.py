"""Blocks that a loop only moves: a block of pointers (or ints) that grows by one scalar each turn
is not carried.

After any number of turns such a block is what it was at the start plus a scalar, so the
scalar is carried and the block stays a function of its index; its addresses are seen to be
contiguous, and nothing is stored.

    a_ptrs carried, a_ptrs = a_ptrs + 32*stride    →    moved carried, a_ptrs is start + moved
"""

from __future__ import annotations

from dataclasses import dataclass

from ....ir.nodes import Const, Op, Operand, Param, Value
from ....ir.types import I64, Element, PointerType, ScalarType, element_of, shape_of
from ....passes import loop_values


@dataclass(frozen=True, eq=False)
class Moved:
    """A carried block that only moves: the scalars added each turn, and the type they are added up
    in.
    """

    steps: tuple[Operand, ...]
    total: ScalarType


def find(op: Op) -> dict[int, Moved]:
    """Which of the values that a loop carries only move, by their number."""
    found = {}
    for k in range(len(op.types)) if op.row.is_loop else ():
        param, result = loop_values.iter_args(op, k)[-1], loop_values.yielded(op, k)
        element = element_of(param.ty)
        if not shape_of(param.ty) or not _can_move(element):
            continue
        steps = _steps(param, result)
        if steps is not None:
            total = I64 if isinstance(element, PointerType) else element
            assert isinstance(total, ScalarType)
            found[k] = Moved(steps, total)
    return found


def _can_move(element: Element) -> bool:
    return isinstance(element, PointerType) or element.kind in ("i", "u")


def _steps(param: Param, result: Operand) -> tuple[Operand, ...] | None:
    """The scalars whose sum with the param is the result; None where the result is something
    else.
    """
    steps: list[Operand] = []
    while result is not param:
        if not isinstance(result, Value) or result.op.name not in ("addptr", "add"):
            return None
        base, step = result.op.operands
        scalar = _scalar(step)
        if scalar is None and result.op.name == "add":
            base, scalar = step, _scalar(base)
        if scalar is None:
            return None
        steps.append(scalar)
        result = base
    return tuple(steps)


def _scalar(operand: Operand) -> Operand:
    """The scalar that a block repeats; None where it is not one."""
    if isinstance(operand, Const) or (operand is not None and not shape_of(operand.ty)):
        return operand
    if isinstance(operand, Value) and operand.op.name == "broadcast":
        return _scalar(operand.op.operands[0])
    return None
