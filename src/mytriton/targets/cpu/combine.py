"""Regions of scalar ops applied to forms: what reductions and scans combine with.

A combining region without control flow is itself a vector program; it is emitted at any
width by running its ops on the forms it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.effects import own_effect
from ...ir.fold import extreme
from ...ir.nodes import Const, Op, Operand, Region, Value
from ...ir.ops import Effect
from ...ir.types import ScalarType, element_of
from . import rows
from .code import Reg, const
from .lowering import Lowerings
from .nest import Form, Nest
from .operands import scalar_at
from .types import register


def straight(lowerings: Lowerings, region: Region) -> bool:
    """Whether the region has no control flow and touches nothing."""
    return all(
        lowerings.is_pointwise(op) and own_effect(op) is Effect.PURE for op in region.ops[:-1]
    )


def apply(nest: Nest, region: Region, arguments: Sequence[Form]) -> list[Form]:
    """The region's results on forms of one width."""
    local: dict[Any, Form] = dict(zip(region.params, arguments, strict=True))

    def form(operand: Operand) -> Any:
        if isinstance(operand, Const):
            return const(register(operand.ty), operand.value)
        assert operand is not None
        return local[operand] if operand in local else nest.writer.scalars[operand]

    for op in region.ops[:-1]:
        forms = [form(operand) for operand in op.operands]
        local[op.results[0]] = _emit(nest, op, forms)
    return [form(operand) for operand in region.results]


def _emit(nest: Nest, op: Op, forms: list[Any]) -> Form:
    emitter = nest.writer.lowerings.get(op).value
    if emitter is not None:
        return emitter(nest, op.results[0], (), forms)
    element = op.row.element
    kind = scalar_at(op, 0)
    assert element is not None and isinstance(kind, ScalarType)
    return rows.elementwise(nest, element, kind, forms, op.name)


def combine_one(nest: Nest, result: Operand, old: Reg, value: Reg) -> Form:
    """One result of an independent region, by its own op."""
    assert isinstance(result, Value)
    return _emit(nest, result.op, [old, value])


def identities(region: Region) -> list[Reg]:
    """The start values of an independent region's accumulators."""
    starts = []
    for result in region.results:
        assert isinstance(result, Value)
        element, kind = result.op.row.element, element_of(result.ty)
        assert element is not None and isinstance(kind, ScalarType)
        value = extreme(kind, element.identity[kind.kind])
        starts.append(const(register(kind), value))
    return starts
