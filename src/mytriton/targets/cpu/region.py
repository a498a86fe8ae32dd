"""A region as LLVM text: its stages in order, with a place in the arena for what they keep.

One idea: a region needs only its plan; ops that are emitted as a whole are looked up by name in
`WHOLE` and find everything else (registers, homes, the arena) on the function's emitter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...ir.nodes import Function, Op, Operand, Param, Region, Value
from ...ir.types import Element, element_of, shape_of
from ...passes.provenance import makes_unknown_addresses
from . import access
from .alias import Aliases
from .arena import Arena
from .code import Code, Reg
from .loops import GroupEmitter
from .masks import mask_at
from .nest import Home, Nest, Pointer, Writer
from .plan import Plan, plan
from .schedule import Group, Sink, Stage
from .types import arena as arena_type
from .types import register
from .virtual import evaluate, unit_of


@dataclass
class FunctionEmitter:
    """What emitting one function needs to know."""

    function: Function
    writer: Writer
    aliases: Aliases
    arena: Arena = field(default_factory=Arena)
    places: dict[Value | Param, Home] = field(default_factory=dict)
    """The homes of blocks, also of those that are not there yet."""
    pairs: tuple[Home, Home] | None = None
    """Where the sort being emitted keeps its pairs."""
    messages: list[Op] = field(default_factory=list)
    """The asserts and prints, by number."""

    # -- places

    def new_home(self, element: Element, shape: tuple[int, ...], hint: str) -> Home:
        """A fresh block in the arena."""
        offset = self.arena.take(shape, arena_type(element))
        name = self.writer.names.fresh(f"{hint}.home")
        self.writer.entry.add(f"%{name} = getelementptr i8, ptr %arena, i64 {offset}")
        return Home(Reg(f"%{name}", "ptr"), element, shape)

    def place_of(self, value: Value | Param) -> Home:
        """The home a block has or will have, made when first asked for."""
        if value not in self.places:
            hint = self.writer.hint(value)
            self.places[value] = self.new_home(element_of(value.ty), shape_of(value.ty), hint)
        return self.places[value]

    def publish(self, value: Value | Param, home: Home | None = None) -> Home:
        """From here on the block is read from its home."""
        found = home or self.place_of(value)
        self.places[value] = self.writer.homes[value] = found
        return found

    # -- stages

    def plan(self, region: Region, carried: tuple[Operand, ...] = ()) -> Plan:
        return plan(region, self.aliases, self.writer.homes, carried)

    def emit(
        self, code: Code, region: Region, schedule: Plan, slots: Mapping[int, Home] | None = None
    ) -> None:
        """The region's ops; `slots`: where each block among its results is to be.

        What it keeps of the blocks made before it is forgotten after it: it may not have run.
        """
        before = set(self.writer.homes)
        for number, value in schedule.slots.items():
            if value is not None and slots is not None:
                self.places[value] = slots[number]
        for stage in schedule.stages:
            self.stage(code, stage, slots or {})
        own = {*region.params, *(value for op in region.ops for value in op.results)}
        for outer in self.writer.homes.keys() - before - own:
            del self.writer.homes[outer]

    def stage(self, code: Code, stage: Stage, slots: Mapping[int, Home]) -> None:
        for op in stage.scalars:
            self.scalar(code, op)
        if isinstance(stage.heavy, Group):
            self.group(code, stage.heavy, slots)
        elif stage.heavy is not None:
            WHOLE[stage.heavy.name](self, code, stage.heavy)
            for value in stage.heavy.results:
                if shape_of(value.ty):
                    self.publish(value)

    def group(self, code: Code, group: Group, slots: Mapping[int, Home]) -> None:
        made: list[Value | Param] = []
        for sink in group.sinks:
            if sink.kept is not None:
                sink.home = self.place_of(sink.kept)
                if sink.finished:
                    made.append(sink.kept)
            elif sink.slot is not None:
                sink.home = slots[sink.slot]
            elif sink.op is not None:
                made += [value for value in sink.op.results if shape_of(value.ty)]
        group.sinks = [sink for sink in group.sinks if not self.is_there(sink)]
        if group.sinks:
            GroupEmitter(self.writer, code, group, {v: self.place_of(v) for v in made}).emit()
        for value in made:
            self.publish(value)

    def is_there(self, sink: Sink) -> bool:
        """Whether a keep would copy a block onto itself."""
        (value, *_) = sink.values
        home = self.writer.homes.get(value) if isinstance(value, (Value, Param)) else None
        if home is None or sink.home is None:
            return False
        return home.address.text == sink.home.address.text

    # -- scalars

    def scalar(self, code: Code, op: Op) -> None:
        """One op on scalars, at the end of the code."""
        nest = Nest(self.writer, [code])
        if op.name in SCALARS:
            SCALARS[op.name](self, nest, op)
            return
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


SCALARS: dict[str, Callable[[FunctionEmitter, Nest, Op], None]] = {
    "store": scalar_store,
    "assume": assume,
    "barrier": nothing,
}
"""Scalar ops that are more than a value."""

WHOLE: dict[str, Callable[[FunctionEmitter, Code, Op], None]] = {}
"""Ops that are emitted as a whole; each module adds its own."""


def bind_params(emitter: FunctionEmitter) -> list[str]:
    """Names the function's parameters; returns their declarations."""
    declared = []
    # an unknown address may lie in the memory of an argument
    unknown = makes_unknown_addresses(emitter.function.body)
    distinct = not emitter.aliases.overlap and not unknown
    for param in emitter.function.params:
        element = element_of(param.ty)
        name = emitter.writer.names.fresh(param.name)
        type_ = register(element)
        alone = " noalias" if type_ == "ptr" and distinct else ""
        emitter.writer.scalars[param] = Reg(f"%{name}", type_)
        declared.append(f"{type_}{alone} %{name}")
    return declared
