"""The dependence graph of a region: which ops must keep their order, beyond what values say.

The nodes are the ops that touch memory, show something or synchronise (what each does is for
`passes.dependence` to say); data dependence is in the operands already. An edge leads from an op to
a later one that must follow it. As in any such graph only the *last* write and the reads since then
are linked to the next access, once for each location class (`lanes`): what came before is ordered
through them, so there are as many edges as accesses, not as pairs of them.

An edge is `fusible` where both ops touch the same place at the same index and no index touches
another's: then they may share a loop, which reads before it writes and writes in program order.

    v = load(p); store(p, v + 1)    an edge load → store, fusible: one loop
    store(p, v); w = load(p)        an edge store → load, not fusible: the loop would read first
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from ....ir.nodes import Op, Region
from ....ir.types import shape_of
from ....passes.provenance import Provenance
from .accesses import Access, Aliases

ANYWHERE = "anywhere"
"""The location class of addresses that come from no parameter."""
SHOWN = "shown"
"""The class of what is printed or asserted; every write of memory counts as a read of it."""


@dataclass(frozen=True)
class Edge:
    """That an op must come after `source`; `kind` is "memory", "synchronisation" (one of the two
    acquires or releases) or "shown" (a print or an assert).
    """

    source: Op
    kind: str
    fusible: bool


@dataclass
class _Lane:
    """The accesses of one location class so far, as far as later ones must know of them."""

    write: tuple[Op, Access] | None = None
    reads: list[tuple[Op, Access]] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    writes: list[tuple[Op, Access]] = field(default_factory=list)
    """All writes in program order, and where they stand."""


class DependenceGraph:
    """The edges of one region, and who overwrites what a load reads."""

    def __init__(self, region: Region, aliases: Aliases) -> None:
        self.aliases = aliases
        params = () if aliases.overlap else aliases.function.params
        self._everywhere: tuple[Hashable, ...] = (*params, ANYWHERE)
        self.position = {op: number for number, op in enumerate(region.ops)}
        self.before: dict[Op, tuple[Edge, ...]] = {}
        """The edges that lead to an op."""
        self._lanes: dict[Hashable, _Lane] = {}
        for op in region.ops:
            access = aliases.of(op)
            if access is not None:
                self.before[op] = tuple(self._edges(op, access))

    def lanes_of(self, access: Access) -> dict[Hashable, bool]:
        """The location classes an access belongs to, and whether it writes there. What acquires or
        releases counts as a write of all memory.
        """
        effect = access.effect
        if effect.synchronises:
            return dict.fromkeys((*self._everywhere, SHOWN), True)
        found = dict.fromkeys(self._classes(effect.reads), False)
        found |= dict.fromkeys(self._classes(effect.writes), True)
        if effect.visible or effect.writes:
            found[SHOWN] = effect.visible
        return found

    def _classes(self, address: Provenance) -> tuple[Hashable, ...]:
        if self.aliases.overlap and address:
            return (ANYWHERE,)
        return self._everywhere if address.unknown else tuple(address.params)

    def _edges(self, op: Op, access: Access) -> Iterator[Edge]:
        found: dict[Op, Edge] = {}
        for key, writes in self.lanes_of(access).items():
            lane = self._lanes.setdefault(key, _Lane())
            earlier = lane.reads if writes and lane.reads else []
            linked = [*earlier, *([lane.write] if lane.write else [])]
            for source, other in linked:
                edge = Edge(
                    source, _kind(key, access, other), self._fusible(source, other, op, access)
                )
                known = found.get(source)
                if known is None or known.fusible:
                    found[source] = edge
            if writes:
                lane.write, lane.reads = (op, access), []
                lane.positions.append(self.position[op])
                lane.writes.append((op, access))
            else:
                lane.reads.append((op, access))
        yield from found.values()

    def overwriting(self, load: Op, last: int) -> Iterator[tuple[Op, bool]]:
        """The writes after a load, up to a position, that may change what it reads; and whether
        they do so only at the index that reads it.
        """
        mine = self.aliases.of(load)
        if mine is None:
            return
        seen: set[Op] = set()
        for key in self.lanes_of(mine):
            lane = self._lanes.get(key)
            if lane is None or key is SHOWN:
                continue
            first = bisect_right(lane.positions, self.position[load])
            for place in range(first, bisect_right(lane.positions, last)):
                op, access = lane.writes[place]
                if op not in seen:
                    seen.add(op)
                    yield op, self._fusible(load, mine, op, access)

    def _fusible(self, source: Op, one: Access, op: Op, two: Access) -> bool:
        """Whether a store may share a loop with the load or store of the same place before it."""
        if op.name != "store" or source.name not in ("load", "store") or one.pointer is None:
            return False
        return self.aliases.same_place(one, two, shape_of(one.pointer.ty))


def _kind(lane: Hashable, one: Access, two: Access) -> str:
    if lane is SHOWN:
        return "shown"
    ordered = one.effect.synchronises or two.effect.synchronises
    return "synchronisation" if ordered else "memory"
