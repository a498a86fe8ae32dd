"""`for`, `while` and `if`: control flow with carried scalars in phis and carried blocks in the
arena.

A carried block has one home that the loop's body overwrites in place where its plan shows
that the old content has been read by then; else it has two, and the addresses change places from
one turn to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...ir.effects import accesses_memory
from ...ir.nodes import Const, Op, Param, Region, Value
from ...ir.types import element_of, shape_of
from ...passes.spinning import may_spin
from . import affine
from .assert_print import fail_unless, leave_if_stopped
from .code import Code, Reg, const
from .launch.cooperative_launch import WAIT_END, WAIT_TURN
from .nest import Home, Nest
from .region import FunctionEmitter, Turn
from .types import register


@dataclass
class Carried:
    """One value that a loop carries: a phi of a register, or of the address of its home."""

    param: Param
    result: Value
    name: str
    type: str
    start: str
    following: str = ""
    other: str = ""
    """The name of the phi of the second home, where there are two."""
    spare: Home | None = None

    @property
    def block(self) -> bool:
        return bool(shape_of(self.param.ty))


def _carried(
    emitter: FunctionEmitter, code: Code, op: Op, params: tuple[Param, ...]
) -> list[Carried]:
    """What the loop starts with; blocks have been put into the homes of the params already."""
    found = []
    nest = Nest(emitter.writer, [code])
    starts = op.operands[len(op.operands) - len(op.results) :]
    for param, start, result in zip(params, starts, op.results, strict=True):
        name = emitter.writer.names.fresh(emitter.writer.hint(param))
        if shape_of(param.ty):
            found.append(Carried(param, result, name, "ptr", emitter.publish(param).address.text))
        else:
            reg = emitter.register(nest, start)
            type_ = register(element_of(param.ty))
            found.append(Carried(param, result, name, type_, reg.text))
    return found


def _spare_homes(
    emitter: FunctionEmitter, carried: list[Carried], in_place: Mapping[int, bool]
) -> None:
    """A second home for the blocks that cannot be overwritten in place."""
    for number, one in enumerate(carried):
        if one.block and not in_place.get(number, True):
            element, shape = element_of(one.param.ty), shape_of(one.param.ty)
            one.spare = emitter.new_home(element, shape, one.name, one.result)
            one.other = emitter.writer.names.fresh(f"{one.name}.new")


def _heads(code: Code, carried: list[Carried], entry: str, latch: str) -> None:
    """The phis at the loop's head, for entry and latch labels."""
    for one in carried:
        if one.block and one.spare is None:
            continue
        following = f"%{one.other}" if one.spare else one.following
        code.add(
            f"%{one.name} = phi {one.type} [ {one.start}, %{entry} ], [ {following}, %{latch} ]"
        )
        if one.spare:
            spare = one.spare.address.text
            code.add(f"%{one.other} = phi ptr [ {spare}, %{entry} ], [ %{one.name}, %{latch} ]")


def _bind(emitter: FunctionEmitter, carried: list[Carried], params: tuple[Param, ...]) -> None:
    """Gives a region's params their registers and homes."""
    for one, param in zip(carried, params, strict=True):
        if not one.block:
            emitter.writer.scalars[param] = Reg(f"%{one.name}", one.type)
            continue
        home = emitter.writer.homes[one.param]
        address = Reg(f"%{one.name}", "ptr") if one.spare else home.address
        emitter.publish(param, Home(address, home.element, home.shape))


def _body(
    emitter: FunctionEmitter,
    code: Code,
    region: Region,
    params: tuple[Param, ...],
    carried: list[Carried],
) -> None:
    """A loop's body region, ending with what the next turn starts from."""
    schedule = emitter.plan(region)
    _spare_homes(emitter, carried, schedule.in_place)
    _bind(emitter, carried, params)
    slots = {}
    for number, one in enumerate(carried):
        if one.block:
            home = emitter.writer.homes[params[number]]
            address = Reg(f"%{one.other}", "ptr") if one.spare else home.address
            slots[number] = Home(address, home.element, home.shape)
    emitter.emit(code, region, schedule, slots)
    nest = Nest(emitter.writer, [code])
    for one, result in zip(carried, region.results, strict=True):
        if not one.block:
            one.following = emitter.register(nest, result).text


def _results(emitter: FunctionEmitter, op: Op, carried: list[Carried]) -> None:
    """The loop's results are its carried values as they are at its head."""
    for value, one in zip(op.results, carried, strict=True):
        if one.block:
            home = emitter.writer.homes[one.param]
            address = Reg(f"%{one.name}", "ptr") if one.spare else home.address
            emitter.places[value] = Home(address, home.element, home.shape)
        else:
            emitter.writer.scalars[value] = Reg(f"%{one.name}", one.type)


