"""Software pipelines: which loads of a loop are copied to shared memory some turns ahead.

A load in a `for` that only feeds products of the same loop needs no registers: `cp.async` copies
its block from global to shared memory while earlier turns compute. With S stages a turn starts the
copy of the turn S - 1 after it, into one of S buffers that are used in rotation:

    before the loop     copies of turns 0 … S - 2, one group each
    turn i              wait for the group of turn i; barrier; start the copies of turn i + S - 1;
                        multiply from buffer i mod S

A turn past the end copies nothing, so any number of turns is right, none included. What an address
or a mask is made of is computed S - 1 turns ahead: ops of the body on the index, on values from
outside, and on carried values that such ops update.

    for pipeline in plan(function, distribution, stages=3).values():
        print(pipeline)

    3 stages of %25 = for 0, K, 32, %0
        %18 = load %17, none, none : vector<64x32 x f16>    4096 bytes a stage, 16 a copy
        …
        ahead: %15 = add %13, %1 : vector<32 x i32>
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from ...ir.effects import accesses_memory, is_sync_point, own_effect
from ...ir.nodes import Const, Function, Op, Operand, Param, Region, Value, number, walk
from ...ir.ops import TABLE, Effect
from ...ir.text import SSAPrinter
from ...ir.types import element_of, shape_of
from ...passes.provenance import Provenance, provenance
from .emit.distribution import Distribution
from .emit.operands import ROW, neighbours, run_of, source_of

STAGES = 3
"""The stages of a loop where neither the launch nor the loop says how many, as in Triton."""
ROOM = 160 * 1024
"""Bytes that the buffers of a loop may take where nobody says how many stages it has."""
SMALLEST_COPY = 4
"""Bytes: cp.async moves 4, 8 or 16."""


@dataclass(frozen=True)
class Copy:
    """One load of a pipeline: the axis along which its rows of 16 bytes lie in shared memory, how
    many elements one copy moves, and the bytes of one stage."""

    load: Op
    run: int
    vector: int
    bytes: int


@dataclass(frozen=True)
class Pipeline:
    """The plan of one loop. ahead: the ops of its body that addresses and masks are made of, in
    order. carried: which carried values these need (by place)."""

    loop: Op
    stages: int
    copies: tuple[Copy, ...]
    ahead: tuple[Op, ...]
    carried: tuple[int, ...]

    def __str__(self) -> str:
        return self.text(SSAPrinter())

    def text(self, ssa: SSAPrinter) -> str:
        """The plan in words; the printer says how values are numbered."""
        lines = [f"{self.stages} stages of {ssa.head(self.loop)}"]
        for copy in self.copies:
            each = copy.vector * element_of(copy.load.types[0]).itemsize
            how = f"{copy.bytes} bytes a stage, {each} a copy"
            lines.append(f"    {ssa.head(copy.load)}    {how}")
        lines += [f"    ahead: {ssa.head(op)}" for op in self.ahead]
        return "\n".join(lines)


def plan(
    function: Function, distribution: Distribution, stages: int | None, overlap: bool
) -> dict[Op, Pipeline]:
    """The pipelines of a function, by loop. stages: what the launch asks for; a loop's own
    `num_stages` wins. overlap: distinct parameters may share memory."""
    planner = _Planner(function, distribution, stages, overlap)
    return {p.loop: p for p in planner.region(function.body)}


def describe(function: Function, pipelines: Sequence[Pipeline]) -> str:
    """The plans as text, with the numbers of the function's SSA text."""
    ssa = SSAPrinter(number(function))
    return "\n".join(pipeline.text(ssa) for pipeline in pipelines)


