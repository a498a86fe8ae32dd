"""Ops that rearrange elements: some only rename them, the others go through shared memory.

Where each element stays in its thread, a change of shape is a change of layout and prints nothing:
a transpose permutes the bits of an index, a reshape of powers of two keeps them, a split fixes the
last one. Anything else writes the block to shared memory and reads it in another order.
"""

from __future__ import annotations

from math import prod

from ....ir.nodes import Op, Value
from ....ir.types import VectorType, element_of, shape_of
from ....layouts.linear import Layout, Shape, padded, ravel, unravel
from .emitter import Emitter, Remake, Rule
from .held import Address, Held
from .linear import Register, enclosed

# -- layouts of the operand and the result of an op that only renames


def is_relabelling(op: Op) -> bool:
    """Whether the op (a reshape, a cat) keeps each element's index, padding included."""
    old, new = (shape_of(ty) for ty in (_operand_type(op), op.types[0]))
    if op.name == "cat":
        axis = op.attribute("axis")
        halves = all(extent == other for extent, other in zip(old, shape_of(_operand_type(op, 1))))
        return halves and padded(old)[axis] == old[axis]
    if padded(old) == old and padded(new) == new:
        return True
    return [n for n in old if n != 1] == [n for n in new if n != 1]


def _operand_type(op: Op, index: int = 0) -> VectorType:
    operand = op.operands[index]
    assert operand is not None and isinstance(operand.ty, VectorType)
    return operand.ty


def doubled(layout: Layout, shape: Shape) -> Layout:
    """A layout with a new last axis of 2, in the lowest register bit."""
    register, lane, warp = (
        tuple(base << 1 for base in part) for part in (layout.register, layout.lane, layout.warp)
    )
    return Layout(shape, (1, *register), lane, warp)


def halved(layout: Layout, axis: int) -> Layout:
    """The layout of either half of a block along an axis, without the axis's highest bit."""
    extent = layout.shape[axis] // 2
    shape = (*layout.shape[:axis], extent, *layout.shape[axis + 1 :])

    def cut(base: int) -> int:
        at = list(unravel(base, layout.shape))
        at[axis] &= extent - 1
        return ravel(at, shape)

    return layout.mapped(cut, shape)


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes an order of axes."""
    return tuple(order.index(axis) for axis in range(len(order)))


# -- ops that only rename


def trans(emitter: Emitter, value: Value, layout: Layout) -> Held | Address:
    order = inverse(tuple(value.op.attribute("order")))
    return relaid(emitter.lookup(value.op.operands[0], layout.transpose(order)), layout)


def reshape(emitter: Emitter, value: Value, layout: Layout) -> Held | Address:
    (operand,) = value.op.operands
    assert operand is not None
    if not shape_of(operand.ty):
        return emitter.lookup(operand, layout)
    given = layout.reshape(padded(shape_of(operand.ty)))
    return relaid(emitter.lookup(operand, given), layout)


def relaid(held: Held | Address, layout: Layout) -> Held | Address:
    """The same registers under the name of another layout."""
    if isinstance(held, Address):
        return held.with_parts([_relaid(part, layout) for part in held.parts])
    return _relaid(held, layout)


def _relaid(held: Held, layout: Layout) -> Held:
    if not held.layout.shape:
        return held
    return Held(held.name, layout, held.count, held.select, held.first)


def join(emitter: Emitter, value: Value, layout: Layout) -> Held:
    """The last coordinate chooses the operand."""
    last = len(layout.shape) - 1
    left, right = (emitter.get(o, layout.without(last)) for o in value.op.operands)

    def compute(r: Register) -> str:
        which = enclosed(emitter.coordinate(layout, last, r))
        return f"({which} ? {right.at(r)} : {left.at(r)})"

    return emitter.assign(value, layout, compute)


def split(emitter: Emitter, value: Value, layout: Layout) -> Held:
    """One half of registers that hold both."""
    (operand,) = value.op.operands
    held = emitter.get(operand, doubled(layout, (*layout.shape, 2)))
    if held.count == 1:
        return _relaid(held, layout)
    first = held.first ^ (held.select[0] if value.index else 0)
    return Held(held.name, layout, held.count, held.select[1:], first)


def cat(emitter: Emitter, value: Value, layout: Layout) -> Held:
    """The highest bit of the coordinate chooses the operand."""
    axis = value.op.attribute("axis")
    half = layout.shape[axis] // 2
    left, right = (emitter.get(o, halved(layout, axis)) for o in value.op.operands)

    def compute(r: Register) -> str:
        which = enclosed(emitter.coordinate(layout, axis, r))
        return f"({which} & {half} ? {right.at(r)} : {left.at(r)})"

    return emitter.assign(value, layout, compute)


# -- ops that go through shared memory


def row_major(emitter: Emitter, layout: Layout, shape: Shape, r: Register) -> str:
    """The row-major index, in the shape itself, of a register's element."""
    if padded(shape) == shape:
        return emitter.index(layout, r)
    terms, stride = [], prod(shape)
    for axis, extent in enumerate(shape):
        stride //= extent
        at = enclosed(emitter.coordinate(layout, axis, r))
        if at != "0":
            terms.append(at if stride == 1 else f"{at} * {stride}")
    return " + ".join(terms) or "0"