def trip_count(nest: Nest, low: Reg, high: Reg, step: Reg, signed: bool) -> Reg:
    """How often the body runs, an unsigned i64; 0 for a step of 0."""
    low, high, step = (_long(nest, reg, signed) for reg in (low, high, step))
    up = nest.inst("up", "icmp sgt", [step, const("i64", 0)], "i1")
    if step.constant is not None:
        up = const("i1", step.constant > 0)
    order = "icmp slt" if signed else "icmp ult"
    span = nest.select("span", up, _minus(nest, high, low), _minus(nest, low, high))
    first, last = nest.select("first", up, low, high), nest.select("last", up, high, low)
    some = nest.inst("some", order, [first, last], "i1")
    size = nest.select("size", up, step, affine.mul_scalars(nest, step, const("i64", -1)))
    turns = span
    if size.constant != 1:
        none = nest.inst("none", "icmp eq", [size, const("i64", 0)], "i1")
        some = nest.select("some", none, const("i1", False), some)
        safe = nest.select("safe", none, const("i64", 1), size)
        less = nest.inst("less", "sub", [span, const("i64", 1)])
        turns = nest.inst("turns", "udiv", [less, safe])
        turns = nest.inst("turns", "add", [turns, const("i64", 1)])
    return nest.select("trips", some, turns, const("i64", 0))


def _long(nest: Nest, reg: Reg, signed: bool) -> Reg:
    form = affine.resize(nest, reg, signed, "i64")
    assert isinstance(form, Reg)
    return form


def _minus(nest: Nest, a: Reg, b: Reg) -> Reg:
    return affine.add_scalars(nest, a, affine.mul_scalars(nest, b, const("i64", -1)))


LONG_LOOP = 4096
"""A loop of more turns looks each turn whether the launch was stopped."""