class _Planner:
    def __init__(
        self, function: Function, distribution: Distribution, stages: int | None, overlap: bool
    ) -> None:
        self.distribution, self.stages, self.overlap = distribution, stages, overlap
        self.provenance = provenance(function)
        self.readers: dict[Value | Param, list[Op]] = {}
        for op in walk(function.body):
            for operand in op.operands:
                if isinstance(operand, (Value, Param)):
                    self.readers.setdefault(operand, []).append(op)

    def region(self, region: Region) -> Iterator[Pipeline]:
        """The pipelines of the innermost loops that can have one: groups of copies are counted in
        order, so that a loop around a pipeline has none."""
        for op in region.ops:
            inner = [found for r in op.regions for found in self.region(r)]
            yield from inner
            if op.name == "for" and not inner:
                found = self.loop(op)
                if found is not None:
                    yield found

    def loop(self, loop: Op) -> Pipeline | None:
        asked = dict(loop.attribute("hints")).get("num_stages", self.stages)
        stages = STAGES if asked is None else asked
        (region,) = loop.regions
        if stages < 2 or element_of(region.params[0].ty).bits > 32 or not _forward(loop):
            return None
        writes = list(self.writes(region))
        copies: list[Copy] = []
        ahead: set[Op] = set()
        carried: set[int] = set()
        for op in region.ops:
            copy = self.copy(op, region) if op.name == "load" else None
            if copy is None or any(self.clash(op, written) for written in writes):
                continue
            needed = self.ahead_of(op, loop)
            if needed is not None:
                copies.append(copy)
                ahead |= needed[0]
                carried |= needed[1]
        if not copies:
            return None
        total = sum(copy.bytes for copy in copies)
        if asked is None:
            stages = max(2, min(stages, ROOM // total))
        ordered = tuple(op for op in region.ops if op in ahead)
        return Pipeline(loop, stages, tuple(copies), ordered, tuple(sorted(carried)))

    # -- loads

    def copy(self, load: Op, region: Region) -> Copy | None:
        """How a load is copied; None where something else than products of this region reads it, or
        where its threads hold no 4 bytes that are neighbours on both sides."""
        value, vector = load.results[0], self.distribution.vectors.get(load, 1)
        element, shape = element_of(value.ty), shape_of(value.ty)
        other = load.operands[2]
        zeros = other is None or (isinstance(other, Const) and other.value == 0 and not
                                  str(other.value).startswith("-"))  # fmt: skip
        plain = not load.attribute("volatile") and load.attribute("cache") != ".cv"
        axes = self.summed_axes(value, region)
        if not axes or not plain or not zeros or len(shape) != 2:
            return None
        home = self.distribution.accesses[load]
        runs = {run_of(home, axis, element) for axis in axes}
        if len(runs) > 1:
            return None
        (run,) = runs
        vector = min(vector, neighbours(home, run, element), ROW // element.itemsize)
        if vector * element.itemsize < SMALLEST_COPY:
            return None
        return Copy(load, run, vector, prod(shape) * element.itemsize)

    def summed_axes(self, value: Value, region: Region) -> set[int]:
        """The axes of a block that products of the region sum over; none where anything else reads
        it."""
        axes: set[int] = set()
        for op in self.readers.get(value, []):
            if op not in region.ops:
                return set()
            if op.name == "trans" and source_of(op.results[0])[1]:
                further = {1 - axis for axis in self.summed_axes(op.results[0], region)}
                if not further:
                    return set()
                axes |= further
            elif op in self.distribution.dots and op.operands[2] is not value:
                axes |= {1 - place for place in (0, 1) if op.operands[place] is value}
            else:
                return set()
        return axes

    # -- what may run ahead

    def ahead_of(self, load: Op, loop: Op) -> tuple[set[Op], set[int]] | None:
        """The ops of the body that a load's address and mask need, and the carried values; None
        where one of them cannot be computed ahead."""
        (region,) = loop.regions
        inside = {result: op for op in region.ops for result in op.results}
        ops: set[Op] = set()
        carried: set[int] = set()
        open_: list[Operand] = list(load.operands)
        while open_:
            operand = open_.pop()
            if isinstance(operand, Param) and operand in region.params:
                place = region.params.index(operand) - 1
                if place >= 0 and place not in carried:
                    carried.add(place)
                    open_.append(region.results[place])
            op = inside.get(operand) if isinstance(operand, Value) else None
            if op is None or op in ops:
                continue
            if not self.is_arithmetic(op):
                return None
            ops.add(op)
            open_ += op.operands
        return ops, carried

    def is_arithmetic(self, op: Op) -> bool:
        """Whether an op only computes, each element from those at its place."""
        relabels = op.name in AHEAD and op not in self.distribution.ruled
        return (op.row.element is not None or relabels) and own_effect(op) is Effect.PURE

    # -- order

    def writes(self, region: Region) -> Iterator[Provenance | None]:
        """What the body may write, by where addresses derive from; None for what orders memory."""
        for op in walk(region):
            if op.name == "barrier" or is_sync_point(op):
                yield None
            elif accesses_memory(op) and own_effect(op) is Effect.WRITE:
                yield self.provenance.of(op.operands[0])

    def clash(self, load: Op, written: Provenance | None) -> bool:
        """Whether a load may not be moved over a write."""
        if written is None:
            return True
        roots = self.provenance.of(load.operands[0])
        return roots.may_alias(written) or (self.overlap and bool(roots and written))


AHEAD = frozenset(
    ["program_id", "num_programs", "arange", "broadcast", "hint", "select", "cast", "bitcast",
     "addptr", "trans", "reshape"]
)  # fmt: skip
"""Ops beside the element-wise rows that need no other lane's elements."""
assert TABLE.keys() >= AHEAD


def _forward(loop: Op) -> bool:
    """Whether the index counts by a constant that is not 0."""
    step = loop.operands[2]
    return isinstance(step, Const) and step.value != 0


def check(pipeline: Pipeline) -> None:
    """Raises AssertionError where a plan is not sound: each copy a load of the loop that its
    products alone read, everything ahead pure and made of what is ahead, in order, or from
    outside."""
    (region,) = pipeline.loop.regions
    assert pipeline.stages >= 2, "a pipeline has two stages at least"
    assert pipeline.copies, "a pipeline copies something"
    known: set[Operand] = {region.params[0]}
    known |= {region.params[1 + place] for place in pipeline.carried}
    inside: set[Operand] = {value for op in region.ops for value in op.results}
    inside |= set(region.params)

    def available(operand: Operand) -> bool:
        return operand not in inside or operand in known

    for op in pipeline.ahead:
        assert op in region.ops, f"{op.name} is not in the loop"
        assert own_effect(op) is Effect.PURE and not op.regions, f"{op.name} cannot run ahead"
        assert all(map(available, op.operands)), f"{op.name} needs what is not ahead"
        known.update(op.results)
    for place in pipeline.carried:
        assert available(region.results[place]), f"carried value {place} is not updated ahead"
    for copy in pipeline.copies:
        assert copy.load in region.ops and copy.load.name == "load", "a copy is a load of the loop"
        assert all(map(available, copy.load.operands)), "an address is not ahead"
