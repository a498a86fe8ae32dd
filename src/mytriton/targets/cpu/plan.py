"""From a region's ops to its stages: which op is a scalar, a function of its index, a sink, or
emitted as a whole.

One idea: a dictionary says for each op that is more than a function of its index how it enters the
schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass

from ...ir.effects import free_values
from ...ir.nodes import Op, Operand, Param, Region, Value
from ...ir.types import shape_of
from .alias import Aliases
from .combine import independent
from .operands import named, shape_at
from .schedule import Overtaken, Reading, Scheduler, Sink, Stage, is_scalar, is_virtual


@dataclass(frozen=True, eq=False)
class Plan:
    """The stages of a region; `slots` says how each block among the region's results gets into its
    home.

    A slot is a value that already lies in the arena and may simply be given that home, or None
    where a keep writes it. `in_place`: no stage reads the old content after the new one is written.
    """

    stages: list[Stage]
    slots: dict[int, Value | None]
    in_place: dict[int, bool]


def plan(
    region: Region,
    aliases: Aliases,
    kept: Iterable[Value | Param],
    carried: tuple[Operand, ...] = (),
) -> Plan:
    """Schedules a region. `carried`: the param whose home each result overwrites (of a loop's
    body).
    """
    known, early = tuple(kept), set[Value]()
    while True:
        try:
            return attempt(Scheduler(region, aliases, known), region, carried, early)
        except Overtaken as found:
            assert found.load not in early, found.load
            early.add(found.load)


def attempt(
    scheduler: Scheduler, region: Region, carried: tuple[Operand, ...], early: Container[Operand]
) -> Plan:
    """The plan that keeps the loads in `early` at their places in the program."""
    for op in region.ops[:-1]:
        if is_scalar(op):
            scheduler.add_scalar(op)
        elif op.name in SINKS:
            SINKS[op.name](scheduler, op)
        elif not is_virtual(op):
            as_a_whole(scheduler, op)
        elif not shape_of(op.types[0]):
            extract(scheduler, op)
        elif op.name == "load" and (op.attribute("volatile") or op.results[0] in early):
            scheduler.keep(op.results[0])
    slots, stages = yields(scheduler, region)
    in_place = {
        number: safe(scheduler, carried[number], stages[number]) if carried else True
        for number in slots
    }
    return Plan(scheduler.stages, slots, in_place)


def yields(
    scheduler: Scheduler, region: Region
) -> tuple[dict[int, Value | None], dict[int, Stage]]:
    """Makes sure that each block among the results is written, and says where."""
    slots: dict[int, Value | None] = {}
    stages: dict[int, Stage] = {}
    for number, result in enumerate(region.results):
        if result is None or not shape_of(result.ty):
            continue
        home = scheduler.kept.get(result) if isinstance(result, Value) else None
        if home is not None and result not in slots.values() and not brings_its_home(result):
            assert isinstance(result, Value)
            slots[number] = result
            stages[number] = scheduler.begun.get(result, home)
            continue
        sink = Sink("keep", None, (result,), shape_of(result.ty), slot=number)
        slots[number], stages[number] = None, scheduler.place(sink)
    return slots, stages


def brings_its_home(value: Operand) -> bool:
    """Whether a block lies where a loop carries it, and must be copied to lie elsewhere."""
    return isinstance(value, Value) and value.op.name in ("for", "while")


def safe(scheduler: Scheduler, param: Operand, written: Stage) -> bool:
    """Whether every stage has read a carried block before the stage that overwrites it does so."""
    readings: list[Reading] = scheduler.readings.get(named(param), [])
    return all(
        reading.stage.index < written.index or (reading.stage is written and reading.plain)
        for reading in readings
    )


def extract(scheduler: Scheduler, op: Op) -> None:
    """A scalar out of a block of one element."""
    (operand,) = op.operands
    assert operand is not None
    sink = Sink("extract", op, (operand,), shape_of(operand.ty))
    stage = scheduler.place(sink)
    scheduler.ready_scalar[op.results[0]] = (stage, True)


def store(scheduler: Scheduler, op: Op) -> None:
    pointer = op.operands[0]
    assert pointer is not None
    scheduler.place(Sink("store", op, op.operands, shape_of(pointer.ty)))


def reduce(scheduler: Scheduler, op: Op) -> None:
    """In a loop with others where the order is free; else as a whole, over operands in the
    arena.
    """
    if not independent(op.regions[0]):
        return as_a_whole(scheduler, op)
    shape = shape_at(op, 0)
    stage = scheduler.place(Sink("reduce", op, op.operands, shape, op.attrs["axis"]))
    finished(scheduler, op, stage)


def lane_by_lane(scheduler: Scheduler, op: Op) -> None:
    pointer = op.operands[0]
    assert pointer is not None
    stage = scheduler.place(Sink(op.name, op, op.operands, shape_of(pointer.ty)))
    finished(scheduler, op, stage)


def joined(scheduler: Scheduler, op: Op) -> None:
    """Each part is written to its place in one home."""
    sinks = []
    for operand, place in zip(op.operands, PLACES[op.name](op), strict=True):
        assert operand is not None
        sink = Sink(
            "keep",
            None,
            (operand,),
            shape_of(operand.ty),
            None,
            op.results[0],
            place,
            finished=False,
        )
        sinks.append((scheduler.place(sink), sink))
    sinks.sort(key=lambda pair: pair[0].index)
    sinks[-1][1].finished = True
    scheduler.begun[op.results[0]], scheduler.kept[op.results[0]] = sinks[0][0], sinks[-1][0]


def _join_places(op: Op) -> list[tuple[tuple[int, ...], int]]:
    """The two operands take turns along the new last axis."""
    return [(strides(shape_of(op.types[0]))[:-1], number) for number in (0, 1)]


def _cat_places(op: Op) -> list[tuple[tuple[int, ...], int]]:
    steps, axis = strides(shape_of(op.types[0])), op.attrs["axis"]
    left = shape_at(op, 0)
    return [(steps, 0), (steps, steps[axis] * left[axis])]


def strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    steps, step = [], 1
    for extent in reversed(shape):
        steps.append(step)
        step *= extent
    return tuple(reversed(steps))


def as_a_whole(scheduler: Scheduler, op: Op, first: int = 0, done: Container[int] = ()) -> None:
    """An op that is a stage of its own: its block operands (but those whose numbers are in `done`)
    lie in the arena, as will its results.

    What its regions use from outside is kept too if that is worth it.
    """
    given = [operand for number, operand in enumerate(op.operands) if number not in done]
    inside = free_values(op)
    for operand in (*given, *inside):
        whole = isinstance(operand, Value) and shape_of(operand.ty)
        if whole and (operand in given or worth_keeping(scheduler, operand)):
            scheduler.keep(operand)
    used = [*given, *inside]
    first = max(first, scheduler.earliest(used), scheduler.memory_bound(op, None))
    stage = scheduler.stage(first)
    while stage.heavy is not None:
        first += 1
        stage = scheduler.stage(first)
    stage.heavy = op
    scheduler.note(op, stage)
    for leaf in scheduler.leaves(used):
        if leaf in scheduler.kept:
            scheduler.readings.setdefault(leaf, []).append(Reading(stage, False))
    finished(scheduler, op, stage)


def worth_keeping(scheduler: Scheduler, operand: Operand) -> bool:
    """Whether a block that a region uses is made before it: it is dear, or reads memory that may
    change.
    """
    assert isinstance(operand, Value)
    return bool(scheduler.loads((operand,))) or scheduler.is_dear(operand)


def finished(scheduler: Scheduler, op: Op, stage: Stage) -> None:
    """The op's results are there after the stage: scalars in registers, blocks in the arena."""
    for value in op.results:
        if shape_of(value.ty):
            scheduler.kept[value] = stage
        else:
            scheduler.ready_scalar[value] = (stage, True)


