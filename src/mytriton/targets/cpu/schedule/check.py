"""The checker of plans: runs after planning where MYTRITON_CHECK is 1, as in all tests.

It walks a plan as the emitter will and knows nothing of how it was made. What must hold:

1. Every op that is no pointwise value of a block stands in the plan exactly once; a root has the
   shape of its nest, a reduction its axis, a lane-by-lane op a nest of its own.
2. What is read was written: the scalars under a root or op are made before it, a buffer is read
   only after a step that completes it, and no value is evaluated that must lie in a buffer.
3. A buffer that is said to be complete has had every element written exactly once.
4. Two accesses that clash keep the order of the program: an earlier step, or one nest that touches
   the same place at the same index, where loads come before stores and stores in program order.
   A value is evaluated in every nest that needs it, so a load may have several places; all count.
5. A loop's result that shares the buffer of what it carries is first written after every other
   step has read the old content, or in a nest that reads its own index only.
6. A buffer is not touched after the step that frees it; what a loop carries lies where its params
   do, so their buffers live as long as its results. Buffers of other regions, and those of the
   region's results, are not freed.
7. Each block among the region's results is written once, or is a buffer of this region that no
   other result and no loop owns.
8. What an op packs itself, and keeps from program to program, is as `check_packs` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from ....ir.effects import free_values
from ....ir.nodes import Op, Operand, Param, Region, Value
from ....ir.types import shape_of
from ..lowering import Role, is_scalar
from .accesses import Access, Aliases
from .check_packs import wrong_packs
from .finish import carried_pairs
from .plan import LoopNest, Named, Opaque, Plan, Root
from .reductions import independent

LARGEST = 1 << 16
"""Elements of a buffer whose parts are counted one by one."""


class PlanError(AssertionError):
    """A plan breaks a rule; the text says which and where."""


def need(holds: object, message: str) -> None:
    if not holds:
        raise PlanError(message)


@dataclass(frozen=True, eq=False)
class Event:
    """One access: where it stands in the program and in the plan. In a step the scalar ops come
    first (phase 0), then what a nest evaluates (1), then what it performs, in order (2).
    """

    op: Op
    access: Access
    step: int
    phase: int
    place: int
    shape: tuple[int, ...] | None


@dataclass
class _State:
    """What has happened before the step that is checked."""

    scalars: set[Named] = field(default_factory=set)
    buffers: set[Named] = field(default_factory=set)
    placed: dict[Op, int] = field(default_factory=dict)
    written: dict[Named, list[Root]] = field(default_factory=dict)
    slots: dict[int, int] = field(default_factory=dict)
    first_write: dict[Named, int] = field(default_factory=dict)
    freed: set[Named] = field(default_factory=set)
    events: list[Event] = field(default_factory=list)
    readings: list[tuple[Named, int, bool]] = field(default_factory=list)


def check_plan(
    plan: Plan,
    aliases: Aliases,
    available: tuple[Named, ...] = (),
    carried: tuple[Operand, ...] = (),
) -> None:
    """Raises PlanError where a plan breaks a rule. `available` and `carried` as in planning."""
    _Checker(plan, aliases, available, carried).check()


class _Checker:
    def __init__(
        self,
        plan: Plan,
        aliases: Aliases,
        available: tuple[Named, ...],
        carried: tuple[Operand, ...],
    ) -> None:
        self.plan = plan
        self.aliases = aliases
        self.lowerings = aliases.lowerings
        self.carried = carried
        self.available = available
        self.state = _State(buffers=set(available))
        self.position = {op: number for number, op in enumerate(plan.region.ops)}
        self.own = {value for op in plan.region.ops for value in op.results}

    def check(self) -> None:
        for index, step in enumerate(self.plan.steps):
            for place, op in enumerate(step.scalars):
                self.scalar(op, index, place)
            if isinstance(step.body, LoopNest):
                self.nest(step.body, index)
            elif step.body is not None:
                self.opaque(step.body, index)
            self.frees(step.frees, index)
        self.coverage()
        self.order()
        self.results()

    # -- rules 1 and 2: what stands where, and what it needs

    def put(self, op: Op, index: int) -> None:
        need(op in self.position, f"step {index}: {op.name} is of another region")
        need(op not in self.state.placed, f"step {index}: {op.name} stands in the plan twice")
        self.state.placed[op] = index

    def scalar(self, op: Op, index: int, place: int) -> None:
        need(is_scalar(op), f"step {index}: {op.name} works on blocks and is no scalar op")
        self.put(op, index)
        for operand in op.operands:
            self.leaf(operand, f"step {index}: {op.name}")
        self.event(op, index, 0, place, None)
        self.state.scalars.update(op.results)

    def leaf(self, operand: Operand, where: str) -> None:
        """A scalar or buffer that an expression starts from is there."""
        if not isinstance(operand, (Value, Param)):
            return
        if shape_of(operand.ty):
            need(operand in self.state.buffers, f"{where} reads a buffer that is not complete")
        elif operand in self.own:
            need(operand in self.state.scalars, f"{where} uses a scalar that is made later")

    def expression(
        self, operand: Operand, where: str, here: bool = True
    ) -> tuple[list[Value], list[Named]]:
        """The values that evaluating an operand takes, and the buffers it reads; `here`: in this
        region's nests rather than in those of a region inside.
        """
        values: dict[Value, None] = {}
        reads: dict[Named, None] = {}
        stack = [operand]
        while stack:
            value = stack.pop()
            computed = self.lowerings.is_computed(value) and value not in self.state.buffers
            if not isinstance(value, Value) or not computed:
                self.leaf(value, where)
                if isinstance(value, (Value, Param)) and shape_of(value.ty):
                    reads[value] = None
            elif value not in values:
                values[value] = None
                stack.extend(value.op.operands)
                for number in self.lowerings.get(value.op).reads_elsewhere(value.op):
                    source = value.op.operands[number]
                    message = f"{where}: {value.op.name} reads an operand that is in no buffer"
                    need(not here or source in self.state.buffers, message)
        return list(values), list(reads)

    def nest(self, nest: LoopNest, index: int) -> None:
        need(nest.roots, f"step {index}: a nest without roots")
        values: dict[Value, None] = {}
        reads: dict[Named, None] = {}
        for root in nest.roots:
            inside, used = self.root(nest, root, index)
            values |= dict.fromkeys(inside)
            reads |= dict.fromkeys(used)
        need(set(values) == set(nest.values), f"step {index}: other values than those evaluated")
        need(set(reads) == set(nest.reads), f"step {index}: other buffers than those read")
        for value in values:
            self.event(value.op, index, 1, 0, nest.shape)
        for place, root in enumerate(nest.roots):
            if root.op is not None:
                self.event(root.op, index, 2, place, nest.shape)
        for root in nest.roots:
            self.performed(root, index)

    def root(self, nest: LoopNest, root: Root, index: int) -> tuple[list[Value], list[Named]]:
        where = f"step {index}: {root.kind}"
        need(root.shape == nest.shape, f"{where} has shape {root.shape} in a nest of {nest.shape}")
        role = self.lowerings.get(root.op).role if root.op is not None else None
        alone = nest.single and len(nest.roots) == 1
        need((role is Role.LANE_BY_LANE) == nest.single, f"{where} is not one lane at a time")
        need(not nest.single or alone, f"{where} shares a nest that does one lane at a time")
        if root.op is not None:
            self.put(root.op, index)
            need(root.values == root.op.operands, f"{where} evaluates other values than its op")
            need(root.kind in (root.op.name, "extract"), f"{where} does {root.op.name}")
        if root.kind == "reduce":
            assert root.op is not None
            need(independent(root.op.regions[0]), f"{where} must keep its order")
            need(root.axis == root.op.attrs["axis"] == nest.axis, f"{where} runs along no axis")
        values: dict[Value, None] = {}
        reads: dict[Named, None] = {}
        for operand in root.values:
            shape = shape_of(operand.ty) if operand is not None else ()
            fits = len(shape) in (0, len(root.shape)) and all(
                mine in (1, own) for mine, own in zip(shape, root.shape)
            )
            need(fits, f"{where} evaluates a block of {shape} at indices of {root.shape}")
            inside, used = self.expression(operand, where)
            values |= dict.fromkeys(inside)
            reads |= dict.fromkeys(used)
        elsewhere = self.read_elsewhere(root)
        for buffer in reads:
            own_index = buffer not in elsewhere and shape_of(buffer.ty) == nest.shape
            self.state.readings.append((buffer, index, own_index))
        return list(values), list(reads)

    def read_elsewhere(self, root: Root) -> set[Named]:
        """The buffers that a root reads through an op that changes the index."""
        found: set[Named] = set()
        for operand in root.values:
            for value in self.expression(operand, root.kind)[0]:
                if self.lowerings.get(value.op).moves:
                    for moved in value.op.operands:
                        found.update(self.expression(moved, root.kind)[1])
        return found

    def performed(self, root: Root, index: int) -> None:
        """What is there after a root."""
        state = self.state
        if root.slot is not None:
            need(root.slot not in state.slots, f"step {index}: result {root.slot} written twice")
            state.slots[root.slot] = index
        if root.buffer is not None:
            need(root.buffer not in state.freed, f"step {index} writes a buffer that was freed")
            state.written.setdefault(root.buffer, []).append(root)
            state.first_write.setdefault(root.buffer, index)
            if root.completes:
                self.complete(root.buffer, index)
        for value in root.op.results if root.op is not None else ():
            (state.buffers if shape_of(value.ty) else state.scalars).add(value)
            state.first_write.setdefault(value, index)

    # -- rule 3

    def complete(self, buffer: Named, index: int) -> None:
        """Every element of a buffer has been written once."""
        where, shape = f"step {index}: a buffer is said to be complete", shape_of(buffer.ty)
        roots, size = self.state.written[buffer], _size(shape)
        op = buffer.op if isinstance(buffer, Value) else None
        if op is not None and self.lowerings.get(op).role is Role.PARTS:
            values = [root.values[0] for root in roots]
            need(sorted(map(id, values)) == sorted(map(id, op.operands)), f"{where}: other parts")
            self.put(op, index)
            if size <= LARGEST:
                places = sorted(place for root in roots for place in _places(root))
                need(places == list(range(size)), f"{where}, but not every element once")
        else:
            need(len(roots) == 1 and roots[0].part is None, f"{where}, but was written in parts")
            need(_size(roots[0].shape) == size, f"{where}, but has another size")
            computed = self.lowerings.is_computed(buffer)
            need(roots[0].values[0] is buffer or not computed, f"{where}, but holds another value")
            role = self.lowerings.get(op).role if op is not None else None
            need(role is not Role.ACCUMULATE, f"{where}, but a product is still added to it")
        self.state.buffers.add(buffer)

    # -- opaque ops

    def opaque(self, body: Opaque, index: int) -> None:
        op, where = body.op, f"step {index}: {body.op.name}"
        need(not is_scalar(op), f"{where} is a scalar op")
        self.put(op, index)
        lowering = self.lowerings.get(op)
        need(lowering.opaque is not None, f"{where} is not emitted as a whole")
        given = self.lowerings.read_operands(op)
        packed = {one.index for one in body.packs}
        for number, operand in enumerate(given):
            if number not in packed:
                self.leaf(operand, where)
        for fault in wrong_packs(body, self.plan.region, self.aliases):
            need(False, f"{where} {fault}")
        self.started(op, index)
        inside = free_values(op) if op.regions else []
        seen: set[Named] = set()
        for operand in (*given, *inside):
            values, reads = self.expression(operand, where, here=False)
            seen |= set(reads)
            self.state.readings += [(buffer, index, False) for buffer in reads]
            for value in values:
                self.event(value.op, index, 1, 0, None)
        self.event(op, index, 2, 0, None)
        need(seen == set(body.reads), f"{where} reads other buffers than it says")
        need(len(body.bodies) == len(op.regions), f"{where} lacks plans of its regions")
        for region, inner in zip(op.regions, body.bodies, strict=True):
            need(inner.region is region, f"{where} has the plan of another region")
            self.inner(op, region, inner)
        for value in op.results:
            (self.state.buffers if shape_of(value.ty) else self.state.scalars).add(value)
            self.state.first_write.setdefault(value, index)

    def started(self, op: Op, index: int) -> None:
        """The buffers that an op goes on with have been written, from the right values."""
        role = self.lowerings.get(op).role
        starts: list[tuple[Named, Operand]] = []
        if role is Role.ACCUMULATE:
            starts = [(op.results[0], op.operands[-1])]
        elif role is Role.LOOP:
            region = op.regions[0]
            params = region.params[len(region.params) - len(op.results) :]
            given = op.operands[len(op.operands) - len(op.results) :]
            starts = list(zip(params, given, strict=True))
        for buffer, start in starts:
            if not shape_of(buffer.ty):
                self.leaf(start, f"step {index}: {op.name}")
                continue
            roots = self.state.written.get(buffer, [])
            good = len(roots) == 1 and roots[0].values == (start,) and roots[0].part is None
            need(good, f"step {index}: {op.name} starts from a buffer that was not written")

    def inner(self, op: Op, region: Region, inner: Plan) -> None:
        blocks = tuple(param for param in region.params if shape_of(param.ty))
        loops = self.lowerings.get(op).role is Role.LOOP and region is op.regions[-1]
        carried = region.params[len(region.params) - len(op.results) :] if loops else ()
        check_plan(inner, self.aliases, (*self.state.buffers, *blocks), carried)

    # -- rule 1, at the end

    def coverage(self) -> None:
        for op in self.plan.region.ops[:-1]:
            pointwise = self.lowerings.is_pointwise(op) and not is_scalar(op)
            block = not op.types or bool(shape_of(op.types[0]))
            if not (pointwise and block):
                need(op in self.state.placed, f"{op.name} stands nowhere in the plan")

    # -- rule 4

    def event(
        self, op: Op, step: int, phase: int, place: int, shape: tuple[int, ...] | None
    ) -> None:
        access = self.aliases.of(op)
        if access is not None and op in self.position:
            self.state.events.append(Event(op, access, step, phase, place, shape))

    def order(self) -> None:
        for one, two in self.pairs():
            if self.position[one.op] > self.position[two.op]:
                one, two = two, one
            if self.aliases.must_follow(one.access, two.access):
                text = f"{one.op.name} in step {one.step} must come before {two.op.name} in step"
                need(self.in_order(one, two), f"{text} {two.step}")

    def pairs(self) -> Iterator[tuple[Event, Event]]:
        """Pairs of accesses one of which writes or orders; what only reads needs no order."""
        writes = [event for event in self.state.events if event.access.writes]
        reads = [event for event in self.state.events if not event.access.writes]
        for number, one in enumerate(writes):
            for two in (*writes[number + 1 :], *reads):
                if two.op is not one.op:
                    yield one, two

    def in_order(self, one: Event, two: Event) -> bool:
        """Whether an access that comes first in the program comes first in the plan."""
        if one.step != two.step:
            return one.step < two.step
        if one.phase == 0 or two.phase == 0:
            return (one.phase, one.place) < (two.phase, two.place)
        if one.shape is None or not self.aliases.same_place(one.access, two.access, one.shape):
            return False
        return two.phase == 2 and two.op.name == "store" and (one.phase, one.place) < (2, two.place)

    # -- rule 6

    def frees(self, buffers: tuple[Named, ...], index: int) -> None:
        kept = {*self.available, *self.plan.slots.values()}
        for buffer in buffers:
            need(buffer not in kept, f"step {index} frees a buffer that others own")
            need(buffer in self.state.first_write, f"step {index} frees a buffer that is not there")
            need(buffer not in self.state.freed, f"step {index} frees a buffer again")
            self.state.freed.add(buffer)
        self.state.buffers.difference_update(buffers)
        for op in self.state.placed:
            if self.lowerings.get(op).role is Role.LOOP:
                for param, result in carried_pairs(op):
                    early = param in self.state.freed and result not in self.state.freed
                    need(not early, f"step {index} frees what a loop's result lies in")

    # -- rules 5 and 7

    def results(self) -> None:
        results = self.plan.region.results
        blocks = {n for n, r in enumerate(results) if r is not None and shape_of(r.ty)}
        need(set(self.plan.slots) == blocks, "not every block among the results has a place")
        owners: set[Value] = set()
        for number, value in self.plan.slots.items():
            if value is None:
                need(number in self.state.slots, f"result {number} is not written")
                written = self.state.slots[number]
            else:
                need(value is results[number], f"result {number} is the buffer of another value")
                need(value in self.state.buffers and value in self.own, f"result {number} is late")
                need(value not in owners, f"result {number} shares the buffer of another result")
                loop = self.lowerings.get(value.op).role is Role.LOOP
                need(not loop, f"result {number} is the buffer of what a loop carries")
                owners.add(value)
                written = self.state.first_write[value]
            if self.carried and self.plan.in_place.get(number, True):
                self.in_place(number, written)

    def in_place(self, number: int, written: int) -> None:
        param = self.carried[number]
        for buffer, step, own_index in self.state.readings:
            late = step > written or (step == written and not own_index)
            message = f"result {number} overwrites in step {written} what step {step} reads"
            need(buffer is not param or not late, message)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _places(root: Root) -> Iterator[int]:
    """The elements of a buffer that a root writes."""
    assert root.part is not None
    for index in product(*map(range, root.shape)):
        steps = zip(index, root.part.strides, strict=True)
        yield root.part.start + sum(i * step for i, step in steps)
