"""A group of sinks as a loop nest in LLVM text.

One idea: the body of the lane loop is made in up to three versions from the same sinks. The full one takes masks to be true
and runs up to the lane where one is not; the masked one does the rest; and where addresses were taken to be contiguous
and turn out not to be, a plain one does the whole row with gathers.

    outer loops … { limit = min(…);  for j < limit: full;  for j < extent: masked }        or, rarely:  { plain }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...ir.nodes import Param, Value
from ...ir.types import element_of
from .code import Code, Reg, const
from .nest import ZERO, Form, Home, Nest, Run, Version, Writer
from .schedule import Group
from .sinks import Sums, finish_sums, make_sinks, sums_of
from .types import SIZES, register


@dataclass(frozen=True, eq=False)
class Shape:
    """The order of a nest's loops: outer axes, the lane axis, perhaps the reduced axis inside."""

    extents: tuple[int, ...]
    outer: tuple[int, ...]
    lane: int
    inner: int | None
    lanes: int


def shape_nest(group: Group, vector_bytes: int) -> Shape:
    """Chooses the lane axis (the last that is long) and the width."""
    extents = group.shape
    long = [axis for axis, extent in enumerate(extents) if extent > 1]
    lane = long[-1] if long else len(extents) - 1
    inner = group.axis if group.axis != lane else None
    outer = tuple(axis for axis in long if axis not in (lane, inner))
    lanes = 1 if group.single else width(group, extents[lane], vector_bytes)
    return Shape(extents, outer, lane, inner, lanes)


def width(group: Group, extent: int, vector_bytes: int) -> int:
    """Lanes: a register of the widest element, or several where the body is short, a power of two."""
    values = [v for sink in group.sinks for v in sink.values if v is not None]
    values += [v for v in group.values if v.op.name == "load"]
    size = max((SIZES[register(element_of(v.ty))] for v in values), default=4)
    size = max(size, 4) if any(element_of(v.ty).kind == "f" for v in values) else size
    lanes = vector_bytes // size
    reduces = any(sink.kind == "reduce" for sink in group.sinks)
    wanted = 4 if reduces and group.cost <= 12 else 2 if group.cost <= 24 else 1
    while wanted > 1 and extent % (lanes * wanted):
        wanted //= 2
    lanes *= wanted
    while lanes >= 2 * extent:
        lanes //= 2
    return lanes


