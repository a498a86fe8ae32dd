"""Matrix products: which operands lie where, and which kernel multiplies them.

An operand lies row-major in a buffer, or the product packs it itself, from memory, in the layout
that the kernel reads (`schedule/packing.py` decides that). In a loop that only accumulates, the
operands of several turns are packed side by side, and multiplied at once:

    for k: acc = dot(a, b, acc)      turn 0: pack     1: pack     2: pack     3: pack, multiply

so that the accumulators are read and written once in as many turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ...ir.nodes import Op, Value
from ...ir.types import I32, Element, element_of
from . import access, affine
from .code import Code, Reg, const
from .dot_kernel import DotEmitter, Product, column_tiles, lanes_of
from .dot_pack import either, minimum, pack_panels, pack_rows, quotient, unless_kept, when
from .dot_tiles import TileEmitter
from .dot_words import counted_loop, pack_left, pack_right
from .lower.words import Words, words_for
from .nest import ZERO, Home, Nest
from .operands import named, present, shape_at
from .region import FunctionEmitter
from .schedule.plan import Opaque, Packed
from .types import SIZES, arena


@dataclass(frozen=True, eq=False)
class Shape:
    """A product's extents, the elements of its operands and result, and its instruction."""

    m: int
    k: int
    n: int
    left: Element
    right: Element
    result: Element
    words: Words | None
    tiles: bool

    @property
    def type(self) -> str:
        return arena(self.result)

    @property
    def count(self) -> int:
        """Numbers along K in one element of the kernel's."""
        return self.words.count if self.words else 1

    @property
    def corrects(self) -> bool:
        """Whether a correction belongs to what is packed of the right operand."""
        return self.words is not None and self.words.count == 4 and not self.tiles


def shape_of_product(emitter: FunctionEmitter, op: Op) -> Shape:
    m, k = shape_at(op, 0)[-2:]
    n = shape_at(op, 1)[-1]
    left, right = (element_of(present(operand).ty) for operand in op.operands[:2])
    result = element_of(op.types[0])
    found = words_for(left, right, result, (m, n, k), emitter.writer.host)
    words, tiles = found if found else (None, False)
    return Shape(m, k, n, left, right, result, words, tiles)


