"""Atomics: one lane after the other, each a machine atomic or a compare-and-swap loop.

An atomic works on the bits in memory. Ints have instructions; a float is read, combined
by its element-wise row, rounded and swapped in, until nobody came between; so all float formats are
alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.nodes import Op
from ...ir.ops import TABLE
from ...ir.structural import ATOMIC_ROWS
from ...ir.types import Element, ScalarType, element_of, shape_of
from . import access, rows
from .addresses import address_of
from .atomic_sums import add_to_table
from .casts import decode, encode
from .code import Reg
from .lowering import Index, RootEmission
from .masks import mask_at
from .nest import Access, Nest
from .operands import type_of
from .pointwise import evaluate, fit
from .region import FunctionEmitter
from .schedule.plan import Root
from .types import SIZES, memory

INSTRUCTIONS = {"add": "add", "and": "and", "or": "or", "xor": "xor", "xchg": "xchg"}
ENDS = {("max", "i"): "max", ("min", "i"): "min", ("max", "u"): "umax", ("min", "u"): "umin"}

ORDERINGS = {
    "relaxed": ("monotonic", "monotonic"),
    "acquire": ("acquire", "acquire"),
    "release": ("release", "monotonic"),
    "acq_rel": ("acq_rel", "acquire"),
}
"""LLVM's memory orderings by `sem`: of the atomic, and of a compare-and-swap that fails."""

Act = Callable[[Nest, Reg], Reg]
"""Does the atomic at an address, at the end of the innermost code; returns the old value's bits."""


def _here(nest: Nest, hint: str, text: str, type_: str) -> Reg:
    return nest.put(len(nest.codes) - 1, hint, text, type_)


def _bits(element: Element) -> str:
    return f"i{8 * SIZES[memory(element)]}"


def _as_bits(nest: Nest, element: Element, value: Reg) -> Reg:
    """A scalar's bits in memory as an int."""
    held = encode(nest, element, value)
    if held.type == _bits(element):
        return held
    opcode = "ptrtoint" if held.type == "ptr" else "bitcast"
    return _here(nest, "bits", f"{opcode} {held.typed} to {_bits(element)}", _bits(element))


def _from_bits(nest: Nest, element: Element, bits: Reg) -> Reg:
    held = bits
    if memory(element) != bits.type:
        opcode = "inttoptr" if memory(element) == "ptr" else "bitcast"
        text = f"{opcode} {bits.typed} to {memory(element)}"
        held = _here(nest, "held", text, memory(element))
    deep = Reg(held.text, held.type, 0, len(nest.codes) - 1)
    return decode(nest, element, deep)


def _modify(op: Op, element: ScalarType, value: Reg) -> Act:
    kind, order = op.attrs["kind"], ORDERINGS[op.attribute("sem")]
    if kind == "xchg" or element.kind != "f":
        instruction = INSTRUCTIONS.get(kind) or ENDS[kind, element.kind]
        return lambda nest, at: _instruction(nest, instruction, element, at, value, order[0])
    return lambda nest, at: _swap_loop(nest, ATOMIC_ROWS[kind], element, at, value, order)


def _instruction(
    nest: Nest, instruction: str, element: Element, address: Reg, value: Reg, order: str
) -> Reg:
    bits = _as_bits(nest, element, value)
    align = SIZES[memory(element)]
    text = f"atomicrmw {instruction} {address.typed}, {bits.typed} {order}, align {align}"
    return _here(nest, "old", text, bits.type)


def _swap_loop(
    nest: Nest,
    row: str,
    element: ScalarType,
    address: Reg,
    value: Reg,
    order: tuple[str, str],
) -> Reg:
    """old = memory; until memory is still old: memory = row(old, value)."""
    writer, code = nest.writer, nest.codes[-1]
    type_, align = _bits(element), SIZES[memory(element)]
    first = _here(
        nest, "seen", f"load atomic {type_}, {address.typed} monotonic, align {align}", type_
    )
    head, end = writer.names.fresh("swap"), writer.names.fresh("swapped")
    seen, found = writer.names.fresh("seen"), writer.names.fresh("found")
    entry = code.label
    code.branch(head)
    code.add(f"%{seen} = phi {type_} [ {first.text}, %{entry} ], [ %{found}, %{head} ]")
    old = _from_bits(nest, element, Reg(f"%{seen}", type_, 0, len(nest.codes) - 1))
    table = TABLE[row].element
    assert table is not None
    new = rows.elementwise(nest, table, element, [old, value], "new")
    assert isinstance(new, Reg)
    bits = _as_bits(nest, element, new)
    new_bits = f"{bits.typed} {order[0]} {order[1]}, align {align}"
    operands = f"{address.typed}, {type_} %{seen}, {new_bits}"
    pair = _here(nest, "pair", f"cmpxchg {operands}", type_)
    code.add(f"%{found} = extractvalue {{ {type_}, i1 }} {pair.text}, 0")
    won = _here(nest, "won", f"extractvalue {{ {type_}, i1 }} {pair.text}, 1", "i1")
    code.add(f"br i1 {won.text}, label %{end}, label %{head}")
    code.start(end)
    return Reg(f"%{seen}", type_, 0, len(nest.codes) - 1)