def loop(scheduler: Scheduler, op: Op) -> None:
    """The blocks that a loop starts with are kept where its region's params live."""
    count = 3 if op.name == "for" else 0
    params = op.regions[0].params[1 if op.name == "for" else 0 :]
    stages, done = [0], set()
    for number, (param, start) in enumerate(zip(params, op.operands[count:], strict=True), count):
        if start is not None and shape_of(param.ty):
            sink = Sink("keep", None, (start,), shape_of(param.ty), None, param)
            stages.append(scheduler.place(sink).index + 1)
            done.add(number)
    as_a_whole(scheduler, op, max(stages), done)


def dot(scheduler: Scheduler, op: Op) -> None:
    """The accumulator goes where the result will be; the product is added to it there."""
    acc, result = op.operands[2], op.results[0]
    sink = Sink("keep", None, (acc,), shape_of(result.ty), None, result, finished=False)
    stage = scheduler.place(sink)
    as_a_whole(scheduler, op, stage.index + 1, (2,))
    scheduler.begun[result] = stage


PLACES: dict[str, Callable[[Op], list[tuple[tuple[int, ...], int]]]] = {
    "join": _join_places,
    "cat": _cat_places,
}
SINKS: dict[str, Callable[[Scheduler, Op], None]] = {
    "store": store,
    "reduce": reduce,
    "atomic": lane_by_lane,
    "atomic_cas": lane_by_lane,
    "join": joined,
    "cat": joined,
    "dot": dot,
    "for": loop,
    "while": loop,
}
