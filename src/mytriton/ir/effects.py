"""What an op does to memory, regions included.

An op's effect is the strongest of its row's and of everything inside its regions, so a
loop that only computes is as free to move as an addition. A volatile load counts as a write: it is
never dropped, repeated or moved across another access.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from .nodes import Op, Operand, Param, Region, Value, walk
from .ops import Effect
from .recursion import Walk, run


def effect(op: Op) -> Effect:
    """The strongest effect of the op and of what its regions contain."""
    inside = (own_effect(inner) for region in op.regions for inner in walk(region))
    return max(inside, default=own_effect(op))


def own_effect(op: Op) -> Effect:
    """The effect without that of the regions. A load that must see what others store (volatile, or
    past the caches) counts as a write."""
    return Effect.WRITE if must_see_memory(op) else op.row.effect


def must_see_memory(op: Op) -> bool:
    """Whether the op is a load that bypasses caches and registers: volatile or ".cv"."""
    return bool(op.attrs and (op.attrs.get("volatile") or op.attrs.get("cache") == ".cv"))


def accesses_memory(op: Op) -> bool:
    """Whether the op's first operand is the address that it reads or writes."""
    return op.row.effect is not Effect.PURE and op.row.operands[:1] == ("ptr",)


def is_sync_point(op: Op) -> bool:
    """Whether the op is one by which programs meet: an atomic, or a load that must see what others
    store."""
    return accesses_memory(op) and bool(op.types) and own_effect(op) is Effect.WRITE


class Effects(dict[Op, Effect]):
    """`effect`, computed once an op: `effects[op]`."""

    def __missing__(self, op: Op) -> Effect:
        run(self._compute(op))
        return self[op]

    def _compute(self, op: Op) -> Walk[None]:
        strongest = own_effect(op)
        for region in op.regions:
            for inner in region.ops:
                if inner.regions and inner not in self:
                    yield self._compute(inner)
                strongest = max(strongest, self[inner] if inner.regions else own_effect(inner))
        self[op] = strongest


_FREE: WeakKeyDictionary[Op, tuple[Value | Param, ...]] = WeakKeyDictionary()
"""`free_values` of the ops that have been asked for: an op and its regions never change, and in a
chain of nested regions each is asked for at every level."""


def free_values(op: Op) -> list[Value | Param]:
    """What the op's regions use and do not define, in order of use, each once."""
    found = _FREE.get(op)
    return list(run(_free_values(op)) if found is None else found)


def _free_values(op: Op) -> Walk[tuple[Value | Param, ...]]:
    """Those of the ops directly inside, and what is free in the regions of these."""
    inside: set[Value | Param] = {param for region in op.regions for param in region.params}
    used: dict[Value | Param, None] = {}
    for region in op.regions:
        for inner in region.ops:
            inside.update(inner.results)
            used.update(dict.fromkeys(_values(inner.operands)))
            if inner.regions:
                deeper = _FREE.get(inner)
                if deeper is None:
                    deeper = yield _free_values(inner)
                used.update(dict.fromkeys(deeper))
    _FREE[op] = tuple(value for value in used if value not in inside)
    return _FREE[op]


def _values(operands: tuple[Operand, ...]) -> Iterator[Value | Param]:
    return (operand for operand in operands if isinstance(operand, (Value, Param)))


def uses(region: Region) -> set[Value | Param]:
    """Everything that some op of the region, or of the regions inside, takes as an operand."""
    return {value for op in walk(region) for value in _values(op.operands)}
