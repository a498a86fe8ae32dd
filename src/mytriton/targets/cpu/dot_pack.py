"""The operands that a product packs itself, and what it keeps of them for later programs.

A block is evaluated by a loop nest of its own, straight into the layout that the micro-kernel
reads. What is kept lies in a part of the arena that nothing else uses. Before it, for each place, a
row of 64-bit numbers: whether the place is filled, and the keys under which it was:

    places   0: 1 | key key     1: 1 | key key     2: 0 | - -     …     one place for later turns

A launch starts, on each thread, with all places empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...ir.nodes import Op, Value
from ...ir.types import element_of, shape_of
from . import access, affine
from .code import Code, Reg, const
from .dot_kernel import ColumnTiles
from .loops import NestEmitter
from .lowering import Index, RootEmission
from .nest import Access, Form, Nest, Pointer
from .pointwise import evaluate, fit
from .region import FunctionEmitter
from .roots import Custom
from .schedule import finish
from .schedule.plan import LoopNest, Named, Root
from .types import SIZES

Place = Callable[[Nest, Index], Form]
"""Where an index of a packing nest goes, in elements."""


def minimum(nest: Nest, a: Reg, b: int) -> Reg:
    if a.constant is not None:
        return const("i64", min(int(a.constant), b))
    return nest.call("place", "llvm.umin", [a, const("i64", b)])


def quotient(nest: Nest, a: Reg, b: int, opcode: str) -> Reg:
    """`udiv` or `urem` of an i64 by a constant."""
    if a.constant is not None:
        return const("i64", int(a.constant) // b if opcode == "udiv" else int(a.constant) % b)
    if b == 1:
        return a if opcode == "udiv" else const("i64", 0)
    return nest.inst("part", opcode, [a, const("i64", b)])


@contextmanager
def unless_kept(
    emitter: FunctionEmitter, code: Code, keys: Sequence[Named], place: Reg, places: int
) -> Iterator[None]:
    """What is emitted inside runs unless the place was filled under the same keys before."""
    nest, fresh = Nest(emitter.writer, [code]), emitter.writer.names.fresh
    width = len(keys) + 1
    table = emitter.kept_memory((places + 1) * width, "i64", "kept", cleared=True)
    inside = const("i64", int(places > 0))
    if place.constant is None:
        inside = nest.inst("inside", "icmp ult", [place, const("i64", places)], "i1")
        inside = nest.convert("inside", "zext", inside, "i64")
    row = affine.mul_scalars(nest, minimum(nest, place, places), const("i64", width))
    at = access.at(nest, table, row, "i64")
    wanted = [inside, *(_as_number(nest, emitter.writer.scalars[key]) for key in keys)]
    cells = [access.at(nest, at, const("i64", n), "i64") for n in range(width)]
    found = [nest.put(0, "key", f"load i64, {cell.typed}, align 8", "i64") for cell in cells]
    hit = nest.inst("hit", "icmp ne", [found[0], const("i64", 0)], "i1")
    for old, new in zip(found[1:], wanted[1:], strict=True):
        same = nest.inst("same", "icmp eq", [old, new], "i1")
        hit = nest.inst("hit", "and", [hit, same])
    pack, done = fresh("pack"), fresh("packed")
    code.add(f"br i1 {hit.text}, label %{done}, label %{pack}")
    code.start(pack)
    yield
    for cell, new in zip(cells, wanted, strict=True):
        code.add(f"store {new.typed}, {cell.typed}, align 8")
    code.branch(done)


def _as_number(nest: Nest, reg: Reg) -> Reg:
    """The bits of a scalar, in an i64."""
    if reg.type == "i64":
        return reg
    if reg.type == "ptr":
        return nest.convert("key", "ptrtoint", reg, "i64")
    if reg.type in ("float", "double"):
        reg = nest.convert("bits", "bitcast", reg, f"i{8 * SIZES[reg.type]}")
    return reg if reg.type == "i64" else nest.convert("key", "zext", reg, "i64")


def pack_panels(
    emitter: FunctionEmitter,
    code: Code,
    value: Value,
    base: Reg,
    tiles: Sequence[ColumnTiles],
    depth: int,
    row: Reg,
) -> None:
    """Evaluates a block into panels of `depth` rows, from a row on."""
    rows = shape_of(value.ty)[0]
    for part in tiles:

        def column(nest: Nest, index: Index, part: ColumnTiles = part) -> Index:
            k, tile, lane = index
            start = affine.add(nest, affine.mul(nest, tile, const("i64", part.width)), lane)
            return (k, affine.add(nest, start, const("i64", part.start)))

        def place(nest: Nest, index: Index, part: ColumnTiles = part) -> Form:
            k, tile, lane = index
            panel = affine.mul(nest, tile, const("i64", part.width * depth))
            line = affine.mul(nest, affine.add(nest, row, k), const("i64", part.width))
            total = affine.add(nest, affine.add(nest, panel, line), lane)
            return affine.add(nest, total, const("i64", part.start * depth))

        _pack(emitter, code, value, base, (rows, part.count, part.width), column, place)


def pack_rows(
    emitter: FunctionEmitter, code: Code, value: Value, base: Reg, width: int, column: Reg
) -> None:
    """Evaluates a block into rows of `width` elements, from a column on."""

    def place(nest: Nest, index: Index) -> Form:
        row, lane = index
        start = affine.add(nest, affine.mul(nest, row, const("i64", width)), column)
        return affine.add(nest, start, lane)

    _pack(emitter, code, value, base, shape_of(value.ty), lambda nest, index: index, place)


def _pack(
    emitter: FunctionEmitter,
    code: Code,
    value: Value,
    base: Reg,
    shape: tuple[int, ...],
    index_of: Callable[[Nest, Index], Index],
    place_of: Place,
) -> None:
    """A nest over a shape that evaluates a block at an index of it and writes it to a place."""
    element = element_of(value.ty)

    def prepare(nest: Nest, root: Root, index: Index) -> list[Any]:
        return [evaluate(nest, value, fit(value, index_of(nest, index))), place_of(nest, index)]

    def perform(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
        held, offset = forms
        kind = access.class_of(nest, Pointer(base, offset, ""))
        nest.note(Access("write", value, kind, False))
        access.keep(nest, base, element, offset, held)

    writer = emitter.writer
    values, _ = finish.evaluate(writer.lowerings, (value,), writer.homes.__contains__)
    cost = sum(writer.lowerings.cost(part.op) for part in values)
    root = Custom("pack", None, (value,), shape, emission=RootEmission(prepare, perform))
    loops = LoopNest(shape, (root,), values=tuple(values), cost=cost)
    NestEmitter(writer, code, loops, {}).emit()


def either(nest: Nest, one: Reg, other: Reg) -> Reg:
    """Whether one of two conditions holds."""
    return nest.inst("either", "or", [one, other])


@contextmanager
def when(emitter: FunctionEmitter, code: Code, condition: Reg, op: Op) -> Iterator[None]:
    """What is emitted inside runs where a condition holds."""
    inside, after = emitter.writer.names.fresh(op.name), emitter.writer.names.fresh("after")
    code.add(f"br i1 {condition.text}, label %{inside}, label %{after}")
    code.start(inside)
    yield
    code.branch(after)
