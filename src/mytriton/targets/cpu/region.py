"""A region as LLVM text: the steps of its plan in order, with a place in the arena for each buffer.

The emitter decides nothing: a step's nest or opaque op is emitted by the functions that the op's
row names, which find everything else (registers, homes, the arena) on the function's emitter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...ir.nodes import Function, Op, Operand, Param, Region, Value
from ...ir.types import Element, element_of, shape_of
from ...passes.provenance import makes_unknown_addresses
from ...passes.strides import StrideAnalysis, strides_of
from . import access
from .arena import Arena
from .atomic_sums import ADD_TABLE, TABLE_BYTES
from .code import Code, Reg
from .lane_axis import StridedAccess, strided_accesses
from .loops import NestEmitter
from .masks import mask_at
from .nest import Home, Nest, Pointer, Writer
from .pointwise import evaluate, unit_of
from .schedule.plan import LoopNest, Named, Opaque, Plan, Root, Step
from .types import SIZES, register
from .types import arena as arena_type


@dataclass(frozen=True, eq=False)
class Turn:
    """The turn that a `for` is in, from 0, and how many there are: i64 registers."""

    number: Reg
    count: Reg


@dataclass
class FunctionEmitter:
    """What emitting one function needs to know."""

    function: Function
    writer: Writer
    plans: Mapping[Region, Plan]
    arena: Arena = field(default_factory=Arena)
    places: dict[Value | Param, Home] = field(default_factory=dict)
    """The homes of blocks, also of those that are not there yet."""
    owned: list[dict[Named | None, list[int]]] = field(default_factory=list)
    """The offsets of the blocks that each region being emitted has in the arena, by owner."""
    pairs: tuple[Home, Home] | None = None
    """Where the sort being emitted keeps its pairs."""
    messages: list[Op] = field(default_factory=list)
    """The asserts and prints, by number."""
    turns: dict[Region, Turn] = field(default_factory=dict)
    """The turn that the body of each `for` around is in."""
    cleared: list[tuple[int, int]] = field(default_factory=list)
    """The offset and bytes of what must be zero in the arena when a thread starts with a launch."""

    table: int | None = None
    """Where in the arena atomic additions are summed up; None where none are."""

    # -- places

    def add_table(self) -> None:
        """Makes room for the table of `atomic_sums`, for as long as the launch takes."""
        self.table = self.arena.take((TABLE_BYTES,), "i8")
        module = self.writer.module
        module.intrinsic("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"])
        module.helpers["add_table"] = ADD_TABLE
        name = self.writer.names.fresh("table")
        self.writer.entry.add(f"%{name} = getelementptr i8, ptr %arena, i64 {self.table}")
        self.writer.entry_registers["table"] = Reg(f"%{name}", "ptr")

    def new_home(
        self,
        element: Element,
        shape: tuple[int, ...],
        hint: str,
        owner: Value | Param | None = None,
    ) -> Home:
        """A fresh block in the arena, given back when the plan frees its owner; one without an
        owner after this step.
        """
        offset = self.arena.take(shape, arena_type(element))
        self.owned[-1].setdefault(owner, []).append(offset)
        name = self.writer.names.fresh(f"{hint}.home")
        self.writer.entry.add(f"%{name} = getelementptr i8, ptr %arena, i64 {offset}")
        return Home(Reg(f"%{name}", "ptr"), element, shape)

    def kept_memory(self, size: int, type_: str, hint: str, cleared: bool = False) -> Reg:
        """The address of so many elements in the arena that nothing else ever uses; `cleared`:
        they are zero when a thread starts with a launch.
        """
        offset, name = self.arena.keep(size, type_), self.writer.names.fresh(hint)
        if cleared:
            self.cleared.append((offset, size * SIZES[type_]))
        self.writer.entry.add(f"%{name} = getelementptr i8, ptr %arena, i64 {offset}")
        return Reg(f"%{name}", "ptr")

    @cached_property
    def bodies(self) -> dict[Op, tuple[Region, Opaque]]:
        """Every opaque op of the plans, and the region that it is in."""
        return {
            step.body.op: (region, step.body)
            for region, plan in self.plans.items()
            for step in plan.steps
            if isinstance(step.body, Opaque)
        }

    def body_of(self, op: Op) -> Opaque:
        return self.bodies[op][1]

    def region_of(self, op: Op) -> Region:
        return self.bodies[op][0]

    def place_of(self, value: Value | Param) -> Home:
        """The home a block has or will have, made when first asked for."""
        if value not in self.places:
            hint = self.writer.hint(value)
            element, shape = element_of(value.ty), shape_of(value.ty)
            self.places[value] = self.new_home(element, shape, hint, value)
        return self.places[value]

    def publish(self, value: Value | Param, home: Home | None = None) -> Home:
        """From here on the block is read from its home."""
        found = home or self.place_of(value)
        self.places[value] = self.writer.homes[value] = found
        return found

    # -- steps

    def plan(self, region: Region) -> Plan:
        """The plan of the function's body or of any region inside it."""
        return self.plans[region]

    def emit(
        self, code: Code, region: Region, steps: Plan, slots: Mapping[int, Home] | None = None
    ) -> None:
        """The region's ops; `slots`: where each block among its results is to be.

        What it puts into buffers of the blocks made before it is forgotten after it: it may not
        have run.
        """
        before = set(self.writer.homes)
        for number, value in steps.slots.items():
            if value is not None and slots is not None:
                self.places[value] = slots[number]
        self.owned.append({})
        for step in steps.steps:
            self.step(code, step, slots or {})
            self.give_back(None, *step.frees)
        self.give_back(*list(self.owned[-1]))
        self.owned.pop()
        own = {*region.params, *(value for op in region.ops for value in op.results)}
        for outer in self.writer.homes.keys() - before - own:
            del self.writer.homes[outer]

    def give_back(self, *owners: Named | None) -> None:
        """The blocks of these owners that the innermost region has in the arena are free again."""
        for owner in owners:
            for offset in self.owned[-1].pop(owner, ()):
                self.arena.give_back(offset)
            if owner is not None:
                self.places.pop(owner, None)
                self.writer.homes.pop(owner, None)

    def step(self, code: Code, step: Step, slots: Mapping[int, Home]) -> None:
        for op in step.scalars:
            mark = len(code.lines)
            self.scalar(code, op)
            code.claim(op, mark)
        if isinstance(step.body, LoopNest):
            self.nest(code, step.body, slots)
        elif step.body is not None:
            op = step.body.op
            opaque = self.writer.lowerings.get(op).opaque
            assert opaque is not None, op.name
            mark = len(code.lines)
            opaque(self, code, op)
            if not op.row.has_control_flow:
                code.claim(op, mark)
            for value in op.results:
                if shape_of(value.ty):
                    self.publish(value)

    def nest(self, code: Code, nest: LoopNest, slots: Mapping[int, Home]) -> None:
        made: list[Value | Param] = []
        targets: dict[Root, Home] = {}
        for root in nest.roots:
            if root.buffer is not None:
                targets[root] = self.place_of(root.buffer)
                if root.completes:
                    made.append(root.buffer)
            elif root.slot is not None:
                targets[root] = slots[root.slot]
            elif root.op is not None:
                made += [value for value in root.op.results if shape_of(value.ty)]
        roots = tuple(root for root in nest.roots if not self.is_there(root, targets.get(root)))
        if roots:
            places = {value: self.place_of(value) for value in made}
            loops = replace(nest, roots=roots)
            mark = len(code.lines)
            accesses = self.strided(loops)
            NestEmitter(self.writer, code, loops, places, targets, accesses).emit()
            if roots[0].made_by is not None:  # what is left: the loops themselves
                code.claim(roots[0].made_by, mark)
        for value in made:
            self.publish(value)

    @cached_property
    def strides(self) -> StrideAnalysis:
        """The strides of the function's values."""
        return strides_of(self.function)

    def strided(self, nest: LoopNest) -> tuple[StridedAccess, ...]:
        """The accesses of a nest that has several axes to choose from."""
        if nest.single or sum(extent > 1 for extent in nest.shape) < 2:
            return ()
        return strided_accesses(nest, self.writer.lowerings, self.strides)

    def is_there(self, root: Root, target: Home | None) -> bool:
        """Whether a root would copy a block onto itself."""
        value = root.values[0]
        home = self.writer.homes.get(value) if isinstance(value, (Value, Param)) else None
        if home is None or target is None:
            return False
        return home.address.text == target.address.text

    # -- scalars

    def scalar(self, code: Code, op: Op) -> None:
        """One op on scalars, at the end of the code."""
        nest = Nest(self.writer, [code])
        effect = self.writer.lowerings.get(op).scalar
        if effect is not None:
            return effect(self, nest, op)
        for value in op.results:
            self.writer.scalars[value] = self.register(nest, value)

    def register(self, nest: Nest, operand: Operand) -> Reg:
        """A scalar operand in a register."""
        form = evaluate(nest, operand, ())
        if isinstance(form, Pointer):
            assert not isinstance(form.offset, Reg) or not form.offset.lanes
            return access.at(nest, form.base, form.offset, unit_of(operand))
        assert isinstance(form, Reg)
        return form


