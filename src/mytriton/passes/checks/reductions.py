"""Reductions of whole blocks to a scalar, for conditions."""

from __future__ import annotations

from ...ir.build import Builder, current, using
from ...ir.nodes import Operand, Param, Region
from ...ir.ops import RegionKind
from ...ir.types import Element, element_of, shape_of


def reduced(name: str, operand: Operand) -> Operand:
    """All elements combined by an element-wise op of two operands, the last axis first."""
    assert operand is not None
    while shape := shape_of(operand.ty):
        combine = combiner(name, element_of(operand.ty))
        (operand,) = current().emit("reduce", [operand], {"axis": len(shape) - 1}, (combine,))
        assert operand is not None
    return operand


def combiner(name: str, element: Element) -> Region:
    """The region of a reduction by an element-wise op."""
    builder = Builder(where=())
    params = [Param("a", element), Param("b", element)]
    with using(builder):
        return builder.region(RegionKind.FUNCTION, params, lambda a, b: builder.emit(name, [a, b]))
