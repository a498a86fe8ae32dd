"""Provenance: which memory an address may derive from.

An address derives from the pointer parameters that it was computed from by `addptr`, `select` and
the like, through branches and loops. A pointer that was loaded from memory, or made from an int,
may be any address: it is `unknown`. So two accesses through pointers of disjoint, known provenance
touch the same memory only where the arguments of the launch overlap.

    table = provenance(function)
    table.of(store.operands[0])                  # Provenance(params={out}, unknown=False)
    table.of(a).may_alias(table.of(b))           # while distinct parameters do not overlap

(The word is that of C's pointer provenance, ISO/IEC TS 6010:2025.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import Where
from ..ir.effects import accesses_memory
from ..ir.nodes import Function, Op, Operand, Param, Region, walk
from ..ir.ops import Effect
from ..ir.types import PointerType, Type, element_of
from .dataflow import Analysis


@dataclass(frozen=True)
class Provenance:
    """The parameters that an address may derive from; `unknown`: it may be any address besides."""

    params: frozenset[Param] = frozenset()
    unknown: bool = False

    def __or__(self, other: Provenance) -> Provenance:
        return Provenance(self.params | other.params, self.unknown or other.unknown)

    def may_alias(self, other: Provenance) -> bool:
        """Whether the two may be one address, if distinct parameters do not overlap."""
        if self.unknown or other.unknown:
            return bool(self and other)
        return not self.params.isdisjoint(other.params)

    def __bool__(self) -> bool:
        """Whether it is the provenance of any address at all."""
        return self.unknown or bool(self.params)


NOWHERE = Provenance()
"""The provenance of what is no address."""
ANYWHERE = Provenance(unknown=True)


def united(several: Iterable[Provenance]) -> Provenance:
    """The provenance of an address that is one of several."""
    union = NOWHERE
    for one in several:
        union |= one
    return union


def is_pointer(operand: Operand) -> bool:
    """Whether the operand is a pointer or a block of pointers."""
    return operand is not None and isinstance(element_of(operand.ty), PointerType)


def makes_unknown_address(op: Op) -> bool:
    """Whether the op gives pointers that derive from no pointer operand: loaded from memory, or
    made from ints."""
    if op.row.has_control_flow or not any(map(is_pointer, op.results)):
        return False
    pure = op.row.effect is Effect.PURE
    return bool(op.regions) or not (pure and any(map(is_pointer, op.operands)))


def makes_unknown_addresses(region: Region) -> bool:
    """Whether some op of the region, or of those inside, does."""
    return any(map(makes_unknown_address, walk(region)))


def provenance(function: Function) -> Analysis[Provenance]:
    """The provenance of every value of the function."""
    return _Provenances(function)


def written(function: Function) -> dict[str, Where]:
    """The names of the pointer params that the function may store through, each with one place
    where; a store through an unknown pointer is not counted."""
    table, found = provenance(function), dict[str, Where]()
    for op in walk(function.body):
        if accesses_memory(op) and op.row.effect is Effect.WRITE:
            params = table.of(op.operands[0]).params
            found |= {param.name: op.where for param in params if param.name not in found}
    return found


class _Provenances(Analysis[Provenance]):
    def top(self, ty: Type) -> Provenance:
        return ANYWHERE if isinstance(element_of(ty), PointerType) else NOWHERE

    def parameter(self, param: Param) -> Provenance:
        return Provenance(frozenset({param})) if is_pointer(param) else NOWHERE

    def transfer(self, op: Op) -> Sequence[Provenance]:
        if makes_unknown_address(op):
            return [self.top(ty) for ty in op.types]
        union = united(self.of(operand) for operand in op.operands if is_pointer(operand))
        return [union if is_pointer(value) else NOWHERE for value in op.results]

    def join(self, left: Provenance, right: Provenance) -> Provenance:
        return left | right
