"""From a region's ops to its plan.

The ops are taken in program order. What must lie in a buffer whatever the loops look like is known
from the dependence graph before any is placed (`_overwritten`); what is worth a buffer follows as
the roots are placed: an operand that is read at other indices, an expensive value that a second
nest would evaluate, or one that this nest would evaluate again along a broadcast axis.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable

from ....ir.effects import free_values, own_effect
from ....ir.nodes import Function, Op, Operand, Region, Value
from ....ir.ops import Effect
from ....ir.types import shape_of
from ..lowering import Lowerings, Role, is_scalar
from ..operands import shape_at
from .accesses import Aliases
from .check import check_plan
from .dependence import DependenceGraph
from .expressions import Expressions, last_uses
from .finish import finish
from .fusion import Fusion
from .packing import packs_of
from .plan import Named, Packed, Part, Plan, Root, strides
from .reductions import independent


def plan(
    region: Region,
    aliases: Aliases,
    available: Iterable[Named],
    carried: tuple[Operand, ...] = (),
) -> Plan:
    """Plans a region. `available`: the values of outer regions that lie in buffers; `carried`: the
    param whose buffer each result overwrites (of a loop's body).
    """
    planner = Planner(region, aliases, tuple(available))
    for op in region.ops[:-1]:
        planner.add(op)
    planner.results()
    return finish(planner, carried, plan)


def plan_of(function: Function, overlap: bool, lowerings: Lowerings) -> Plan:
    """The plan of a function; `overlap`: distinct pointer arguments may share memory."""
    aliases = Aliases(function, overlap, lowerings)
    made = plan(function.body, aliases, ())
    if os.environ.get("MYTRITON_CHECK") == "1":
        check_plan(made, aliases)
    return made


class Planner:
    """The plan of one region under construction."""

    def __init__(self, region: Region, aliases: Aliases, available: tuple[Named, ...]) -> None:
        self.region = region
        self.aliases = aliases
        self.available = available
        self.lowerings: Lowerings = aliases.lowerings
        self.graph = DependenceGraph(region, aliases)
        self.expressions = Expressions(self.lowerings, available)
        self.fusion = Fusion(self.graph, self.expressions)
        self.last_use = last_uses(region, self.lowerings)
        self.first_write: dict[Named, int] = {}
        """The first step that writes into a value's buffer, where a later one completes it."""
        self.slots: dict[int, Value | None] = {}
        self.slot_writes: dict[int, int] = {}
        """The first step that writes each block among the region's results."""
        self._pending: dict[Op, list[Value]] = {}
        """Of a store: the loads before it that it may overwrite, each only at its own index, and
        that a later op uses.
        """
        self._deadline: dict[Value, int] = {}
        """Of a load so overwritten: the last step that may evaluate it."""
        self.packs: dict[Op, tuple[tuple[Packed, ...], int]] = {}
        """The operands that an op packs itself, and the turns it does so for (`packs_of`)."""

    def add(self, op: Op) -> None:
        """Places one op of the region."""
        if is_scalar(op):
            return self.fusion.add_scalar(op)
        role = self.lowerings.get(op).role
        if role is not Role.POINTWISE:
            return ADD[role](self, op)
        if not shape_of(op.types[0]):
            return self._extract(op)
        if op.name == "load":
            self._load(op)

    # -- values in buffers

    def _load(self, op: Op) -> None:
        """Notes which writes the load comes after; gives it a buffer if one after it may change
        what it reads before it is used.
        """
        value = op.results[0]
        self.expressions.after_writes[op] = self.fusion.bound(op, False)
        if own_effect(op) is Effect.WRITE:
            return self.materialise(value, "is volatile")
        last = self.last_use.get(value, -1)
        stores = list(self.graph.overwriting(op, last))
        if not all(own_index for _, own_index in stores):
            return self.materialise(value, "is overwritten before its last use")
        for store, _ in stores:
            if self.graph.position[store] < last:
                self._pending.setdefault(store, []).append(value)

    def materialise(self, operand: Operand, reason: str) -> None:
        """Makes sure that a block lies in a buffer; a nest that evaluates it anyway writes it."""
        if not isinstance(operand, Value) or not shape_of(operand.ty):
            return
        if operand in self.expressions.buffers:
            return
        root = self._of(operand, reason)
        for step in self.fusion.evaluated.get(operand, ()):
            nest = self.fusion.nest(step)
            if nest.shape == root.shape and nest.takes(root):
                self.fusion.join(step, root)
                break
        else:
            step = self.place(root)
        self.expressions.materialised(operand, step)

    def _of(self, value: Value, reason: str) -> Root:
        """The root that puts a value into its own buffer."""
        shape = shape_of(value.ty)
        return Root("materialise", None, (value,), shape, buffer=value, reason=reason)

    def place(self, root: Root, single: bool = False) -> int:
        """Places a root, and before it what it needs in buffers."""
        self._prepare(root)
        for load in self._pending.get(root.op, ()) if root.op is not None else ():
            self._wait_for_operands(load, root)
        late = self._late_loads(root)
        for load in late:
            self._materialise_in_time(load)
        step = self.fusion.place(root, single)
        for load in self._pending.pop(root.op, ()) if root.op is not None else ():
            if load not in self.expressions.buffers:
                self._deadline[load] = min(step, self._deadline.get(load, step))
        return step

    def _wait_for_operands(self, load: Value, root: Root) -> None:
        """A load that may have to be evaluated in the nest of the store that overwrites it: that
        nest must come after the load's operands, which become the store's too.
        """
        assert root.op is not None
        self._prepare(self._of(load, "is overwritten before its last use"))
        first = self.expressions.ready(load.op.operands)
        after = self.expressions.after_writes[load.op]
        self.fusion.not_before[root.op] = max(first, after, self.fusion.not_before.get(root.op, 0))

    def _late_loads(self, root: Root) -> list[Value]:
        """The loads under a root that a store overwrites in a step before the root's."""
        if not self._deadline:
            return []
        loads = [load for load in self.expressions.loads(root.values) if load in self._deadline]
        if not loads:
            return []
        found = self.fusion.candidate(root)
        step = len(self.fusion.steps) if found is None else found
        return [load for load in loads if self._deadline[load] < step]

    def _materialise_in_time(self, load: Value) -> None:
        """Gives a load a buffer in the nest of the store that overwrites it, which evaluates all
        its roots before it performs any.
        """
        step = self._deadline.pop(load)
        self.fusion.join(step, self._of(load, "is overwritten before its last use"))
        self.expressions.materialised(load, step)

    def _prepare(self, root: Root) -> None:
        """Materialises what the root's nest must find in buffers, and what it would evaluate though
        it is expensive: again, or along a broadcast axis; the outermost first.
        """
        for operand in root.values:
            for part in self.expressions.parts(operand):
                for index in self.lowerings.get(part.op).reads_elsewhere(part.op):
                    self.materialise(part.op.operands[index], "is read at other indices")
        for operand in root.values:
            while (found := self._worth_a_buffer(operand, root)) is not None:
                self.materialise(*found)

    def _worth_a_buffer(self, operand: Operand, root: Root) -> tuple[Value, str] | None:
        """The outermost expensive value under an operand that the root's nest should read."""
        parts = [part for part in self.expressions.parts(operand) if part is not root.buffer]
        made = self.fusion.evaluated
        here = self.fusion.candidate(root) if any(part in made for part in parts) else None
        for part in reversed(parts):
            if shape_of(part.ty) != root.shape and part is not operand:
                reason = "would be evaluated again along an axis"
            elif root.buffer is None and part in made and here not in made[part]:
                reason = "is used by several nests"
            else:
                continue
            if self.expressions.is_expensive(part):
                return part, reason
        return None

    # -- roots

    def _extract(self, op: Op) -> None:
        """A scalar out of a block of one element."""
        (operand,) = op.operands
        assert operand is not None
        step = self.place(Root("extract", op, (operand,), shape_of(operand.ty)))
        self.expressions.scalars[op.results[0]] = step + 1

    def root(self, op: Op) -> None:
        self.place(Root(op.name, op, op.operands, shape_at(op, 0)))

    def lane_by_lane(self, op: Op) -> None:
        root = Root(op.name, op, op.operands, shape_at(op, 0))
        self.completed(op, self.place(root, single=True))

    def reduction(self, op: Op) -> None:
        """A root where the order is free; else opaque, over operands in buffers."""
        if not independent(op.regions[0]):
            return self.opaque(op)
        root = Root("reduce", op, op.operands, shape_at(op, 0), op.attrs["axis"])
        self.completed(op, self.place(root))

    def parts(self, op: Op) -> None:
        """Each operand is written to its part of one buffer."""
        result, steps = op.results[0], []
        for operand, part in zip(op.operands, PARTS[op.name](op), strict=True):
            assert operand is not None
            root = Root(
                "materialise", None, (operand,), shape_of(operand.ty), buffer=result, part=part,
                reason=f"is part of a {op.name}",
            )  # fmt: skip
            steps.append(self.place(root))
        self.first_write[result] = min(steps)
        self.expressions.materialised(result, max(steps))

    def accumulate(self, op: Op) -> None:
        """The accumulator is copied into the result's buffer, and the product added to it there."""
        result = op.results[0]
        root = Root(
            "materialise", None, op.operands[-1:], shape_of(result.ty), buffer=result,
            reason=f"is accumulated by {op.name}",
        )  # fmt: skip
        step = self.place(root)
        self.packs[op] = packs, _ = packs_of(self, op)
        packed = {one.index for one in packs}
        self.opaque(op, step + 1, packed | {len(op.operands) - 1})
        self.first_write[result] = step

    def loop(self, op: Op) -> None:
        """The blocks that a loop starts with are put into the buffers of its region's params."""
        region = op.regions[0]
        count = len(op.operands) - len(op.results)
        params = region.params[len(region.params) - len(op.results) :]
        first, done = 0, set()
        for number, (param, start) in enumerate(zip(params, op.operands[count:]), count):
            if start is not None and shape_of(param.ty):
                root = Root(
                    "materialise", None, (start,), shape_of(param.ty), buffer=param,
                    reason="is where a loop starts",
                )  # fmt: skip
                first = max(first, self.place(root) + 1)
                done.add(number)
        self.opaque(op, first, done)

    def opaque(self, op: Op, first: int = 0, done: Container[int] = ()) -> None:
        """An op that is a step of its own: its block operands (but those whose numbers are in
        `done`) lie in buffers, as will its results; what its regions use too, if that is worth it.
        """
        given = [operand for number, operand in enumerate(op.operands) if number not in done]
        inside = free_values(op) if op.regions else []
        for operand in given:
            self.materialise(operand, f"is an operand of {op.name}")
        for operand in inside:
            if isinstance(operand, Value) and self._worth_reading(operand):
                self.materialise(operand, f"is used inside {op.name}")
        ready = self.expressions.ready((*given, *inside))
        packed = [one.value for one in self.packs.get(op, ((), 1))[0]]
        first = max(first, ready, self.expressions.ready(packed))
        self.completed(op, self.fusion.add_opaque(op, first))

    def _worth_reading(self, operand: Value) -> bool:
        """Whether a block that a region uses is made before it: it is expensive, or reads memory
        that may change.
        """
        loads = self.expressions.loads((operand,))
        return bool(loads) or self.expressions.is_expensive(operand)

    def completed(self, op: Op, step: int) -> None:
        """The op's results are there after a step: scalars in registers, blocks in buffers."""
        for value in op.results:
            if shape_of(value.ty):
                self.expressions.materialised(value, step)
            else:
                self.expressions.scalars[value] = step + 1

    # -- results

    def results(self) -> None:
        """Makes sure that each block among the region's results is written, and says where."""
        for number, result in enumerate(self.region.results):
            if result is None or not shape_of(result.ty):
                continue
            if isinstance(result, Value) and self._has_own_buffer(result):
                self.slots[number] = result
                made = self.expressions.buffers[result]
                self.slot_writes[number] = self.first_write.get(result, made)
                continue
            root = Root(
                "materialise", None, (result,), shape_of(result.ty), slot=number,
                reason="is a result of the region",
            )  # fmt: skip
            self.slots[number], self.slot_writes[number] = None, self.place(root)

    def _has_own_buffer(self, result: Value) -> bool:
        """Whether a result's buffer may be that of the region's result: this region made it, for
        nothing else, and not by a loop, which carries it where its params lie.
        """
        if self.expressions.buffers.get(result, -1) < 0 or result in self.slots.values():
            return False
        return self.lowerings.get(result.op).role is not Role.LOOP


def _join_parts(op: Op) -> list[Part]:
    """The two operands take turns along the new last axis."""
    return [Part(strides(shape_of(op.types[0]))[:-1], number) for number in (0, 1)]


def _cat_parts(op: Op) -> list[Part]:
    steps, axis = strides(shape_of(op.types[0])), op.attrs["axis"]
    return [Part(steps, 0), Part(steps, steps[axis] * shape_at(op, 0)[axis])]


PARTS: dict[str, Callable[[Op], list[Part]]] = {"join": _join_parts, "cat": _cat_parts}
ADD: dict[Role, Callable[[Planner, Op], None]] = {
    Role.ROOT: Planner.root,
    Role.LANE_BY_LANE: Planner.lane_by_lane,
    Role.REDUCTION: Planner.reduction,
    Role.PARTS: Planner.parts,
    Role.ACCUMULATE: Planner.accumulate,
    Role.LOOP: Planner.loop,
    Role.OPAQUE: Planner.opaque,
}
