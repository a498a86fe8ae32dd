"""A loop nest of the plan as LLVM text.

The body of the lane loop is made in up to three versions from the same roots: one without the masks
that are bounds, one with them, and one for addresses that were taken to be contiguous and turn out
not to be. From these the nest becomes a value, `NestLoops` (`segments.py`): which versions run over
which lanes, under which checks. Only then is it printed.

    outer loops … { if checks { main: j < end, unmasked;  tail: j < extent, masked }  else generic }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...ir.nodes import Param, Value
from ...ir.types import element_of
from .code import Code, Reg, const
from .lane_axis import StridedAccess, lane_axis
from .nest import ZERO, Form, Home, LoopVersion, Nest, Run, Writer
from .roots import finish_sums, make_roots
from .schedule.plan import LoopNest, Root
from .segments import Body, NestLoops, Segment, Stitch, check_loops
from .sums import Sums, narrow, sums_of
from .types import SIZES, register


@dataclass(frozen=True, eq=False)
class Shape:
    """The order of a nest's loops: outer axes, the lane axis, perhaps the reduced axis inside."""

    extents: tuple[int, ...]
    outer: tuple[int, ...]
    lane: int
    inner: int | None
    lanes: int
    """The width of the full version."""
    base: int
    """The width of the others: one register."""


