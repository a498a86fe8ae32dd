"""Ops that only compute, in whatever layout is asked for: ids, ranges, element-wise rows, casts,
choices, addresses, and changes of shape that move nothing.

An element-wise op is its row's C template over the operands' texts; what a type needs beyond C
(wrapping signed ints, rounding small floats, saturation) is put around it by the element's kind,
never by the op's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ....ir.nodes import Const, Op, Value
from ....ir.ops import TABLE, Elementwise
from ....ir.types import (
    F32,
    F64,
    I32,
    Element,
    PointerType,
    ScalarType,
    compute_type,
    element_of,
)
from ....layouts.linear import Layout
from ..spelling import local_type, memory_type
from .emitter import Emitter, Remake, Rule
from .held import Address, Held, Offset
from .linear import Register, enclosed
from .text import bare, rounded

AXES = ("x", "y", "z")


def program_id(emitter: Emitter, value: Value, layout: Layout) -> Held:
    return emitter.assign(value, layout, lambda r: f"blockIdx.{AXES[value.op.attribute('axis')]}")


def num_programs(emitter: Emitter, value: Value, layout: Layout) -> Held:
    return emitter.assign(value, layout, lambda r: f"gridDim.{AXES[value.op.attribute('axis')]}")


def arange(emitter: Emitter, value: Value, layout: Layout) -> Held:
    """The start and the element's index; where every thread holds the one element, the start."""
    start = value.op.attribute("start")
    if layout.shape == (1,) and emitter.distribution.threads > 1:
        return emitter.assign(value, layout, lambda r: str(start))

    def compute(r: Register) -> str:
        index = emitter.index(layout, r)
        return index if start == 0 else f"({start} + {enclosed(index)})"

    return emitter.assign(value, layout, compute)


def unchanged(emitter: Emitter, value: Value, layout: Layout) -> Held | Address:
    """The same value in every register that holds it; a constant gets a local."""
    (operand,) = value.op.operands
    found = emitter.lookup(operand, layout)
    if isinstance(operand, Const) and isinstance(found, Held) and emitter.distribution.lane_rule:
        text = found.name
        return emitter.assign(value, layout, lambda r: text)
    return found


# -- element-wise rows


def template_of(row: Elementwise, element: ScalarType, fast: bool = False) -> Any:
    """The row's C for an element type: by the type's name, that of what it is computed in, its
    kind, or any. fast: the less exact one, where there is one."""
    names = (element.ir, compute_type(element).ir, element.kind, "*")
    if fast and names[1] in row.fast:
        return row.fast[names[1]]
    if not isinstance(row.c, Mapping):
        return row.c
    return next(row.c[name] for name in names if name in row.c)


def elementwise_text(
    row: Elementwise,
    element: Any,
    operands: Sequence[str],
    exact: bool = False,
    fast: bool = False,
) -> str:
    """The C expression of a row on operands of an element type, of the local type.

    exact: the result is known to stay inside the type, so that plain C's signed arithmetic is
    right. fast: see `template_of`.
    """
    template, compute = template_of(row, element, fast), compute_type(element)
    if not isinstance(template, str):
        text = template(*operands, compute)
    elif not exact and is_ring(template) and (unsigned := WRAPPING.get(element.ir)):
        operands = [f"({unsigned}){operands[0]}", *operands[1:]]
        text = f"({local_type(element)}){template.format(*operands)}"
    else:
        text = template.format(*operands, f="f" if compute == F32 else "")
    result = row.result or element
    return text if row.boolean else rounded(text, result)


WRAPPING = {"i32": "unsigned int", "i64": "unsigned long long", "u16": "unsigned int"}
"""Ints whose C arithmetic overflows as signed, where the compiler may assume that it never does:
what they are computed in instead. Narrower ones never overflow C's int; unsigned ones wrap."""


def is_ring(template: str) -> bool:
    """Whether a template is made of +, - and * only, so that it is the same modulo 2^n on unsigned
    ints."""
    return re.fullmatch(r"[-+*(){}\d\s]+", template) is not None


CALL = re.compile(r"[A-Za-z_]\w*\(")
"""A call in a template, whose argument types count."""


def elementwise(emitter: Emitter, value: Value, layout: Layout) -> Held:
    op, row = value.op, value.op.row.element
    assert row is not None and op.operands[0] is not None
    element = element_of(op.operands[0].ty)
    held = [emitter.get(operand, layout) for operand in op.operands]
    fast = not emitter.distribution.lane_rule
    template = template_of(row, element, fast) if isinstance(element, ScalarType) else ""
    if not isinstance(template, str) or CALL.search(template):
        held = [emitter.typed(operand, one) for operand, one in zip(op.operands, held)]
    exact = all(map(emitter.stays_inside, op.operands))
    return emitter.assign(
        value,
        layout,
        lambda r: elementwise_text(row, element, [h.at(r) for h in held], exact, fast),
    )