def scalar_store(emitter: FunctionEmitter, nest: Nest, op: Op) -> None:
    pointer, value, mask = op.operands
    assert value is not None
    address, held = emitter.register(nest, pointer), emitter.register(nest, value)
    found = mask_at(nest, mask, (), False)
    access.store_scalar(nest, address, element_of(value.ty), held, found)


def assume(emitter: FunctionEmitter, nest: Nest, op: Op) -> None:
    condition = emitter.register(nest, op.operands[0])
    name = nest.writer.module.intrinsic("llvm.assume", "void", ["i1"])
    nest.codes[0].add(f"call void @{name}({condition.typed})")


def nothing(emitter: FunctionEmitter, nest: Nest, op: Op) -> None:
    """A program is one thread here: nothing to wait for."""


def bind_params(emitter: FunctionEmitter, shared: bool) -> list[str]:
    """Names the function's parameters; returns their declarations."""
    declared = []
    # an unknown address may lie in the memory of an argument
    distinct = not shared and not makes_unknown_addresses(emitter.function.body)
    for param in emitter.function.params:
        element = element_of(param.ty)
        name = emitter.writer.names.fresh(param.name)
        type_ = register(element)
        alone = " noalias" if type_ == "ptr" and distinct else ""
        emitter.writer.scalars[param] = Reg(f"%{name}", type_)
        declared.append(f"{type_}{alone} %{name}")
    return declared
