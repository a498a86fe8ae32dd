"""Programs in another order: each takes the place in the grid of another one.

    place of program n    (n * stride + offset) mod the number of programs

The two numbers are hidden parameters: 1 and 0 leave the grid as it is, -1 and -1 reverse it, and a
stride without a common factor with the number of programs mixes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...elementary.term import IrTerm
from ...ir.build import emit
from ...ir.nodes import Function, Op, Operand
from ...ir.types import I32, I64
from ..rebuild import Rebuild
from .hidden import HiddenParams, with_hidden


def permute_programs(function: Function) -> tuple[Function, tuple[Op, ...]]:
    """The function with the places of its programs exchanged as a launch says."""

    def change(hidden: HiddenParams) -> Function:
        order = IrTerm(hidden.get("order_stride", None)), IrTerm(hidden.get("order_offset", None))

        def place(rebuild: Rebuild, op: Op, operands: tuple[Operand, ...]) -> Sequence[Operand]:
            return [_place(op.attrs["axis"], *order).value]

        return Rebuild({"program_id": place}).function(function)

    return with_hidden(function, change), ()


def _place(axis: int, stride: IrTerm, offset: IrTerm) -> IrTerm:
    """The index along an axis of the program whose place this one takes."""
    at = [IrTerm(emit("program_id", axis=a)).to(I64) for a in range(3)]
    extents = [IrTerm(emit("num_programs", axis=a)).to(I64) for a in range(3)]
    total = extents[0] * extents[1] * extents[2]
    number = (at[2] * extents[1] + at[1]) * extents[0] + at[0]
    number = (number * stride + offset).op("mod", total)
    number = (number + total).op("mod", total)
    for extent in extents[:axis]:
        number = number.op("div", extent)
    return (number.op("mod", extents[axis]) if axis < 2 else number).to(I32)
