"""Reductions and scans that must keep their order, and functions with control flow: along an axis,
element by element.

A block is outer x axis x inner. The lanes go over what is inside the axis, the axis is a
loop in the body of the nest; so the order is kept and any combining region works. Where nothing is
inside, a reduction takes the axis in vectors and combines neighbours, which keeps the order too:

    x0 x1 x2 x3 x4 x5 x6 x7  →  x0·x1 x2·x3 x4·x5 x6·x7  →  x0·x1·x2·x3 …
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...ir.nodes import Const, Op, Region
from ...ir.types import element_of, shape_of
from . import access, affine
from .code import Code, Reg, const
from .combine import apply, straight
from .loops import NestEmitter, stitch
from .lowering import Index, RootEmission
from .nest import Form, Home, Nest, Run
from .operands import named, present, shape_at
from .region import FunctionEmitter
from .roots import Custom
from .schedule.plan import LoopNest, Root
from .segments import Stitch
from .sums import Sums
from .types import SIZES, arena, full

Perform = Callable[[Nest, Root, Index, list[Any]], None]


@dataclass(eq=False)
class Axis:
    """A block as outer x extent x inner."""

    outer: int
    extent: int
    inner: int


def split_at(shape: tuple[int, ...], axis: int) -> Axis:
    return Axis(math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))


@dataclass(frozen=True, eq=False)
class Work(Custom):
    """A root that does something along an axis at each (outer, inner) index."""

    emitter: Any = None
    axis_of: Axis = field(default_factory=lambda: Axis(1, 1, 1))


def run_along(
    emitter: FunctionEmitter, code: Code, op: Op, perform: Perform, axis: Axis, one: bool
) -> None:
    """A nest over (outer, inner) that does one thing at each index."""
    shape = (axis.outer, axis.inner)
    emission = RootEmission(_nothing, perform)
    root = Work("along", op, (), shape, emission=emission, emitter=emitter, axis_of=axis)
    loops = LoopNest(shape, (root,), single=one or axis.inner == 1, cost=100)
    NestEmitter(emitter.writer, code, loops, emitter.places).emit()


def offset(nest: Nest, axis: Axis, index: Index, place: Form) -> Form:
    """The row-major place of an element along the axis."""
    outer, inner = index
    row = affine.mul(nest, outer, const("i64", axis.extent * axis.inner))
    step = affine.mul(nest, place, const("i64", axis.inner))
    start = affine.add(nest, row, step)
    return affine.add(nest, start, inner) if axis.inner > 1 else start


def homes_of(nest: Nest, op: Op) -> list[Home]:
    return [nest.writer.homes[named(operand)] for operand in op.operands]


def fetch_all(nest: Nest, op: Op, place: Form) -> list[Reg]:
    return [nest.wide(access.fetch_at(nest, home, place)) for home in homes_of(nest, op)]


def combine(work: Work, nest: Nest, region: Region, forms: Sequence[Form]) -> list[Reg]:
    """The region on vectors, or lane by lane where it has control flow."""
    if straight(nest.writer.lowerings, region):
        return [nest.wide(form) for form in apply(nest, region, forms)]
    scalars = [nest.extract(nest.wide(form), 0) for form in forms]
    results = run_region(work.emitter, nest, region, scalars)
    return [nest.wide(result) for result in results]


def run_region(
    emitter: FunctionEmitter, nest: Nest, region: Region, scalars: Sequence[Reg]
) -> list[Reg]:
    """A region of scalars at the end of the innermost code, which is level 0 of its own nests."""
    code, level = nest.codes[-1], len(nest.codes) - 1
    given = [replace(reg, level=0) for reg in scalars]
    emitter.writer.scalars.update(zip(region.params, given, strict=True))
    emitter.emit(code, region, emitter.plan(region))
    inner = Nest(emitter.writer, [code])
    found = [emitter.register(inner, result) for result in region.results]
    return [Reg(reg.text, reg.type, 0, level, reg.constant) for reg in found]


def loop_from_one(
    work: Work, nest: Nest, index: Index, carry: Sums, reverse: bool, keeps: bool
) -> None:
    """Combines elements 1 … extent-1 of the axis with what is carried; keeps each if asked to."""
    op, axis = work.op, work.axis_of
    assert op is not None
    header, name = nest.writer.names.fresh("along"), nest.writer.names.fresh("k")
    nest.codes.append(Code(header))
    level = len(nest.codes) - 1
    place: Form = Reg(f"%{name}", "i64", 0, level)
    if reverse:
        place = affine.add(nest, const("i64", axis.extent - 1), affine.negate(nest, place))
    spot = offset(nest, axis, index, place)
    olds = [Reg(f"%{n}", t, nest.lanes, level) for n, t in zip(carry.names, carry.types)]
    carry.nexts = combine(work, nest, op.regions[0], [*olds, *fetch_all(nest, op, spot)])
    if keeps:
        keep_all(nest, op, spot, carry.nexts)
    body = nest.codes.pop()
    loop = Stitch(header, name, body, const("i64", 1), const("i64", axis.extent), 1)
    carry.start_from(None)
    stitch(nest.writer, nest.codes[-1], loop, [carry])
    carry.settle(len(nest.codes) - 1)


def keep_all(nest: Nest, op: Op, spot: Form, values: Sequence[Reg]) -> None:
    for result, value in zip(op.results, values, strict=True):
        home = nest.places[result]
        access.keep(nest, home.address, home.element, spot, value)


def _first(work: Work, nest: Nest, index: Index, reverse: bool) -> tuple[Form, Sums]:
    op = work.op
    assert op is not None
    start = const("i64", work.axis_of.extent - 1 if reverse else 0)
    spot = offset(nest, work.axis_of, index, start)
    starts = fetch_all(nest, op, spot)
    names = [nest.writer.names.fresh("acc") for _ in starts]
    return spot, Sums(op, names, [reg.type for reg in starts], nest.lanes, starts)


def _scan(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    assert isinstance(root, Work) and root.op is not None
    reverse = bool(root.op.attribute("reverse"))
    spot, carry = _first(root, nest, index, reverse)
    keep_all(nest, root.op, spot, carry.starts)
    if root.axis_of.extent > 1:
        loop_from_one(root, nest, index, carry, reverse, True)


def _fold(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    assert isinstance(root, Work) and root.op is not None
    chunk = _chunk(root, nest)
    if chunk > 1:
        totals = _fold_vectors(root, nest, index, chunk)
    else:
        _, carry = _first(root, nest, index, False)
        carry.totals = carry.starts
        if root.axis_of.extent > 1:
            loop_from_one(root, nest, index, carry, False, False)
        totals = carry.totals
    _put(root, nest, index, totals)


def _put(work: Work, nest: Nest, index: Index, totals: Sequence[Reg]) -> None:
    """A result per (outer, inner) index, or the one scalar."""
    outer, inner = index
    op = work.op
    assert op is not None
    for result, total in zip(op.results, totals, strict=True):
        if not shape_of(result.ty):
            scalar = nest.extract(total, 0) if total.lanes else total
            nest.writer.scalars[result] = Reg(scalar.text, scalar.type)
            continue
        home = nest.places[result]
        spot = affine.mul(nest, outer, const("i64", work.axis_of.inner))
        spot = affine.add(nest, spot, inner) if work.axis_of.inner > 1 else spot
        access.keep(nest, home.address, home.element, spot, total)


def _chunk(work: Work, nest: Nest) -> int:
    """How many neighbours along the axis are combined as one vector; 1: none."""
    axis, op = work.axis_of, work.op
    assert op is not None
    if axis.inner > 1 or not straight(nest.writer.lowerings, op.regions[0]):
        return 1
    size = max(element_of(present(operand).ty).itemsize for operand in op.operands)
    chunk = 4 * nest.writer.host.vector_bytes // max(size, 4)
    while chunk > axis.extent:
        chunk //= 2
    return chunk


def _fold_vectors(work: Work, nest: Nest, index: Index, chunk: int) -> list[Reg]:
    """Whole chunks in a loop, then what is left in halves, in order."""
    op, axis = work.op, work.axis_of
    assert op is not None
    turns = axis.extent // chunk
    starts = _chunk_at(work, nest, index, const("i64", 0), chunk)
    names = [nest.writer.names.fresh("acc") for _ in starts]
    carry = Sums(op, names, [reg.type for reg in starts], 0, starts)
    carry.totals = starts
    if turns > 1:
        _chunk_loop(work, nest, index, carry, chunk)
    done, width = turns * chunk, chunk
    while done < axis.extent:
        width //= 2
        if done + width <= axis.extent:
            part = _chunk_at(work, nest, index, const("i64", done), width)
            carry.totals = _scalars(nest, op.regions[0], [*carry.totals, *part])
            done += width
    return carry.totals


def _chunk_loop(work: Work, nest: Nest, index: Index, carry: Sums, chunk: int) -> None:
    header, name = nest.writer.names.fresh("along"), nest.writer.names.fresh("k")
    nest.codes.append(Code(header))
    level = len(nest.codes) - 1
    part = _chunk_at(work, nest, index, Reg(f"%{name}", "i64", 0, level), chunk)
    assert work.op is not None
    olds = [Reg(f"%{n}", t, 0, level) for n, t in zip(carry.names, carry.types)]
    carry.nexts = _scalars(nest, work.op.regions[0], [*olds, *part])
    body = nest.codes.pop()
    end = work.axis_of.extent // chunk * chunk
    carry.start_from(None)
    loop = Stitch(header, name, body, const("i64", chunk), const("i64", end), chunk)
    stitch(nest.writer, nest.codes[-1], loop, [carry])
    carry.settle(len(nest.codes) - 1)


def _scalars(nest: Nest, region: Region, forms: Sequence[Form]) -> list[Reg]:
    results = []
    for form in apply(nest, region, forms):
        assert isinstance(form, Reg)
        results.append(form)
    return results


def _chunk_at(work: Work, nest: Nest, index: Index, place: Form, width: int) -> list[Reg]:
    """One chunk combined to a scalar: neighbours with neighbours."""
    op, level = work.op, len(nest.codes) - 1
    assert op is not None
    spot = offset(nest, work.axis_of, index, place)
    if isinstance(spot, Run):  # the lane loop goes over the outer axes, one at a time
        spot = nest.extract(nest.wide(spot), 0)
    assert isinstance(spot, Reg)
    values = [_load_chunk(nest, home, spot, width, level) for home in homes_of(nest, op)]
    lanes, valid = nest.lanes, nest.version.tail_mask
    nest.version.tail_mask = None
    while width > 1:
        width //= 2
        evens = [_every_other(nest, value, width, 0) for value in values]
        odds = [_every_other(nest, value, width, 1) for value in values]
        nest.lanes = width
        values = [nest.wide(form) for form in apply(nest, op.regions[0], [*evens, *odds])]
    nest.lanes, nest.version.tail_mask = lanes, valid
    return [nest.extract(value, 0) for value in values]


def _load_chunk(nest: Nest, home: Home, spot: Reg, width: int, level: int) -> Reg:
    type_ = arena(home.element)
    address = access.at(nest, home.address, spot, type_)
    text = f"load {full(type_, width)}, {address.typed}, align {SIZES[type_]}"
    value = nest.put(level, "chunk", text, type_, width)
    if home.element.kind == "b":
        return nest.inst("true", "icmp ne", [value, nest.zero("i8", width)], "i1")
    return value


def _every_other(nest: Nest, value: Reg, width: int, first: int) -> Reg:
    numbers = ", ".join(f"i32 {2 * lane + first}" for lane in range(width))
    text = f"shufflevector {value.typed}, {value.full} poison, <{width} x i32> <{numbers}>"
    return nest.put(value.level, "half", text, value.type, width)


def _map(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    """One element: the region with its control flow."""
    assert isinstance(root, Work) and root.op is not None
    op = root.op
    scalars = []
    for operand in op.operands:
        assert operand is not None
        home = None if isinstance(operand, Const) else nest.writer.homes.get(operand)
        if home is None:
            scalars.append(root.emitter.register(Nest(nest.writer, [nest.codes[-1]]), operand))
            continue
        reg = access.fetch_at(nest, home, _stretched(nest, home, op, index))
        scalars.append(nest.extract(nest.wide(reg), 0))
    results = run_region(root.emitter, nest, op.regions[0], scalars)
    keep_all(nest, op, index[0], results)


def _stretched(nest: Nest, home: Home, op: Op, index: Index) -> Form:
    """The place in an operand that may have extents of 1 where the result has more."""
    shape, place = shape_of(op.types[0]), index[0]
    if home.shape == shape:
        form: Form = place
        return form
    total, rest = const("i64", 0), place
    for extent, own, stride in reversed(list(zip(shape, home.shape, home.strides, strict=True))):
        part = nest.inst("part", "urem", [rest, const("i64", extent)])
        rest = nest.inst("rest", "udiv", [rest, const("i64", extent)])
        if own > 1:
            total = affine.add_scalars(
                nest, total, affine.mul_scalars(nest, part, const("i64", stride))
            )
    return total


def _nothing(nest: Nest, root: Root, index: Index) -> list[Any]:
    return []


def emit_fold(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    _along(emitter, code, op, _fold)


def emit_scan(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    _along(emitter, code, op, _scan)


def _along(emitter: FunctionEmitter, code: Code, op: Op, perform: Perform) -> None:
    axis = split_at(shape_at(op, 0), op.attrs["axis"])
    for result in op.results:
        if shape_of(result.ty):
            emitter.place_of(result)
    one = not straight(emitter.writer.lowerings, op.regions[0])
    run_along(emitter, code, op, perform, axis, one)


def emit_map(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    for result in op.results:
        emitter.place_of(result)
    run_along(emitter, code, op, _map, Axis(math.prod(shape_of(op.types[0])), 1, 1), True)
