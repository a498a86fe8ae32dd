"""Which reductions may be done in any order, and so in a nest with others."""

from __future__ import annotations

from ....ir.nodes import Op, Param, Region, Value
from ....ir.types import element_of


def _pairs(region: Region) -> list[tuple[Param, Param]]:
    half = len(region.params) // 2
    return list(zip(region.params[:half], region.params[half:], strict=True))


def independent(region: Region) -> bool:
    """Whether each result combines its own two params by a row that commutes and has an
    identity.
    """
    pairs = _pairs(region)
    return len(region.ops) == len(pairs) + 1 and all(
        isinstance(result, Value) and set(result.op.operands) == set(pair) and _combines(result.op)
        for result, pair in zip(region.results, pairs, strict=True)
    )


def _combines(op: Op) -> bool:
    element = op.row.element
    kind = element_of(op.types[0]).kind
    return element is not None and element.commutes and kind in element.identity