def emit_dot(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """The accumulator lies in the result's home already."""
    body, shape = emitter.body_of(op), shape_of_product(emitter, op)
    if body.packs:
        return PackedProduct(emitter, code, body, shape).emit()
    left, right = (emitter.writer.homes[named(operand)] for operand in op.operands[:2])
    result, nest = emitter.place_of(op.results[0]), Nest(emitter.writer, [code])
    packed = Scratch.of(emitter, shape)

    def one(index: Reg) -> None:
        sizes = (shape.m * shape.k, shape.k * shape.n, shape.m * shape.n)
        homes = [_slice(nest, home, index, s) for home, s in zip((left, right, result), sizes)]
        _multiply(emitter, nest, shape, packed, homes)

    counted_loop(nest, 0, math.prod(shape_at(op, 0)[:-2]), 1, one)


@dataclass(frozen=True, eq=False)
class Scratch:
    """Where the words of the operands lie, and the correction of each column."""

    left: Home
    right: Home
    correction: Home

    @classmethod
    def of(cls, emitter: FunctionEmitter, shape: Shape) -> Scratch | None:
        if shape.words is None:
            return None
        words = shape.k // shape.count
        shapes = ((shape.m, words), (words, shape.n), (shape.n,))
        return cls(*(emitter.new_home(I32, extents, "words") for extents in shapes))


def _multiply(
    emitter: FunctionEmitter, nest: Nest, shape: Shape, packed: Scratch | None, homes: list[Home]
) -> None:
    """One product of operands that lie row-major in buffers."""
    left, right, result = homes
    if shape.words is None or packed is None:
        whole = (shape.k, 1)
        addresses = (left.address, right.address, result.address)
        k = const("i64", shape.k)
        return DotEmitter(nest, Product(shape.type, shape.m, shape.n, k, *addresses, whole)).emit()
    correction = packed.correction.address if shape.corrects else None
    pack_right(nest, shape.words, right, packed.right, correction, shape.k, shape.n)
    words = _left_words(nest, shape, left, packed.left, shape.k)
    k = const("i64", shape.k // shape.count)
    _multiply_words(emitter, nest, shape, words, packed.right.address, correction, result, k)


def _left_words(nest: Nest, shape: Shape, left: Home, words: Home, width: int) -> Home:
    """The words of the left operand's rows; bytes in a row are the matrix unit's words already."""
    assert shape.words is not None
    if shape.tiles and shape.count == 4:
        return left
    pack_left(nest, shape.words, left, words, shape.m * width, unsigned=not shape.tiles)
    return words


def _multiply_words(
    emitter: FunctionEmitter,
    nest: Nest,
    shape: Shape,
    left: Home,
    right: Reg,
    correction: Reg | None,
    result: Home,
    k: Reg,
) -> None:
    """One product of operands in words, by the matrix unit or by vectors; `k` counts words."""
    assert shape.words is not None
    row = left.shape[-1] // (shape.count if left.element != I32 else 1)
    if shape.tiles:
        prints = any(op.name == "print" for op in emitter.messages)
        addresses = (left.address, right, result.address)
        TileEmitter(nest, shape.words, addresses, (shape.m, shape.n, row), k).emit(prints)
        return
    product = Product(
        shape.type, shape.m, shape.n, k, left.address, right, result.address, (row, 1),
        words=shape.words, correction=correction,
    )  # fmt: skip
    DotEmitter(nest, product).emit()


def _slice(nest: Nest, home: Home, index: Reg, size: int) -> Home:
    """One product's part of a batch."""
    spot = affine.mul_scalars(nest, index, const("i64", size))
    address = access.at(nest, home.address, spot, arena(home.element))
    return Home(address, home.element, home.shape[-2:])


class PackedProduct:
    """One product that packs its right operand, or both, for as many turns as the plan says."""

    def __init__(self, emitter: FunctionEmitter, code: Code, body: Opaque, shape: Shape) -> None:
        self.emitter, self.code, self.body, self.shape = emitter, code, body, shape
        self.nest = Nest(emitter.writer, [code])
        self.packs = {packed.index: packed for packed in body.packs}
        self.turns = 1 if shape.corrects else body.turns
        self.turn = emitter.turns.get(emitter.region_of(body.op))
        number = self.turn.number if self.turn else ZERO
        self.number = number
        self.position = quotient(self.nest, number, self.turns, "urem")
        self.chunk = quotient(self.nest, number, self.turns, "udiv")

    @cached_property
    def depth(self) -> int:
        """K of all turns that are multiplied at once."""
        return self.turns * self.shape.k

    def emit(self) -> None:
        shape, nest, result = self.shape, self.nest, self.emitter.place_of(self.body.op.results[0])
        right, correction = self.right(self.packs[1])
        left = self.left()
        if self.turns == 1:
            return self.multiply(left, right, correction, result, const("i64", shape.k))
        assert self.turn is not None
        last = const("i64", self.turns - 1)
        full = nest.inst("full", "icmp eq", [self.position, last], "i1")
        after = affine.add_scalars(nest, self.number, const("i64", 1))
        ends = nest.inst("ends", "icmp eq", [after, self.turn.count], "i1")
        with when(self.emitter, self.code, either(nest, full, ends), self.body.op):
            turns = affine.add_scalars(nest, self.position, const("i64", 1))
            k = affine.mul_scalars(nest, turns, const("i64", shape.k))
            self.multiply(left, right, correction, result, k)

    def multiply(
        self,
        operand: tuple[Home, tuple[int, int]],
        right: Reg,
        correction: Reg | None,
        result: Home,
        k: Reg,
    ) -> None:
        shape, nest, (left, strides) = self.shape, self.nest, operand
        if shape.words is None:
            addresses = (left.address, right, result.address)
            product = Product(
                shape.type, shape.m, shape.n, k, *addresses, strides, depth=self.depth
            )
            return DotEmitter(nest, product).emit()
        scratch = self.emitter.new_home(I32, (shape.m, left.shape[-1] // shape.count), "words")
        words = _left_words(nest, shape, left, scratch, left.shape[-1])
        k = quotient(nest, k, shape.count, "udiv")
        _multiply_words(self.emitter, nest, shape, words, right, correction, result, k)

    def left(self) -> tuple[Home, tuple[int, int]]:
        """The left operand and its strides: a buffer, or what was packed for all turns that are
        multiplied at once.
        """
        packed, shape = self.packs.get(0), self.shape
        if packed is None:
            return self.emitter.writer.homes[named(self.body.op.operands[0])], (shape.k, 1)
        type_ = arena(shape.left)
        base = self.emitter.kept_memory(shape.m * self.depth, type_, packed.layout)
        first = affine.mul_scalars(self.nest, self.position, const("i64", shape.k))
        if packed.layout == "columns" and shape.words is None:
            source = packed.value.op.operands[0]
            assert isinstance(source, Value)
            row = affine.mul_scalars(self.nest, first, const("i64", shape.m))
            at = access.at(self.nest, base, row, type_)
            pack_rows(self.emitter, self.code, source, at, shape.m, ZERO)
            return Home(base, shape.left, (self.depth, shape.m)), (1, shape.m)
        pack_rows(self.emitter, self.code, packed.value, base, self.depth, first)
        return Home(base, shape.left, (shape.m, self.depth)), (self.depth, 1)

    def right(self, packed: Packed) -> tuple[Reg, Reg | None]:
        """Where the right operand is, packed now or kept, and its correction."""
        shape, nest, emitter = self.shape, self.nest, self.emitter
        places = packed.places * self.body.turns // self.turns
        type_ = "i32" if shape.words else shape.type
        size = self.depth // shape.count * shape.n
        whole = size + (shape.n if shape.corrects else 0)
        whole += -whole % (64 // SIZES[type_])
        memory = emitter.kept_memory((places + 1) * whole, type_, "panels")
        place = affine.mul_scalars(nest, minimum(nest, self.chunk, places), const("i64", whole))
        base = access.at(nest, memory, place, type_)
        correction = access.at(nest, base, const("i64", size), type_) if shape.corrects else None
        if not packed.places:
            self.pack(packed, base, correction)
            return base, correction
        turns = packed.places * self.body.turns
        with unless_kept(emitter, self.code, packed.keys, self.number, turns):
            self.pack(packed, base, correction)
        return base, correction

    def pack(self, packed: Packed, base: Reg, correction: Reg | None) -> None:
        """The right operand of this turn, into panels or words."""
        shape, nest, emitter = self.shape, self.nest, self.emitter
        row = affine.mul_scalars(nest, self.position, const("i64", shape.k // shape.count))
        if shape.words is None:
            tiles = column_tiles(shape.n, lanes_of(emitter.writer.host, shape.type))
            return pack_panels(emitter, self.code, packed.value, base, tiles, self.depth, row)
        rows = emitter.new_home(shape.right, (shape.k, shape.n), "rows")
        pack_rows(emitter, self.code, packed.value, rows.address, shape.n, ZERO)
        place = affine.mul_scalars(nest, row, const("i64", shape.n))
        words = Home(access.at(nest, base, place, "i32"), I32, (shape.k // shape.count, shape.n))
        pack_right(nest, shape.words, rows, words, correction, shape.k, shape.n)
