"""The schedule of a region: which loops there are, in which order, and what each one does.

One idea: a block value is a function of its index and costs nothing until a *sink* needs it: a
store, a reduction, a value kept in the arena. Sinks of one iteration shape share a loop nest
(`Group`) unless one needs the finished result of another. Groups and scalar ops stand in `Stage`s;
a sink joins the earliest stage that its operands and the order of memory accesses allow.

    m = max(x); e = exp(x - m); s = sum(e); store(e / s)
    stage 0: loop {max x}     stage 1: loop {sum e, keep e}     stage 2: loop {store e/s}

What decides whether a value is kept: it is dear (`cost`) and needed by two loops, or it is a load
that a later store may change before it is used, or the reader needs it at other places than its own
(`KEPT_OPERANDS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ...ir.nodes import Const, Op, Operand, Param, Region, Value
from ...ir.ops import Effect
from ...ir.types import shape_of
from .alias import Access, Aliases
from .code import Reg
from .nest import Home
from .virtual import EMITTERS, only_ones_move

DEAR = 8
"""A value of this cost or more is kept rather than computed in two loops."""


@dataclass(eq=False)
class Sink:
    """One thing a loop nest does: `kind` is "store", "reduce", "keep", "extract" or an op done lane
    by lane.

    `values` is what is evaluated at each index; `kept` the value that a keep puts into its home;
    `place` where in the home that lies (strides and start, in elements), if not row-major.
    """

    kind: str
    op: Op | None
    values: tuple[Operand, ...]
    shape: tuple[int, ...]
    axis: int | None = None
    kept: Value | Param | None = None
    place: tuple[tuple[int, ...], int] | None = None
    finished: bool = True
    """Of a keep: whether the value may be read from its home when this sink has run."""
    slot: int | None = None
    """Of a keep: the number of the region's result it makes."""
    limits: list[Reg] = field(default_factory=list)
    """Of a store, when code is made: the lanes from which on its mask is false."""
    home: Home | None = None
    """Of a keep: where it puts the value, chosen when code is made."""


@dataclass(eq=False)
class Group:
    """A loop nest over a shape; `axis` is the one that its reductions run along; `single`: one lane
    at a time.
    """

    shape: tuple[int, ...]
    axis: int | None = None
    single: bool = False
    sinks: list[Sink] = field(default_factory=list)
    values: dict[Value, None] = field(default_factory=dict)
    cost: int = 0


@dataclass(frozen=True, eq=False)
class Reading:
    """That a stage reads a block of the arena; `plain`: each index its own element, in the stage's
    loop.
    """

    stage: Stage
    plain: bool


@dataclass(eq=False)
class Stage:
    """Scalar ops, then a loop nest or an op that is emitted as a whole."""

    index: int
    scalars: list[Op] = field(default_factory=list)
    heavy: Group | Op | None = None
    accesses: list[Access] = field(default_factory=list)


KEPT_OPERANDS: dict[str, Callable[[Op], Iterable[int]]] = {
    "reshape": lambda op: () if only_ones_move(op) else (0,),
    "gather": lambda op: (0,),
    "trans": lambda op: (0,),
    "scan": lambda op: range(len(op.operands)),
    "sort": lambda op: range(len(op.operands)),
    "dot": lambda op: (0, 1),
    "join": lambda op: (),
    "print": lambda op: range(len(op.operands)),
    "histogram": lambda op: (),
}
"""Which operands an op reads at other places than its own index, so that they must lie in the
arena.
"""

MOVES = ("trans", "slice", "split", "gather", "reshape")
LANE_BY_LANE = ("atomic", "atomic_cas", "map")


def is_virtual(op: Op) -> bool:
    """Whether the op's result is a function of its index."""
    return op.name in EMITTERS or op.row.element is not None


def is_scalar(op: Op) -> bool:
    """Whether the op works on scalars alone and needs no loop."""
    if op.regions or op.name == "print":
        return False
    operands = [operand for operand in op.operands if operand is not None]
    return not any(shape_of(ty) for ty in (*op.types, *(operand.ty for operand in operands)))


@dataclass
class Overtaken(Exception):
    """A store was placed before a load that it comes after, and what the load needs is made later
    still: the load must be kept at its own place in the program.
    """

    load: Value