def written(emitter: Emitter, op: Op, index: int, start: int = 0) -> int:
    """Writes an operand to shared memory in row-major order, from a byte on; the byte past it."""
    operand = op.operands[index]
    assert operand is not None
    layout = emitter.home(operand)
    held, shape = emitter.get(operand, layout), shape_of(operand.ty)
    element = element_of(operand.ty)
    with emitter.registers(layout) as r:
        inside = [] if padded(shape) == shape else emitter.valid(shape, layout, r)
        with emitter.guarded([*inside, *emitter.owner(layout)]):
            at = row_major(emitter, layout, shape, r)
            emitter.scratch.write(element, start, at, held.at(r))
    return start + prod(shape) * emitter.scratch.size(element)


def rearranged(emitter: Emitter, op: Op) -> None:
    """A reshape that moves elements: the same row-major order, read under the other shape."""
    _through(emitter, op)
    (value,), shape = op.results, shape_of(op.types[0])
    emitter.read(value, lambda layout, r: row_major(emitter, layout, shape, r))


def _through(emitter: Emitter, op: Op) -> None:
    """Writes the first operand to shared memory, for all threads to read."""
    (operand, *_) = op.operands
    assert operand is not None
    element = element_of(operand.ty)
    emitter.bring_home(operand)
    emitter.scratch.reserve(prod(shape_of(operand.ty)) * emitter.scratch.size(element))
    written(emitter, op, 0)
    emitter.scratch.share()


def slice_block(emitter: Emitter, op: Op) -> None:
    """The part of a shape at a constant place."""
    _through(emitter, op)
    (value,), starts = op.results, op.attribute("starts")
    whole = shape_of(_operand_type(op))

    def at(layout: Layout, r: Register) -> str:
        terms, stride = [], prod(whole)
        for axis, extent in enumerate(whole):
            stride //= extent
            place = enclosed(emitter.coordinate(layout, axis, r))
            terms.append(f"({place} + {starts[axis]}) * {stride}")
        return " + ".join(terms)

    emitter.read(value, at)


def gather(emitter: Emitter, op: Op) -> None:
    """Elements picked along an axis; an index outside takes the nearest."""
    (value,), axis = op.results, op.attribute("axis")
    whole = shape_of(_operand_type(op))
    index = emitter.get(op.operands[1], emitter.home(value))
    _through(emitter, op)

    def at(layout: Layout, r: Register) -> str:
        terms, stride = [], prod(whole)
        for place, extent in enumerate(whole):
            stride //= extent
            here = enclosed(emitter.coordinate(layout, place, r))
            if place == axis:
                here = (
                    f"(int)minimum<long long>(maximum<long long>({index.at(r)}, 0), {extent - 1})"
                )
            terms.append(f"{here} * {stride}")
        return " + ".join(terms)

    emitter.read(value, at)


def concatenate(emitter: Emitter, op: Op) -> None:
    """Two blocks one after the other in shared memory, read where the coordinate falls."""
    (value,), axis = op.results, op.attribute("axis")
    first, second = shape_of(_operand_type(op)), shape_of(_operand_type(op, 1))
    element = element_of(value.ty)
    emitter.bring_home(*op.operands)
    emitter.scratch.reserve((prod(first) + prod(second)) * emitter.scratch.size(element))
    start = written(emitter, op, 0)
    written(emitter, op, 1, start)
    emitter.scratch.share()

    def at(layout: Layout, r: Register) -> str:
        along = enclosed(emitter.coordinate(layout, axis, r))
        left = _place(emitter, layout, first, r, axis, along)
        right = _place(emitter, layout, second, r, axis, f"({along} - {first[axis]})")
        return f"({along} < {first[axis]} ? {left} : {prod(first)} + {right})"

    emitter.read(value, at)


def _place(
    emitter: Emitter, layout: Layout, shape: Shape, r: Register, axis: int, along: str
) -> str:
    """The row-major index in a shape, with a coordinate of its own along one axis."""
    terms, stride = [], prod(shape)
    for place, extent in enumerate(shape):
        stride //= extent
        here = along if place == axis else enclosed(emitter.coordinate(layout, place, r))
        terms.append(f"{here} * {stride}")
    return " + ".join(terms)


REMAKE: dict[str, Remake] = {
    "trans": trans,
    "reshape": reshape,
    "join": join,
    "split": split,
    "cat": cat,
}
RULES: dict[str, Rule] = {
    "reshape": rearranged,
    "cat": concatenate,
    "slice": slice_block,
    "gather": gather,
}
