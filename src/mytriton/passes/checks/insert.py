"""Puts a `check_access` before each access of memory.

The bounds are those of the arrays that the address derives from (`passes/provenance.py`); an
address that may come from elsewhere gets none, so that only null pointers are refused.

    %3 = load %2, %1          →     check_access %2, %1, x_start, x_end
                                    %3 = load %2, %1

A check stands as early as what it looks at is known, but not before an op that shows something,
branches or synchronises. So the stores of a block stay next to each other, and a target that fuses
them may still do so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.build import PlainBuilder
from ...ir.effects import Effects, accesses_memory, is_sync_point
from ...ir.nodes import Function, Op, Operand, Region, Value
from ...ir.ops import Effect
from ...ir.structural import CHECK_ACCESS
from ..provenance import Provenance, provenance
from ..rebuild import Rebuild
from .hidden import Hidden, HiddenParams, with_hidden


def insert_checks(function: Function) -> Function:
    """The function with a check of every access."""
    return with_hidden(function, lambda hidden: _Insert(function, hidden).function(function))


class _Insert(Rebuild):
    def __init__(self, function: Function, hidden: HiddenParams) -> None:
        super().__init__({}, PlainBuilder(where=()))
        self.provenance = provenance(function)
        self.hidden = hidden

    def chosen(self, region: Region) -> Sequence[Op]:
        """The ops of the region and the checks among them."""
        return spliced(region.ops[:-1], self.check, self.effects)

    def check(self, op: Op) -> Op | None:
        """The check of an access; None of another op."""
        if not accesses_memory(op):
            return None
        address = self.provenance.of(op.operands[0])
        if any(isinstance(param, Hidden) for param in address.params):
            return None
        bounds = bounds_of(address, self.hidden)
        operands = (op.operands[0], mask_of(op), *bounds)
        return Op(CHECK_ACCESS, operands, attrs={"access": op.name}, where=op.where)


def bounds_of(address: Provenance, hidden: HiddenParams) -> list[Operand]:
    """The start and end of each array that an address may lie in; none where it may be any."""
    found: list[Operand] = []
    if not address.unknown:
        for array in sorted(address.params, key=lambda param: param.name):
            found += hidden.bounds(array)
    return found


def mask_of(op: Op) -> Operand:
    """The mask of an access; None where every lane is on."""
    names = op.row.operands
    return op.operands[names.index("mask")] if "mask" in names else None


def spliced(ops: Sequence[Op], check: Callable[[Op], Op | None], effects: Effects) -> list[Op]:
    """The ops of a region with what `check` makes of each, as early as its operands are there and
    no earlier than the last op that checks may not pass."""
    defined = {value: place for place, op in enumerate(ops) for value in op.results}
    before: list[list[Op]] = [[] for _ in ops]
    first = 0
    for place, op in enumerate(ops):
        made = check(op)
        if made is not None:
            known = (defined[v] + 1 for v in made.operands if isinstance(v, Value) and v in defined)
            before[max(first, *known, 0)].append(made)
        if _stops(op, effects):
            first = place + 1
    return [one for place, op in enumerate(ops) for one in (*before[place], op)]


def _stops(op: Op, effects: Effects) -> bool:
    """Whether checks after the op stay after it."""
    return is_sync_point(op) or (effects[op] is Effect.WRITE and not accesses_memory(op))
