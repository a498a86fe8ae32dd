"""The finished plan: what each nest evaluates and reads, the plans of inner regions, and which loop
may overwrite what it carries.

Only now is it known which buffers exist before a step, so only now are expressions cut there; the
emitter cuts them at the same places, since it reads a buffer wherever there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....ir.effects import free_values
from ....ir.nodes import Op, Operand, Param, Region, Value
from ....ir.types import shape_of
from ..lowering import Lowerings, Role
from .fusion import Draft, DraftNest
from .plan import LoopNest, Named, Opaque, Plan, Root, Step

if TYPE_CHECKING:
    from .planner import Planner

Plans = Callable[..., Plan]


@dataclass(frozen=True)
class Reading:
    """That a step reads a buffer; `own_index`: in a nest, each index its own element."""

    step: int
    own_index: bool


def evaluate(
    lowerings: Lowerings, operands: Iterable[Operand], is_buffer: Callable[[Named], bool]
) -> tuple[dict[Value, None], dict[Named, bool]]:
    """The pointwise values under operands, and the buffers that they start from: whether each is
    read through no op that changes the index.
    """
    values: dict[Value, None] = {}
    reads: dict[Named, bool] = {}
    stack = [(operand, True) for operand in operands]
    seen: set[tuple[Operand, bool]] = set()
    while stack:
        value, own = stack.pop()
        if not isinstance(value, (Value, Param)) or not shape_of(value.ty) or (value, own) in seen:
            continue
        seen.add((value, own))
        if is_buffer(value):
            reads[value] = own and reads.get(value, True)
        elif isinstance(value, Value) and lowerings.is_pointwise(value.op):
            values[value] = None
            own = own and not lowerings.get(value.op).moves
            stack.extend((operand, own) for operand in value.op.operands)
    return values, reads


def finish(planner: Planner, carried: tuple[Operand, ...], plans: Plans) -> Plan:
    """The plan of a region whose ops have all been placed."""
    finisher = _Finisher(planner, plans)
    steps = with_frees(planner, [finisher.step(draft) for draft in planner.fusion.steps])
    in_place = {
        number: not carried or finisher.overwrites_safely(carried[number], written)
        for number, written in planner.slot_writes.items()
    }
    return Plan(planner.region, steps, planner.slots, in_place)


class _Finisher:
    def __init__(self, planner: Planner, plans: Plans) -> None:
        self.planner = planner
        self.plans = plans
        self.lowerings = planner.lowerings
        self.buffers = planner.expressions.buffers
        self.readings: dict[Named, list[Reading]] = {}

    def step(self, draft: Draft) -> Step:
        body = draft.body
        if isinstance(body, DraftNest):
            return Step(tuple(draft.scalars), self.nest(body, draft.index))
        if body is not None:
            return Step(tuple(draft.scalars), self.opaque(body, draft.index))
        return Step(tuple(draft.scalars), None)

    def is_buffer(self, index: int) -> Callable[[Named], bool]:
        """Whether a value lies in a buffer before the step of this number."""
        return lambda value: self.buffers.get(value, index) < index

    def nest(self, draft: DraftNest, index: int) -> LoopNest:
        values: dict[Value, None] = {}
        reads: dict[Named, None] = {}
        for root in draft.roots:
            inside, used = evaluate(self.lowerings, root.values, self.is_buffer(index))
            values |= inside
            reads |= dict.fromkeys(used)
            for buffer, own in used.items():
                own = own and shape_of(buffer.ty) == draft.shape
                self.readings.setdefault(buffer, []).append(Reading(index, own))
        cost = sum(self.lowerings.cost(value.op) for value in values)
        last = {root.buffer: root for root in draft.roots}
        roots = tuple(
            replace(root, completes=root is last[root.buffer] and self.completes(root, index))
            for root in draft.roots
        )
        return LoopNest(
            draft.shape, roots, draft.axis, draft.single, tuple(values), tuple(reads), cost
        )

    def completes(self, root: Root, index: int) -> bool:
        """Whether a buffer may be read after the step, since no op adds to it later."""
        return root.buffer is not None and self.buffers.get(root.buffer) == index

    def opaque(self, op: Op, index: int) -> Opaque:
        packs, turns = self.planner.packs.get(op, ((), 1))
        given = self.lowerings.read_operands(op)
        used = (*given, *(free_values(op) if op.regions else ()))
        reads = tuple(evaluate(self.lowerings, used, self.is_buffer(index))[1])
        for buffer in reads:
            self.readings.setdefault(buffer, []).append(Reading(index, False))
        bodies = tuple(self.body(op, region, index) for region in op.regions)
        return Opaque(op, bodies, reads, packs, turns)

    def body(self, op: Op, region: Region, index: int) -> Plan:
        blocks = tuple(param for param in region.params if shape_of(param.ty))
        available = (*(v for v in self.buffers if self.buffers[v] < index), *blocks)
        loops = op.name in ("for", "while") and region is op.regions[-1]
        carried = region.params[len(region.params) - len(op.results) :] if loops else ()
        return self.plans(region, self.planner.aliases, available, carried)

    def overwrites_safely(self, param: Operand, written: int) -> bool:
        """Whether every step has read a carried block before the one that overwrites it does so."""
        assert isinstance(param, (Value, Param))
        return all(
            reading.step < written or (reading.step == written and reading.own_index)
            for reading in self.readings.get(param, ())
        )


def touched(body: LoopNest | Opaque | None) -> Iterator[Named]:
    """The buffers that a step's nest or opaque op reads or writes."""
    if body is None:
        return
    yield from body.reads
    for root in body.roots if isinstance(body, LoopNest) else ():
        if root.buffer is not None:
            yield root.buffer
    ops = [body.op] if isinstance(body, Opaque) else [root.op for root in body.roots if root.op]
    for op in ops:
        yield from (value for value in op.results if shape_of(value.ty))


def with_frees(planner: Planner, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps, with the buffers of this region that each is the last to touch.

    What a loop gives lies where it carries it, so the buffers of its params live as long as its
    results; and the buffer of a result of the region is not the region's to free.
    """
    last = {buffer: n for n, step in enumerate(steps) for buffer in touched(step.body)}
    for step in steps:
        if isinstance(step.body, Opaque) and planner.lowerings.get(step.body.op).role is Role.LOOP:
            for param, result in carried_pairs(step.body.op):
                if param in last and result in last:
                    last[param] = max(last[param], last[result])
    kept = {*planner.available, *(value for value in planner.slots.values() if value is not None)}
    frees: list[list[Named]] = [[] for _ in steps]
    for buffer, index in last.items():
        if buffer not in kept:
            frees[index].append(buffer)
    return tuple(replace(step, frees=tuple(mine)) for step, mine in zip(steps, frees, strict=True))


def carried_pairs(op: Op) -> Iterator[tuple[Param, Value]]:
    """Each param of a loop's first region, and the result that lies in the same buffer."""
    params = op.regions[0].params
    return zip(params[len(params) - len(op.results) :], op.results, strict=True)