def for_loop(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """lo, hi, step, carried values."""
    nest, fresh, region = Nest(emitter.writer, [code]), emitter.writer.names.fresh, op.regions[0]
    low, high, step = (emitter.register(nest, operand) for operand in op.operands[:3])
    signed = element_of(region.params[0].ty).kind == "i"
    if not isinstance(op.operands[2], Const):
        moves = nest.inst("moves", "icmp ne", [step, const(step.type, 0)], "i1")
        fail_unless(emitter, code, moves, op)
    trips = trip_count(nest, low, high, step, signed)
    carried = _carried(emitter, code, op, region.params[1:])
    head, inside, after = fresh("for"), fresh("for.body"), fresh("for.end")
    turn, index = fresh("turn"), fresh(emitter.writer.hint(region.params[0]))
    divisor = min(low.divisor, step.divisor)
    emitter.writer.scalars[region.params[0]] = Reg(f"%{index}", low.type, divisor=divisor)
    body = Code(inside)
    emitter.turns[region] = Turn(Reg(f"%{turn}", "i64"), trips)
    _body(emitter, body, region, region.params[1:], carried)
    if trips.constant is None or int(trips.constant) > LONG_LOOP:
        leave_if_stopped(emitter, body)
    entry, latch = code.label, body.label
    code.branch(head)
    code.add(f"%{turn} = phi i64 [ 0, %{entry} ], [ %{turn}.next, %{latch} ]")
    code.add(f"%{index} = phi {low.type} [ {low.text}, %{entry} ], [ %{index}.next, %{latch} ]")
    _heads(code, carried, entry, latch)
    code.add(f"%{turn}.more = icmp ult i64 %{turn}, {trips.text}")
    code.add(f"br i1 %{turn}.more, label %{inside}, label %{after}")
    code.start(inside)
    code.append(body)
    code.add(f"%{turn}.next = add nuw i64 %{turn}, 1")
    code.add(f"%{index}.next = add {low.type} %{index}, {step.text}")
    code.add(f"br label %{head}")
    code.start(after)
    _results(emitter, op, carried)


def while_loop(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """A condition region, then a body region, on the carried values."""
    fresh, (test, region) = emitter.writer.names.fresh, op.regions
    carried = _carried(emitter, code, op, test.params)
    head, inside, after = fresh("while"), fresh("while.body"), fresh("while.end")
    body, condition, meets = Code(inside), Code(head), may_spin(op)
    for one, param in zip(carried, region.params, strict=True):
        if one.block:
            emitter.publish(param, emitter.writer.homes[one.param])
    _body(emitter, body, region, region.params, carried)
    if not meets:
        leave_if_stopped(emitter, body)
    _bind(emitter, carried, test.params)
    emitter.emit(condition, test, emitter.plan(test))
    holds = emitter.register(Nest(emitter.writer, [condition]), test.results[0])
    still = _wait_turn(emitter, body, op, carried) if meets else ""
    entry, latch = code.label, body.label
    code.branch(head)
    _heads(code, carried, entry, latch)
    code.append(condition)
    code.add(f"br i1 {holds.text}, label %{inside}, label %{after}")
    code.start(inside)
    code.append(body)
    code.add(f"br label %{head}")
    code.start(after)
    if meets:
        code.add(f"call void @wait_end(ptr %record, ptr %{still})")
    _results(emitter, op, carried)


def _wait_turn(emitter: FunctionEmitter, code: Code, op: Op, carried: list[Carried]) -> str:
    """At the end of a turn: lets others run, and leaves the program if the launch was stopped.

    Returns the name of the count of turns without a change, which ends where the loop does.
    """
    nest, fresh = Nest(emitter.writer, [code]), emitter.writer.names.fresh
    changed = const("i1", any(one.block for one in carried))
    for one in carried:
        if not one.block:
            pair = [Reg(f"%{one.name}", one.type), Reg(one.following, one.type)]
            changed = nest.inst("changed", "or", [changed, _differs(nest, pair)])
    for seen in _seen(emitter, op):
        changed = nest.inst("changed", "or", [changed, _since_last_turn(emitter, nest, seen)])
    helpers, entry, still = emitter.writer.module.helpers, emitter.writer.entry, fresh("still")
    helpers["wait_turn"], helpers["wait_end"] = WAIT_TURN, WAIT_END
    entry.add(f"%{still} = alloca i64")
    entry.add(f"store i64 0, ptr %{still}")
    stop, gone, on = fresh("stop"), fresh("gone"), fresh("on")
    code.add(f"%{stop} = call i1 @wait_turn(ptr %record, {changed.typed}, ptr %{still})")
    code.add(f"br i1 %{stop}, label %{gone}, label %{on}")
    code.start(gone)
    code.add("ret void")
    code.start(on)
    return still


def _seen(emitter: FunctionEmitter, op: Op) -> list[Reg]:
    """The numbers that the loop itself reads from memory each turn, in its condition or body."""
    read = [inner for region in op.regions for inner in region.ops if accesses_memory(inner)]
    values = [value for inner in read for value in inner.results if not shape_of(value.ty)]
    found = [emitter.writer.scalars.get(value) for value in values]
    return [reg for reg in found if reg is not None and reg.constant is None]


def _since_last_turn(emitter: FunctionEmitter, nest: Nest, seen: Reg) -> Reg:
    """Whether a number is another than at the end of the turn before."""
    name, code = emitter.writer.names.fresh("before"), nest.codes[0]
    emitter.writer.entry.add(f"%{name}.at = alloca {seen.type}")
    emitter.writer.entry.add(f"store {nest.zero(seen.type).typed}, ptr %{name}.at")
    code.add(f"%{name} = load {seen.type}, ptr %{name}.at")
    code.add(f"store {seen.typed}, ptr %{name}.at")
    return _differs(nest, [Reg(f"%{name}", seen.type), seen])


def _differs(nest: Nest, pair: list[Reg]) -> Reg:
    opcode = "fcmp une" if pair[0].type in ("float", "double") else "icmp ne"
    return nest.inst("differs", opcode, pair, "i1")


def if_else(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """One of two regions; what they give comes together in phis and in one home."""
    fresh, nest = emitter.writer.names.fresh, Nest(emitter.writer, [code])
    condition = emitter.register(nest, op.operands[0])
    after = fresh("if.end")
    labels = fresh("then"), fresh("else")
    code.add(f"br i1 {condition.text}, label %{labels[0]}, label %{labels[1]}")
    slots = {n: emitter.place_of(value) for n, value in enumerate(op.results) if shape_of(value.ty)}
    ends: list[tuple[str, list[str]]] = []
    for region, label in zip(op.regions, labels, strict=True):
        code.start(label)
        emitter.emit(code, region, emitter.plan(region), slots)
        inner = Nest(emitter.writer, [code])
        given = [
            "" if n in slots else emitter.register(inner, result).text
            for n, result in enumerate(region.results)
        ]
        ends.append((code.label, given))
        code.add(f"br label %{after}")
    code.start(after)
    for number, value in enumerate(op.results):
        if number not in slots:
            type_ = register(element_of(value.ty))
            ways = ", ".join(f"[ {given[number]}, %{label} ]" for label, given in ends)
            name = fresh(emitter.writer.hint(value))
            code.add(f"%{name} = phi {type_} {ways}")
            emitter.writer.scalars[value] = Reg(f"%{name}", type_)