def shape_nest(group: LoopNest, vector_bytes: int, accesses: Sequence[StridedAccess] = ()) -> Shape:
    """Chooses the lane axis, by the strides of the accesses where they are known, and the width."""
    extents = group.shape
    long = [axis for axis, extent in enumerate(extents) if extent > 1]
    lane = lane_axis(group, accesses, vector_bytes // element_bytes(group))
    inner = group.axis if group.axis != lane else None
    outer = tuple(axis for axis in long if axis not in (lane, inner))
    lanes, base = (1, 1) if group.single else widths(group, extents[lane], vector_bytes)
    return Shape(extents, outer, lane, inner, lanes, base)


def widths(group: LoopNest, extent: int, vector_bytes: int) -> tuple[int, int]:
    """Lanes of the full version (several registers of the widest element where the body is short,
    so that additions overlap) and of the others (one register); powers of two.
    """
    base = vector_bytes // element_bytes(group)
    while base >= 2 * extent:
        base //= 2
    reduces = any(root.kind == "reduce" for root in group.roots)
    wanted = 4 if reduces and group.cost <= 12 else 2 if group.cost <= 24 else 1
    while wanted > 1 and base * wanted > extent:
        wanted //= 2
    return base * wanted, base


def element_bytes(group: LoopNest) -> int:
    """The size of the widest element that a nest loads or writes."""
    values = [v for root in group.roots for v in root.values if v is not None]
    values += [v for v in group.values if v.op.name == "load"]
    elements = [element_of(v.ty) for v in values if element_of(v.ty).kind != "p"]
    return max((SIZES[register(element)] for element in elements), default=4)


def several_runs(segments: Sequence[Segment]) -> bool:
    """Whether several accesses of memory are taken to be contiguous."""
    accesses = segments[0].body.version.accesses
    memory = [access.place for access in accesses if access.verb in ("load", "store")]
    runs = [a.place for a in accesses if a.place in memory and a.kind == "contiguous"]
    return len(runs) > 1


class NestEmitter:
    """Emits one loop nest into the code around it."""

    def __init__(
        self,
        writer: Writer,
        code: Code,
        loops: LoopNest,
        places: Mapping[Value | Param, Home],
        targets: Mapping[Root, Home] | None = None,
        accesses: Sequence[StridedAccess] = (),
    ) -> None:
        self.writer = writer
        self.roots = loops.roots
        self.accesses = tuple(accesses)
        self.shape = shape_nest(loops, writer.host.vector_bytes, accesses)
        self.nest = Nest(writer, [code], self.shape.base, loops.shape[self.shape.lane])
        self.parts: list[Form] = [ZERO] * len(loops.shape)
        self.nest.places = places
        self.nest.targets = targets or {}
        lane = self.shape.lane
        self.nest.strided = frozenset(
            access.place for access in accesses if not access.may_be_contiguous(lane)
        )
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
        """All segments of the lane loop; returns the sums as they are after it."""
        loops = self.segments()
        check_loops(loops)
        self.writer.loops.append(loops)
        if loops.generic is None:
            return self.fast(loops)
        return self.choose(loops, loops.generic)

    def segments(self) -> NestLoops:
        """The versions that are needed, and the lanes over which each runs."""
        shape, extent, checks = self.shape, self.nest.extent, list[Reg]()
        fast: list[Segment] = []
        end = ZERO
        if shape.lanes <= extent:
            version = LoopVersion(unmasked=True, contiguous=True, checks=checks)
            main = self.body(version, shape.lanes, extent < 2 * shape.lanes)
            bounds = tuple(dict.fromkeys(bound.below for bound in version.bounds))
            end = self.main_end(bounds)
            fast.append(Segment("main", main, ZERO, end, bounds))
        if not fast or fast[0].bounds or extent % shape.lanes:
            tail = self.body(LoopVersion(False, True, checks), shape.base, extent <= shape.base)
            fast.append(Segment("tail", tail, end, self.tail_end(bool(fast))))
        generic = None
        if checks:
            version = LoopVersion(by_access=len(checks) > 1 and several_runs(fast))
            body = self.body(version, shape.base, extent <= shape.base)
            generic = Segment("generic", body, ZERO, const("i64", extent))
        self.nest.lanes = shape.base
        return NestLoops(
            shape.extents, shape.lane, shape.inner, tuple(checks), tuple(fast), generic,
            self.accesses,
        )  # fmt: skip

    def body(self, version: LoopVersion, lanes: int, once: bool) -> Body:
        """The body of the lane loop in one version; `once`: it runs at most once, from lane 0."""
        nest, shape = self.nest, self.shape
        header, index = self.writer.names.fresh("lanes"), self.writer.names.fresh("j")
        del nest.codes[nest.lane_level :]
        nest.inner, nest.version, nest.lanes = {}, version, lanes
        shared = dict(nest.outer)
        nest.codes.append(Code(header))
        nest.lane = ZERO if once else Reg(f"%{index}", "i64", 0, nest.lane_level)
        if not version.unmasked and nest.extent % lanes:
            ends = nest.wide(const("i32", nest.extent))
            position = nest.wide(Run(const("i32", 0), const("i32", 1)))
            version.tail_mask = nest.inst("valid", "icmp ult", [position, ends], "i1")
        sums = sums_of(nest, self.roots)
        if shape.inner is not None:
            self.parts[shape.inner] = self.open_loop(shape.extents[shape.inner])
        make_roots(nest, self.roots, tuple(self.parts), sums)
        if shape.inner is not None:
            self.close_inner(sums)
        if once:  # at lane 0 what varies with the lane looks as if it did not
            nest.outer = shared
        stitch_ = Stitch(header, index, nest.codes.pop(), ZERO, ZERO, lanes)
        return Body(version, stitch_, sums, lanes)

    def close_inner(self, sums: list[Sums]) -> None:
        """Ends the loop over the reduced axis inside the lane loop, and stores what it summed."""
        nest = self.nest
        header, index, extent = self.headers.pop()
        body, around = nest.codes.pop(), nest.codes[-1]
        for total in sums:
            total.start_from(None)
        loop = Stitch(header, index, body, ZERO, const("i64", extent), 1)
        stitch(self.writer, around, loop, sums)
        for total in sums:
            total.settle(nest.lane_level)
        finish_sums(nest, sums, tuple(self.parts), None)

    def choose(self, loops: NestLoops, generic: Segment) -> list[Sums]:
        """The fast segments where all checks hold, else the generic one."""
        nest, fresh = self.nest, self.writer.names.fresh
        around, choice = nest.codes[-1], loops.checks[0]
        for other in loops.checks[1:]:
            choice = nest.inst("fast", "and", [choice, other])
        fast, rest, end = fresh("fast"), fresh("generic"), fresh("done")
        around.add(f"br i1 {choice.text}, label %{fast}, label %{rest}")
        around.start(fast)
        left = self.fast(loops)
        left_label = around.label
        around.add(f"br label %{end}")
        around.start(rest)
        right = self.run(generic, None)
        right_label = around.label
        around.branch(end)
        for one, two in zip(left, right, strict=True):
            one.merge(nest, around, left_label, two, right_label)
        return left

    def fast(self, loops: NestLoops) -> list[Sums]:
        """The segments one after the other; each goes on with the sums of the one before."""
        before: list[Sums] | None = None
        for segment in loops.fast:
            before = self.run(segment, before)
            if segment.kind == "main":
                for total in before:
                    narrow(self.nest, total, self.shape.base)
        assert before is not None
        return before

    def main_end(self, bounds: tuple[Reg, ...]) -> Reg:
        """The lane up to which the main segment runs: whole vectors below all bounds."""
        nest, lanes = self.nest, self.shape.lanes
        end = const("i64", nest.extent - nest.extent % lanes)
        for bound in bounds:
            end = nest.call("limit", "llvm.smin", [end, bound])
        if bounds:
            end = nest.call("limit", "llvm.smax", [end, ZERO])
            end = nest.inst("main", "and", [end, const("i64", -lanes)])
        return end

    def tail_end(self, has_main: bool) -> Reg:
        """The lane up to which the tail runs: where all that the nest does is store below bounds,
        up to the largest of those.
        """
        nest, extent = self.nest, const("i64", self.nest.extent)
        ends = [nest.store_bounds.get(root, ()) for root in self.roots]
        stores = all(root.kind == "store" for root in self.roots)
        if not has_main or not stores or not all(ends):
            return extent
        end = const("i64", 0)
        for bounds in ends:
            least = extent
            for bound in bounds:
                least = nest.call("limit", "llvm.smin", [least, bound.above])
            end = nest.call("end", "llvm.smax", [end, least])
        return end

    def run(self, segment: Segment, before: list[Sums] | None) -> list[Sums]:
        """Prints one segment, going on with the sums of the one before it."""
        around, body = self.nest.codes[-1], segment.body
        for number, total in enumerate(body.sums):
            total.start_from(before[number] if before else None)
        loop = body.loop.between(segment.start, segment.end)
        stitch(self.writer, around, loop, body.sums)
        for total in body.sums:
            total.settle(self.nest.lane_level - 1)
        return body.sums


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
