"""The ops that are functions of an index: evaluated where they are needed, never stored.

Each such op has a route (which operand at which index makes the result at this index) and
an emitter (the instruction on the operands' forms). `evaluate` follows routes without recursion and
remembers what it made, so a value used twice in a loop body is computed once, at the outermost loop
level it allows.
"""

from __future__ import annotations

from typing import Any

from ...ir.nodes import Const, Op, Operand, Param, Value
from ...ir.types import PointerType, element_of, shape_of
from . import affine, casts, rows
from .access import class_in, fetch, fetch_at, offset_in
from .code import Reg, const
from .lowering import Index, Wants
from .nest import ZERO, Access, Form, Nest, Pointer, Run
from .operands import named, scalar_at
from .types import memory, register

HALVES = (const("i64", 0), const("i64", 1))
"""The last index of the halves of a split: forms are remembered by identity, so made once."""


def fit(operand: Operand, index: Index) -> Index:
    """The index of a strict operand that stretches to the index's shape."""
    assert operand is not None
    shape = shape_of(operand.ty)
    if not shape:
        return ()
    return tuple(ZERO if extent == 1 else part for extent, part in zip(shape, index, strict=True))


def routes(nest: Nest, value: Value, index: Index) -> Wants:
    """Which operands at which index the value at this index is made of."""
    index_map = nest.writer.lowerings.get(value.op).index_map
    if index_map is not None:
        return index_map(nest, value, index)
    return [(operand, fit(operand, index)) for operand in value.op.operands if operand is not None]


def known(nest: Nest, operand: Operand, index: Index) -> Form | None:
    """The form of an operand that needs no computation any more."""
    if isinstance(operand, Const):
        return const(register(operand.ty), operand.value)
    operand = named(operand)
    found = nest.writer.scalars.get(operand)
    return found if found is not None else nest.find((operand, index))


def evaluate(nest: Nest, operand: Operand, index: Index) -> Form:
    """The operand's form at an index."""
    stack: Wants = [(operand, index)]
    while stack:
        value, at = stack[-1]
        if known(nest, value, at) is not None:
            stack.pop()
            continue
        assert isinstance(value, (Value, Param)), value
        home = nest.writer.homes.get(value)
        if home is not None:
            offset = offset_in(nest, home, at)
            nest.note(Access("read", value, class_in(nest, home, offset), False))
            nest.remember((value, at), fetch_at(nest, home, offset))
            continue
        assert isinstance(value, Value), f"{value.name} has no place"
        missing = [want for want in routes(nest, value, at) if known(nest, *want) is None]
        if missing:
            stack.extend(reversed(missing))
            continue
        marks = [len(code.lines) for code in nest.codes]
        form = _emit(nest, value, at)
        nest.explain(value.op, form, marks)
        nest.remember((value, at), form)
    result = known(nest, operand, index)
    assert result is not None
    return result


def _emit(nest: Nest, value: Value, index: Index) -> Form:
    op = value.op
    forms = [form for want in routes(nest, value, index) if (form := known(nest, *want))]
    emitter = nest.writer.lowerings.get(op).value
    if emitter is not None:
        return emitter(nest, value, index, forms)
    element = op.row.element
    assert element is not None, f"{op.name} is not a function of its index"
    return rows.elementwise(nest, element, scalar_at(op, 0), forms, nest.writer.hint(value))


# -- routes


def no_operands(nest: Nest, value: Value, index: Index) -> Wants:
    return []


def trans_map(nest: Nest, value: Value, index: Index) -> Wants:
    order = value.op.attrs["order"]
    at: list[Any] = [None] * len(order)
    for axis, source in enumerate(order):
        at[source] = index[axis]
    return [(value.op.operands[0], tuple(at))]


def slice_map(nest: Nest, value: Value, index: Index) -> Wants:
    starts = value.op.attrs["starts"]
    at = tuple(_shifted(nest, part, start) for part, start in zip(index, starts, strict=True))
    return [(value.op.operands[0], at)]


