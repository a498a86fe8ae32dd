"""The dependence graph of a region: which ops must keep their order, beyond what values say.

The nodes are the ops that touch memory, show something or synchronise (what each does is for
`passes.dependence` to say); data dependence is in the operands already. An edge leads from an op to
a later one that must follow it, found for each location class (a lane). An access needs no further
edges once a later write that touches all that it touches is ordered after it: whoever must follow
it must follow that write too, and does so through it. So edges are about as many as accesses, not
as pairs of them.

An edge is `fusible` where both ops touch the same place at the same index and no index touches
another's: then they may share a loop, which reads before it writes and writes in program order.

    v = load(p); store(p, v + 1)    an edge load → store, fusible: one loop
    store(p, v); w = load(p)        an edge store → load, not fusible: the loop would read first
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
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

MOST_ENTRIES = 256
"""Accesses of one location class that are told apart."""


@dataclass(frozen=True)
class Edge:
    """That an op must come after `source`; `kind` is "memory", "synchronisation" (one of the two
    acquires or releases) or "shown" (a print or an assert).
    """

    source: Op
    kind: str
    fusible: bool


@dataclass(frozen=True, eq=False)
class _Entry:
    """An access of a lane, and the elements that it touches: low … high past some base and scalars
    (`place`), or any.
    """

    op: Op
    access: Access
    writes: bool
    place: Hashable = None
    low: int = 0
    high: int = 0

    def covers(self, other: _Entry) -> bool:
        """Whether this one touches all that the other touches."""
        same = self.place == other.place and self.low <= other.low and other.high <= self.high
        return self.place is None or same


@dataclass
class _Lane:
    """The accesses of one location class that later ones must know of, grouped by place, where an
    entry is found by the elements it touches.

    A write stands for the earlier accesses that it is ordered after, if whoever meets one of them
    meets it as well: if it touches all that they touch, or anything.
    """

    groups: dict[Hashable, list[_Entry]] = field(default_factory=dict)
    longest: int = 0
    size: int = 0

    def coarse(self, one: _Entry) -> _Entry:
        """A write that is taken to touch anything, and so stands for all before it, where there
        are so many that comparing with each would take long.
        """
        few = self.size < MOST_ENTRIES and (one.place in self.groups or len(self.groups) < 16)
        return one if few or not one.writes else _Entry(one.op, one.access, True)

    def meeting(self, one: _Entry) -> list[_Entry]:
        """The entries that may touch an element that this one touches."""
        found: list[_Entry] = []
        for place, entries in self.groups.items():
            if place is None or place != one.place:
                found += entries
                continue
            first = bisect_left(entries, one.low - self.longest, key=lambda entry: entry.low)
            last = bisect_right(entries, one.high, key=lambda entry: entry.low)
            found += [entry for entry in entries[first:last] if entry.high >= one.low]
        return found

    def add(self, one: _Entry, ordered: list[_Entry]) -> None:
        """Adds an entry, in the place of those that it stands for."""
        gone = {id(entry) for entry in ordered if one.writes and one.covers(entry)}
        for place in {entry.place for entry in ordered if id(entry) in gone}:
            self.groups[place] = [e for e in self.groups[place] if id(e) not in gone]
            if not self.groups[place]:
                del self.groups[place]
        insort(self.groups.setdefault(one.place, []), one, key=lambda entry: entry.low)
        self.longest = max(self.longest, one.high - one.low)
        self.size += 1 - len(gone)


class DependenceGraph:
    """The edges of one region, and who overwrites what a load reads."""

    def __init__(self, region: Region, aliases: Aliases) -> None:
        self.aliases = aliases
        params = () if aliases.overlap else aliases.function.params
        self._everywhere: tuple[Hashable, ...] = (*params, ANYWHERE)
        self.position = {op: number for number, op in enumerate(region.ops)}
        self.before: dict[Op, tuple[Edge, ...]] = {}
        """The edges that lead to an op."""
        self.after: dict[Op, list[Op]] = {}
        """Where the edges from an op lead."""
        self._lanes: dict[Hashable, _Lane] = {}
        for op in region.ops:
            access = aliases.of(op)
            if access is not None:
                self.before[op] = tuple(self._edges(op, access))
                for edge in self.before[op]:
                    self.after.setdefault(edge.source, []).append(op)

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
            mine = lane.coarse(self._entry(op, access, writes))
            ordered = [entry for entry in lane.meeting(mine) if writes or entry.writes]
            for entry in ordered:
                fusible = self._fusible(entry.op, entry.access, op, access)
                edge = Edge(entry.op, _kind(key, access, entry.access), fusible)
                if edge.source not in found or found[edge.source].fusible:
                    found[edge.source] = edge
            lane.add(mine, ordered)
        yield from found.values()

    def _entry(self, op: Op, access: Access, writes: bool) -> _Entry:
        touched = None if access.effect.synchronises else self.aliases.range_of(access)
        if touched is None:
            return _Entry(op, access, writes)
        offset, half = touched.offset, 1 << touched.offset.bits - 1
        low = (offset.low + half) % (2 * half) - half
        high = low + offset.high - offset.low
        if high >= half:  # it goes round
            return _Entry(op, access, writes)
        place = (touched.base, touched.element, offset.terms, offset.bits)
        return _Entry(op, access, writes, place, low, high)

    def overwriting(self, load: Op, last: int) -> Iterator[tuple[Op, bool]]:
        """The ops after a load, up to a position, that may change what it reads or must come after
        it; and whether they touch only what they find at the index that reads it.
        """
        mine = self.aliases.of(load)
        stack, seen = list(self.after.get(load, ())), set[Op]()
        while stack and mine is not None:
            op = stack.pop()
            access = self.aliases.of(op)
            if op in seen or access is None or self.position[op] > last:
                continue
            seen.add(op)
            if self.aliases.must_follow(mine, access):
                fusible = self._fusible(load, mine, op, access)
                yield op, fusible
                stack += self.after.get(op, ()) if fusible else ()

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