class Scheduler:
    """Makes the stages of one region. `outer` values are ready before it."""

    def __init__(self, region: Region, aliases: Aliases, kept: Iterable[Value | Param]) -> None:
        self.region = region
        self.aliases = aliases
        self.stages: list[Stage] = [Stage(0)]
        self.kept: dict[Value | Param, Stage | None] = dict.fromkeys(kept)
        """Values that lie in the arena, and the stage that puts them there (None: before the
        region).
        """
        self.begun: dict[Value, Stage] = {}
        """The stage that first writes a home which is finished later."""
        self.ready_scalar: dict[Value, tuple[Stage, bool]] = {}
        """Where a scalar is made: the stage, and whether after its loop."""
        self.order = {op: number for number, op in enumerate(region.ops)}
        self.evaluated: dict[Value, list[tuple[Stage, Group]]] = {}
        self.writes: list[tuple[int, Access, Stage]] = []
        self.readings: dict[Value | Param, list[Reading]] = {}

    # -- walking the expression under a value

    def parts(self, operand: Operand) -> list[Value]:
        """The virtual values of this region under an operand, operands first; kept ones are not
        entered.
        """
        found: dict[Value, None] = {}
        stack: list[tuple[Operand, bool]] = [(operand, False)]
        while stack:
            value, done = stack.pop()
            if not isinstance(value, Value) or value in found or value in self.kept:
                continue
            if not self.enters(value):
                continue
            if done:
                found[value] = None
                continue
            stack.append((value, True))
            stack.extend((operand, False) for operand in reversed(value.op.operands))
        return list(found)

    def leaves(self, operands: Iterable[Operand]) -> Iterator[Value | Param]:
        """What the expressions under the operands start from: scalars, kept values."""
        for operand in operands:
            parts = self.parts(operand)
            inside = set(parts)
            if isinstance(operand, (Value, Param)) and operand not in inside:
                yield operand
            for part in parts:
                for used in part.op.operands:
                    if isinstance(used, (Value, Param)) and used not in inside:
                        yield used

    def earliest(self, operands: Iterable[Operand]) -> int:
        """The first stage whose loop may use the operands."""
        operands = list(operands)
        stage = 0
        for leaf in self.leaves(operands):
            home = self.kept.get(leaf)
            if home is not None:
                stage = max(stage, home.index + 1)
            if isinstance(leaf, Value) and leaf in self.ready_scalar:
                made, after = self.ready_scalar[leaf]
                stage = max(stage, made.index + after)
        for operand in operands:
            for part in self.parts(operand):
                if part.op.name == "load":
                    stage = max(stage, self.after_writes(part))
        return stage

    def after_writes(self, load: Value) -> int:
        """The first stage where a load sees all stores that come before it in the program."""
        mine, place = self.aliases.of(load.op), self.order.get(load.op, -1)
        hits = (
            s.index + (not a.scalar)
            for n, a, s in self.writes
            if n < place and self.aliases.clash(a, mine)
        )
        return max(hits, default=0)

    def loads(self, operands: Iterable[Operand]) -> list[Value]:
        return [
            part for operand in operands for part in self.parts(operand) if part.op.name == "load"
        ]

    def is_dear(self, value: Value) -> bool:
        """Whether the value takes many instructions at each index; looks no further than needed."""
        seen: set[Operand] = set()
        stack, cost = [value], 0
        while stack and cost < DEAR:
            part = stack.pop()
            if part in seen or part in self.kept or not self.enters(part):
                continue
            seen.add(part)
            cost += own_cost(part.op)
            stack.extend(used for used in part.op.operands if isinstance(used, Value))
        return cost >= DEAR

    def enters(self, value: Value) -> bool:
        """Whether the value is a block that is a function of its index."""
        return is_virtual(value.op) and bool(shape_of(value.ty))

    # -- stages

    def stage(self, index: int) -> Stage:
        while index >= len(self.stages):
            self.stages.append(Stage(len(self.stages)))
        return self.stages[index]

    def insert(self, index: int) -> Stage:
        """A new stage before the one of this index."""
        stage = Stage(index)
        self.stages.insert(index, stage)
        for number, other in enumerate(self.stages):
            other.index = number
        return stage

    # -- scalar ops

    def add_scalar(self, op: Op) -> None:
        """Puts a scalar op where its operands and memory order allow."""
        index = 0
        for operand in op.operands:
            if isinstance(operand, Value) and operand in self.ready_scalar:
                made, after = self.ready_scalar[operand]
                index = max(index, made.index + after)
            home = self.kept.get(operand) if isinstance(operand, (Value, Param)) else None
            if home is not None:
                index = max(index, home.index + 1)
        if op.row.effect is not Effect.PURE:
            index = max(index, self.memory_bound(op, None))
        stage = self.stage(index)
        stage.scalars.append(op)
        self.note(op, stage, before_loop=True)
        for value in op.results:
            self.ready_scalar[value] = (stage, False)

    def memory_bound(self, op: Op, sink: Sink | None) -> int:
        """The first stage where an op that touches memory stands behind what it must come after."""
        mine, bound = self.aliases.of(op), 0
        for stage in self.stages:
            for other in stage.accesses:
                if not self.aliases.clash(other, mine):
                    continue
                share = other.scalar or (sink is not None and self.may_share(stage, other, mine))
                bound = max(bound, stage.index + (not share))
        return bound

    def may_share(self, stage: Stage, one: Access, two: Access | None) -> bool:
        """Whether two accesses that clash may stand in one loop: they touch the same place at the
        same index.
        """
        return (
            isinstance(stage.heavy, Group)
            and not one.scalar
            and self.aliases.same_place(one, two, stage.heavy.shape)
        )

    def note(self, op: Op, stage: Stage, before_loop: bool = False) -> None:
        access = self.aliases.of(op, scalar=before_loop)
        if access is None:
            return
        stage.accesses.append(access)
        if access.writes:
            self.writes.append((self.order[op], access, stage))

    # -- sinks

    def place(self, sink: Sink) -> Stage:
        """Puts a sink into the earliest group that may take it; makes one if there is none."""
        self.prepare(sink, None)
        found = self.candidate(sink, None)
        if found is not None:
            return self.join(found, sink)
        late = [load for load in self.loads(sink.values) if self.overtaken(load)]
        for load in late:
            self.keep(load)
        stage = self.stage(max(self.first(sink), len(self.stages) - 1))
        if stage.heavy is not None:
            stage = self.stage(len(self.stages))
        return self.join(stage, sink)

    def place_early(self, sink: Sink, value: Value) -> Stage:
        """Puts the keep of a value before the stores that have overtaken its loads; where that
        cannot be, its loads are kept by themselves. Raises Overtaken for one that cannot.
        """
        self.prepare(sink, self.last_stage(value))
        last = self.last_stage(value)
        if last is None:
            return self.place(sink)
        found = self.candidate(sink, last)
        if found is not None:
            return self.join(found, sink)
        if self.first(sink) + bool(self.stages[last].scalars) <= last:
            return self.join(self.insert(last), sink)
        late = [x for x in self.loads((value,)) if x is not value and self.overtaken(x)]
        if not late:
            raise Overtaken(value)
        for load in late:
            self.keep(load)
        return self.place_early(sink, value)

    def first(self, sink: Sink) -> int:
        """The first stage that the sink may stand in."""
        stage = self.earliest(sink.values)
        if sink.op is not None and sink.op.row.effect is not Effect.PURE:
            stage = max(stage, self.memory_bound(sink.op, sink))
        return stage

    def candidate(self, sink: Sink, last: int | None) -> Stage | None:
        """The first stage there is that may take the sink."""
        end = len(self.stages) if last is None else last + 1
        for stage in self.stages[self.first(sink) : end]:
            if self.takes(stage, sink) and self.loads_fit(stage, sink):
                return stage
        return None

    def overtaken(self, load: Value) -> bool:
        """Whether a store that comes after the load in the program has been placed."""
        return self.overwritten(load, Stage(len(self.stages)))

    def takes(self, stage: Stage, sink: Sink) -> bool:
        """Whether the stage's loop has the sink's shape and axis."""
        group = stage.heavy
        if not isinstance(group, Group) or group.shape != sink.shape:
            return False
        if group.single or sink.kind in LANE_BY_LANE:
            return False
        return group.axis is None or sink.axis is None or group.axis == sink.axis

    def loads_fit(self, stage: Stage, sink: Sink) -> bool:
        """Whether the sink's loads may be made in this stage: before all stores that come after
        them.
        """
        return not any(self.overwritten(load, stage) for load in self.loads(sink.values))

    def overwritten(self, load: Value, stage: Stage) -> bool:
        """Whether a store after the load in the program stands in an earlier stage, or clashes in
        this one.
        """
        mine, place = self.aliases.of(load.op), self.order.get(load.op, -1)
        for number, access, where in self.writes:
            if number < place or where.index > stage.index or not self.aliases.clash(access, mine):
                continue
            if where is not stage or not self.may_share(stage, access, mine):
                return True
        return False

    def prepare(self, sink: Sink, last: int | None) -> None:
        """Keeps what the sink's loop must find in the arena: operands read elsewhere, loads that
        its own store may overwrite, and dear values it would redo, the outermost first. A sink that
        only keeps a value joins the loop that has its parts already.
        """
        for operand in sink.values:
            for part in self.parts(operand):
                for index in self.kept_operands(part.op):
                    self.keep(part.op.operands[index])
        for load in self.loads(sink.values):
            if self.overwrites(sink, load):
                self.keep(load)
        for operand in sink.values:
            while (dear := self.outermost_dear(operand, sink, last)) is not None:
                self.keep(dear)

    def overwrites(self, sink: Sink, load: Value) -> bool:
        """Whether the sink's store at one index may change what it loads at another."""
        own = self.aliases.of(sink.op) if sink.op is not None else None
        mine = self.aliases.of(load.op)
        if own is None or not own.writes or not self.aliases.clash(own, mine):
            return False
        return not self.aliases.same_place(own, mine, sink.shape)

    def outermost_dear(self, operand: Operand, sink: Sink, last: int | None) -> Value | None:
        """The outermost value under an operand that the sink's loop should find rather than
        redo: another loop has it, or this one would redo it along some axis.
        """
        parts = [part for part in self.parts(operand) if part is not sink.kept]
        made = {part: [stage for stage, _ in self.evaluated.get(part, ())] for part in parts}
        here = self.candidate(sink, last) if any(made.values()) else None
        for part in reversed(parts):
            stretched = shape_of(part.ty) != sink.shape and part is not operand
            again = sink.kept is None and bool(made[part]) and here not in made[part]
            if (stretched or again) and self.dear(part):
                return part
        return None

    def kept_operands(self, op: Op) -> Iterable[int]:
        rule = KEPT_OPERANDS.get(op.name)
        return rule(op) if rule is not None else ()

    def dear(self, value: Value) -> bool:
        """Whether the value is worth keeping: it costs much, and a stretched one is not just a
        scalar made wide.
        """
        return value.op.name not in ("broadcast", "addptr") and self.is_dear(value)

    def keep(self, operand: Operand) -> None:
        """Makes sure that a block lies in the arena, as early as its loads demand."""
        if (
            not isinstance(operand, (Value, Const))
            or operand in self.kept
            or not shape_of(operand.ty)
        ):
            return
        assert isinstance(operand, Value)
        sink = Sink("keep", None, (operand,), shape_of(operand.ty), None, operand)
        early = self.last_stage(operand) is not None
        self.kept[operand] = self.place_early(sink, operand) if early else self.place(sink)

    def last_stage(self, value: Value) -> int | None:
        """The last stage where the value can be computed: no store has overtaken its loads; None:
        anywhere.
        """
        limits = []
        for load in self.loads((value,)):
            mine, place = self.aliases.of(load.op), self.order.get(load.op, -1)
            for number, access, where in self.writes:
                if number > place and self.aliases.clash(access, mine):
                    limits.append(where.index)
        return min(limits, default=None)

    def join(self, stage: Stage, sink: Sink) -> Stage:
        """Adds the sink to the stage's group and notes what it evaluates and touches."""
        if stage.heavy is None:
            stage.heavy = Group(sink.shape, single=sink.kind in LANE_BY_LANE)
        group = stage.heavy
        assert isinstance(group, Group)
        group.sinks.append(sink)
        group.axis = sink.axis if group.axis is None else group.axis
        for operand in sink.values:
            for part in self.parts(operand):
                if part in group.values:
                    continue
                group.values[part] = None
                group.cost += own_cost(part.op)
                self.evaluated.setdefault(part, []).append((stage, group))
                if part.op.name == "load":
                    self.note_load(part.op, stage)
        self.note_readings(stage, sink)
        if sink.op is not None:
            self.note(sink.op, stage)
        return stage

    def note_readings(self, stage: Stage, sink: Sink) -> None:
        moved = any(
            part.op.name in MOVES for operand in sink.values for part in self.parts(operand)
        )
        for leaf in self.leaves(sink.values):
            if leaf in self.kept:
                plain = not moved and shape_of(leaf.ty) == sink.shape
                self.readings.setdefault(leaf, []).append(Reading(stage, plain))

    def note_load(self, op: Op, stage: Stage) -> None:
        access = self.aliases.of(op)
        if access is not None:
            stage.accesses.append(access)


def own_cost(op: Op) -> int:
    """What the op itself costs at each index."""
    element = op.row.element
    if element is not None:
        return element.cost
    return {"load": 2, "cast": 1, "gather": 4, "select": 1}.get(op.name, 0)