def _shifted(nest: Nest, part: Form, start: int) -> Form:
    if not start:
        return part
    key = ("shifted", part, start)
    found = nest.find(key)
    if found is None:
        found = affine.add(nest, part, const("i64", start))
        nest.remember(key, found)
    return found


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(extent for extent in shape if extent != 1)


def only_ones_move(op: Op) -> bool:
    """Whether a reshape only puts in or takes out extents of 1."""
    (operand,) = op.operands
    assert operand is not None
    return squeezed(shape_of(operand.ty)) == squeezed(op.attrs["shape"])


def reshaped_operand(op: Op) -> tuple[int, ...]:
    """The operand of a reshape that must lie in a buffer: one whose elements move."""
    return () if only_ones_move(op) else (0,)


def reshape_map(nest: Nest, value: Value, index: Index) -> Wants:
    if not only_ones_move(value.op):
        return []
    (operand,) = value.op.operands
    assert operand is not None
    shape = value.op.attrs["shape"]
    parts = [part for part, extent in zip(index, shape, strict=True) if extent != 1]
    rest = iter(parts)
    at = tuple(ZERO if extent == 1 else next(rest) for extent in shape_of(operand.ty))
    return [(operand, at)]


def split_map(nest: Nest, value: Value, index: Index) -> Wants:
    return [(value.op.operands[0], (*index, HALVES[value.index]))]


def gather_map(nest: Nest, value: Value, index: Index) -> Wants:
    return [(value.op.operands[1], index)]


# -- emitters


def arange(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    number = affine.resize(nest, index[0], True, "i32")
    return affine.add(nest, number, const("i32", value.op.attrs["start"]))


def same(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    form: Form = forms[0]
    return form


def reshape(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    """Other reshapes read the operand, which lies in the arena, at the same row-major place."""
    if forms:
        return same(nest, value, index, forms)
    (operand,) = value.op.operands
    assert isinstance(operand, (Value, Param))
    home = nest.writer.homes[operand]
    return fetch_at(nest, home, offset_in(nest, home.reshaped(value.op.attrs["shape"]), index))


def gather(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    source, picks = value.op.operands
    assert picks is not None
    kind = element_of(picks.ty)
    place = affine.resize(nest, forms[0], kind.kind == "i", "i64")
    axis = value.op.attrs["axis"]
    assert isinstance(source, (Value, Param))
    home = nest.writer.homes[source]
    return fetch(nest, home, (*index[:axis], place, *index[axis + 1 :]))


def cast(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    (operand,) = value.op.operands
    assert operand is not None
    toward_zero = value.op.attribute("rounding") == "rtz"
    return casts.cast(nest, element_of(operand.ty), value.op.attrs["to"], forms[0], toward_zero)


def bitcast(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    (operand,) = value.op.operands
    assert operand is not None
    return casts.bitcast(nest, element_of(operand.ty), value.op.attrs["to"], forms[0])


def select(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    condition, left, right = forms
    if condition.constant is not None and not condition.lanes:
        chosen: Form = left if condition.constant else right
        return chosen
    if isinstance(left, Pointer) or isinstance(right, Pointer):
        left, right = (nest.wide(form) for form in (left, right))
    a, b, c = nest.same_width([condition, left, right])
    return nest.select(nest.writer.hint(value), a, b, c)


def unit_of(operand: Operand) -> str:
    """The LLVM type that a pointer operand's offsets count."""
    assert operand is not None
    pointer = element_of(operand.ty)
    assert isinstance(pointer, PointerType)
    return memory(pointer.element)


def addptr(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    base, offset = forms
    operand = value.op.operands[1]
    assert operand is not None
    offset = affine.resize(nest, offset, element_of(operand.ty).kind == "i", "i64")
    if isinstance(base, Pointer) and base.base.lanes and base.offset is not None:
        base = nest.addresses(base)
    if isinstance(base, Pointer):
        rest = base.offset or const("i64", 0)
        total, start = affine.add(nest, rest, offset), base.base
    else:
        total, start = offset, base
    assert isinstance(total, (Reg, Run))
    return Pointer(start, total, unit_of(value))


def program(nest: Nest, value: Value, index: Index, forms: list[Any]) -> Form:
    return Reg(f"%{value.op.name}.{value.op.attrs['axis']}", "i32")