def _compare_and_swap(op: Op, element: Element, expected: Reg, value: Reg) -> Act:
    order, failed = ORDERINGS[op.attribute("sem")]

    def act(nest: Nest, address: Reg) -> Reg:
        wanted, new = _as_bits(nest, element, expected), _as_bits(nest, element, value)
        align = SIZES[memory(element)]
        operands = f"{address.typed}, {wanted.typed}, {new.typed} {order} {failed}, align {align}"
        pair = _here(nest, "pair", f"cmpxchg {operands}", wanted.type)
        text = f"extractvalue {{ {wanted.type}, i1 }} {pair.text}, 0"
        return _here(nest, "old", text, wanted.type)

    return act


def guarded(nest: Nest, element: Element, address: Reg, mask: Reg | None, act: Act) -> Reg:
    """The old value, 0 where the mask is false and nothing was done."""
    if mask is None:
        return _from_bits(nest, element, act(nest, address))
    code, fresh = nest.codes[-1], nest.writer.names.fresh
    do, end, entry = fresh("do"), fresh("past"), code.label
    code.add(f"br i1 {mask.text}, label %{do}, label %{end}")
    code.start(do)
    old = act(nest, address)
    label = code.label
    code.branch(end)
    bits = _here(nest, "old", f"phi {old.type} [ {old.text}, %{label} ], [ 0, %{entry} ]", old.type)
    return _from_bits(nest, element, bits)


def _act_of(op: Op, element: Any, values: list[Reg]) -> Act:
    if op.name == "atomic":
        return _modify(op, element, values[0])
    return _compare_and_swap(op, element, values[0], values[1])


def _parts(op: Op) -> tuple[list[Any], Any]:
    """The value operands, and the mask."""
    return (
        ([op.operands[1]], op.operands[2]) if op.name == "atomic" else (list(op.operands[1:]), None)
    )


def scalar_atomic(emitter: FunctionEmitter, nest: Nest, op: Op) -> None:
    values, mask = _parts(op)
    element = element_of(values[0].ty)
    address = emitter.register(nest, op.operands[0])
    given = [emitter.register(nest, value) for value in values]
    guard = emitter.register(nest, mask) if mask is not None else None
    old = guarded(nest, element, address, guard, _act_of(op, element, given))
    emitter.writer.scalars[op.results[0]] = Reg(old.text, old.type)


def _prepare(nest: Nest, root: Root, index: Index) -> list[Any]:
    """The operands' forms; of the mask what is left to test."""
    op = root.op
    assert op is not None
    values, mask = _parts(op)
    place = address_of(nest, op.operands[0], index)
    given = [evaluate(nest, value, fit(value, index)) for value in values]
    known = len(nest.version.bounds)
    found = mask_at(nest, mask, index, True)
    bounds, kind = tuple(nest.version.bounds[known:]), access.class_of(nest, place)
    nest.note(Access("atomic", op.operands[0], kind, found is not None, bounds))
    return [place, given, found]


def _only(nest: Nest, form: Any) -> Reg:
    """The scalar in a nest of one lane."""
    if isinstance(form, Reg) and not form.lanes:
        return form
    return nest.extract(nest.wide(form), 0)


def _perform(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    op = root.op
    assert op is not None
    place, values, mask = forms
    element = element_of(type_of(op, 1))
    address, given = _only(nest, place), [_only(nest, form) for form in values]
    guard, valid = None if mask is None else _only(nest, mask), nest.version.tail_mask
    if valid is not None:
        guard = access.both(nest, guard, nest.extract(valid, 0))
    if op in nest.writer.summed:
        return _sum_up(nest, address, given[0], guard)
    old = guarded(nest, element, address, guard, _act_of(op, element, given))
    if shape_of(op.types[0]) and op not in nest.writer.unread:
        home = nest.places[op.results[0]]
        value = Reg(old.text, old.type, 0, len(nest.codes) - 1)
        offset = access.offset_in(nest, home, index)
        access.keep(nest, home.address, home.element, offset, value)


def _sum_up(nest: Nest, address: Reg, value: Reg, mask: Reg | None) -> None:
    """Adds to the thread's table, where the mask is true."""
    code, table, end = nest.codes[-1], nest.writer.entry_registers["table"], ""
    if mask is not None:
        do, end = nest.writer.names.fresh("do"), nest.writer.names.fresh("past")
        code.add(f"br i1 {mask.text}, label %{do}, label %{end}")
        code.start(do)
    add_to_table(nest, table, address, value)
    if end:
        code.branch(end)


ATOMIC = RootEmission(_prepare, _perform)