def select(emitter: Emitter, value: Value, layout: Layout) -> Held:
    condition, left, right = (emitter.get(operand, layout) for operand in value.op.operands)
    return emitter.assign(
        value, layout, lambda r: f"({condition.at(r)} ? {left.at(r)} : {right.at(r)})"
    )


# -- casts


def cast(emitter: Emitter, value: Value, layout: Layout) -> Held:
    (operand,), target = value.op.operands, value.op.attribute("to")
    assert operand is not None
    cut = value.op.attribute("rounding") == "rtz"
    source, held = element_of(operand.ty), emitter.get(operand, layout)
    return emitter.assign(value, layout, lambda r: cast_text(held.at(r), source, target, cut))


def cast_text(text: str, source: Element, target: Element, cut: bool = False) -> str:
    """An expression of the source's local type converted as SEMANTICS says; `cut` rounds floats
    toward zero."""
    if isinstance(source, PointerType) or isinstance(target, PointerType):
        return f"({local_type(target)}){text}"
    if target.kind == "b":
        return f"({text} != 0)"
    if target.kind == "f":
        return _to_float(text, source, target, cut)
    if source.kind == "f":
        return f"saturate<{local_type(target)}>({bare(text)})"
    return f"({local_type(target)}){text}"


def _to_float(text: str, source: Element, target: Element, cut: bool) -> str:
    """Rounds once: what a float cannot hold goes through one rounded to odd (or toward zero)."""
    exact = source.kind == "b" or source.bits < 32 or source == F32
    if target == F64 or (target == F32 and not cut):
        return text if local_type(source) == local_type(target) else f"({local_type(target)}){text}"
    if exact:
        single = text if source.kind == "f" else f"(float){text}"
    else:
        wide = f"(double){text}" if source.kind != "f" and source.bits == 32 else bare(text)
        single = f"toward_zero({wide})" if cut else f"odd_float({wide})"
    if target == F32:
        return single
    return f"{target.ir}::cut({bare(single)})" if cut else f"{target.ir}({bare(single)})"


def bitcast(emitter: Emitter, value: Value, layout: Layout) -> Held:
    """The element as memory would hold it, read as the other type."""
    (operand,), target = value.op.operands, value.op.attribute("to")
    assert operand is not None
    source, held = element_of(operand.ty), emitter.get(operand, layout)

    def compute(r: Register) -> str:
        text = held.at(r)
        if source.kind == "p" and target.kind == "p":
            return f"({local_type(target)}){text}"
        return f"bitcast<{memory_type(target)}>({bare(rounded(text, source))})"

    return emitter.assign(value, layout, compute)


# -- addresses


def addptr(emitter: Emitter, value: Value, layout: Layout) -> Address:
    """Adds the offset; nothing is printed."""
    pointer, offset = value.op.operands
    assert offset is not None
    base = emitter.address(pointer, layout)
    element = element_of(offset.ty)
    constant = int(offset.value) if isinstance(offset, Const) and element == I32 else None
    more = Offset(
        emitter.get(offset, layout),
        emitter.stays_inside(offset),
        element.bits == 64,
        constant,
        emitter.level_of(offset),
    )
    return Address(base.base, (*base.offsets, more), not emitter.distribution.lane_rule)


def map_elements(emitter: Emitter, op: Op) -> None:
    """Each register is the scalar function of the operands' same register."""
    (region,) = op.regions
    layout = emitter.home(op.results[0])
    held = [emitter.get(operand, layout) for operand in op.operands]
    single = layout.registers == 1
    arrays = [] if single else [emitter.declare(result, layout) for result in op.results]
    with emitter.registers(layout) as r, emitter.scope():
        for param, one in zip(region.params, held):
            emitter.define(param, Held(one.at(r), emitter.scalar))
        emitter.body(region)
        texts = [emitter.get(inner, emitter.scalar).name for inner in region.results]
        for array, text in zip(arrays, texts):
            emitter.put(f"{array.at(r)} = {text};")
    if single:
        arrays = [
            emitter.assign(result, layout, lambda r, text=text: text)  # type: ignore[misc]
            for result, text in zip(op.results, texts)
        ]
    for result, array in zip(op.results, arrays):
        emitter.define(result, array, layout)


REMAKE: dict[str, Remake] = {
    **{name: elementwise for name, row in TABLE.items() if row.element},
    "program_id": program_id,
    "num_programs": num_programs,
    "arange": arange,
    "broadcast": unchanged,
    "hint": unchanged,
    "select": select,
    "cast": cast,
    "bitcast": bitcast,
    "addptr": addptr,
}
RULES: dict[str, Rule] = {"map": map_elements}