class GroupEmitter:
    """Emits one group into the code around it."""

    def __init__(
        self, writer: Writer, code: Code, group: Group, places: Mapping[Value | Param, Home]
    ) -> None:
        self.writer = writer
        self.group = group
        self.shape = shape_nest(group, writer.host.vector_bytes)
        self.nest = Nest(writer, [code], self.shape.lanes, group.shape[self.shape.lane])
        self.parts: list[Form] = [ZERO] * len(group.shape)
        self.nest.extent = group.shape[self.shape.lane]
        self.nest.places = places
        self.headers: list[tuple[str, str, int]] = []

    def emit(self) -> None:
        nest, shape = self.nest, self.shape
        for axis in shape.outer:
            self.parts[axis] = self.open_loop(shape.extents[axis])
        nest.lane_level = len(nest.codes)
        self.parts[shape.lane] = Run(ZERO, const("i64", 1))
        sums = self.lane_loops()
        finish_sums(nest, sums, tuple(self.parts), shape.lane if shape.inner is None else None)
        while len(nest.codes) > 1:
            self.close_loop()

    def open_loop(self, extent: int) -> Reg:
        """A loop from 0 to a constant extent around all that follows; returns its index."""
        header, index = self.writer.names.fresh("loop"), self.writer.names.fresh("i")
        self.headers.append((header, index, extent))
        self.nest.codes.append(Code(header))
        return Reg(f"%{index}", "i64", 0, len(self.nest.codes) - 1)

    def close_loop(self) -> None:
        header, index, extent = self.headers.pop()
        body, around = self.nest.codes.pop(), self.nest.codes[-1]
        stitch(self.writer, around, Stitch(header, index, body, ZERO, const("i64", extent), 1), [])

    # -- the lane loop

    def lane_loops(self) -> list[Sums]:
        """All versions of the lane loop; returns the sums as they are after it."""
        nest, lanes, extent = self.nest, self.shape.lanes, self.nest.extent
        around = nest.codes[-1]
        shared = Version().conditions
        versions: dict[str, tuple[Stitch, list[Sums]]] = {}
        limits: list[Reg] = []
        if lanes <= extent:
            version = Version(full=True, nice=True, conditions=shared)
            versions["full"] = self.body(version, extent < 2 * lanes)
            limits = version.limits
        if limits or extent % lanes:
            version = Version(nice=True, conditions=shared)
            versions["masked"] = self.body(version, extent <= lanes)
        if shared:
            versions["plain"] = self.body(Version(), extent <= lanes)
        return self.assemble(around, versions, limits, shared)

    def body(self, version: Version, once: bool) -> tuple[Stitch, list[Sums]]:
        """The body of the lane loop in one version; `once`: it runs at most once, from lane 0."""
        nest, shape = self.nest, self.shape
        header, index = self.writer.names.fresh("lanes"), self.writer.names.fresh("j")
        del nest.codes[nest.lane_level :]
        nest.inner, nest.version = {}, version
        shared = dict(nest.outer)
        nest.codes.append(Code(header))
        nest.lane = ZERO if once else Reg(f"%{index}", "i64", 0, nest.lane_level)
        if not version.full and nest.extent % nest.lanes:
            ends = nest.wide(const("i32", nest.extent))
            position = nest.wide(Run(const("i32", 0), const("i32", 1)))
            version.valid = nest.inst("valid", "icmp ult", [position, ends], "i1")
        sums = sums_of(nest, self.group)
        if shape.inner is not None:
            self.parts[shape.inner] = self.open_loop(shape.extents[shape.inner])
        make_sinks(nest, self.group, tuple(self.parts), sums)
        if shape.inner is not None:
            self.close_inner(sums)
        if once:  # at lane 0 what varies with the lane looks as if it did not
            nest.outer = shared
        return Stitch(header, index, nest.codes.pop(), ZERO, ZERO, nest.lanes), sums

    def close_inner(self, sums: list[Sums]) -> None:
        """Ends the loop over the reduced axis inside the lane loop, and stores what it summed."""
        nest = self.nest
        header, index, extent = self.headers.pop()
        body, around = nest.codes.pop(), nest.codes[-1]
        start = [total.start_from(None) for total in sums]
        stitch(
            self.writer, around, Stitch(header, index, body, ZERO, const("i64", extent), 1), start
        )
        for total in sums:
            total.settle(nest.lane_level)
        finish_sums(nest, sums, tuple(self.parts), None)

    def assemble(
        self,
        around: Code,
        versions: dict[str, tuple[Stitch, list[Sums]]],
        limits: list[Reg],
        conditions: list[Reg],
    ) -> list[Sums]:
        """Puts the versions one after the other into the code around the lane loop."""
        nest, fresh = self.nest, self.writer.names.fresh
        carried = self.shape.inner is None
        if not conditions:
            return self.nice_loops(around, versions, limits, carried)
        choice = conditions[0]
        for other in conditions[1:]:
            choice = nest.inst("nice", "and", [choice, other])
        nice, plain, end = fresh("nice"), fresh("plain"), fresh("done")
        around.add(f"br i1 {choice.text}, label %{nice}, label %{plain}")
        around.start(nice)
        left = self.nice_loops(around, versions, limits, carried)
        left_label = around.label
        around.add(f"br label %{end}")
        around.start(plain)
        right = self.run(around, *versions["plain"], ZERO, const("i64", nest.extent), None, carried)
        right_label = around.label
        around.branch(end)
        for one, two in zip(left, right, strict=True):
            one.merge(nest, around, left_label, two, right_label)
        return left

    def nice_loops(
        self,
        around: Code,
        versions: dict[str, tuple[Stitch, list[Sums]]],
        limits: list[Reg],
        carried: bool,
    ) -> list[Sums]:
        nest = self.nest
        whole = nest.extent - nest.extent % nest.lanes
        end, before = const("i64", whole), None
        for limit in limits:
            end = nest.call("limit", "llvm.smin", [end, limit])
        if limits:
            end = nest.call("limit", "llvm.smax", [end, ZERO])
            end = nest.inst("full", "and", [end, const("i64", -nest.lanes)])
        if "full" in versions and whole:
            before = self.run(around, *versions["full"], ZERO, end, None, carried)
        if "masked" not in versions:
            assert before is not None
            return before
        start = end if before is not None else ZERO
        return self.run(
            around, *versions["masked"], start, const("i64", nest.extent), before, carried
        )

    def run(
        self,
        around: Code,
        loop: Stitch,
        sums: list[Sums],
        start: Reg,
        end: Reg,
        before: list[Sums] | None,
        carried: bool,
    ) -> list[Sums]:
        """One version from lane `start` to `end`, going on with the sums of the version before it."""
        if not carried:
            stitch(self.writer, around, loop.between(start, end), [])
            return []
        starts = [
            total.start_from(before[number] if before else None)
            for number, total in enumerate(sums)
        ]
        stitch(self.writer, around, loop.between(start, end), starts)
        for total in sums:
            total.settle(self.nest.lane_level - 1)
        return sums


@dataclass(frozen=True, eq=False)
class Stitch:
    """A finished loop body and where it runs."""

    header: str
    index: str
    body: Code
    start: Reg
    end: Reg
    step: int

    def between(self, start: Reg, end: Reg) -> Stitch:
        return Stitch(self.header, self.index, self.body, start, end, self.step)


def stitch(writer: Writer, around: Code, loop: Stitch, sums: list[Sums]) -> None:
    """Appends a loop to the code around it; each sum is carried through by a phi."""
    fresh = writer.names.fresh
    known = loop.start.constant is not None and loop.end.constant is not None
    entry, exit_ = around.label, fresh("end")
    guarded = not known
    if guarded:
        enter = fresh("enter")
        around.add(f"%{enter} = icmp slt i64 {loop.start.text}, {loop.end.text}")
        around.add(f"br i1 %{enter}, label %{loop.header}, label %{exit_}")
    else:
        around.add(f"br label %{loop.header}")
    around.start(loop.header)
    following, more = fresh("next"), fresh("more")
    latch = loop.body.label
    around.add(
        f"%{loop.index} = phi i64 [ {loop.start.text}, %{entry} ], [ %{following}, %{latch} ]"
    )
    for total in sums:
        total.head(around, entry, latch)
    around.append(loop.body)
    around.add(f"%{following} = add nuw nsw i64 %{loop.index}, {loop.step}")
    around.add(f"%{more} = icmp slt i64 %{following}, {loop.end.text}")
    around.add(f"br i1 %{more}, label %{loop.header}, label %{exit_}")
    around.start(exit_)
    for total in sums:
        total.foot(around, entry if guarded else None, latch)
