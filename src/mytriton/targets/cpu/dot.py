"""Matrix products: a register-blocked kernel over operands in the arena.

A tile of the result (a few rows by a few vectors) stays in registers while the loop over
K adds one row of B times one column of A to it. The tile is read from and written to the result's
home, so a product that accumulates over an outer loop stays in place. Extents that a tile does not
divide get smaller tiles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from ...ir.nodes import Op
from ...ir.types import I32
from . import access, affine
from .code import Code, Reg, const
from .dot_tiles import TileEmitter
from .dot_words import counted_loop, multiply_add, pack_left, pack_right
from .loops import stitch
from .lower.words import Words, words_for
from .lowering import CALLBACKS
from .nest import ZERO, Home, Nest
from .operands import named, shape_at
from .region import FunctionEmitter
from .segments import Stitch
from .sums import Sums
from .types import SIZES, arena, full


@dataclass(frozen=True)
class Tile:
    """Rows, and vectors of lanes, of the result that are held in registers."""

    rows: int
    vectors: int
    lanes: int


@dataclass(frozen=True, eq=False)
class Product:
    """One dot: its homes (a batch at a time), and its extents."""

    left: Home
    right: Home
    result: Home
    m: int
    n: int
    k: int
    words: Words | None = None
    """The operands are words of several numbers, and `k` counts words."""
    correction: Home | None = None
    """What is taken off each column's accumulators."""

    @property
    def type(self) -> str:
        return arena(self.result.element)

    @property
    def operand_type(self) -> str:
        return "i32" if self.words else self.type


def column_tiles(n: int, lanes: int) -> list[tuple[int, int, int, int]]:
    """(first column, number of tiles, vectors, lanes) that cover n columns."""
    parts, start = [], 0
    for vectors, width in [(2, lanes), (1, lanes)]:
        count = (n - start) // (vectors * width)
        if count:
            parts.append((start, count, vectors, width))
            start += count * vectors * width
    while start < n:
        lanes //= 2
        if n - start >= lanes:
            parts.append((start, 1, 1, lanes))
            start += lanes
    return parts


def row_tiles(m: int, rows: int) -> list[tuple[int, int, int]]:
    """(first row, number of tiles, rows) that cover m rows."""
    tiles = -(-m // rows)
    each = -(-m // tiles)
    whole = m // each
    parts = [(0, whole, each)]
    if m % each:
        parts.append((whole * each, 1, m % each))
    return parts


class DotEmitter:
    """Emits one product into the code around it."""

    def __init__(self, nest: Nest, product: Product) -> None:
        self.nest = nest
        self.product = product

    def emit(self) -> None:
        host, product = self.nest.writer.host, self.product
        lanes = host.vector_bytes // SIZES[product.type]
        height = 12 if host.registers >= 32 else 4
        for start, count, vectors, width in column_tiles(product.n, lanes):
            for first, number, rows in row_tiles(product.m, height):
                tile = Tile(rows, vectors, width)

                def row_loop(column: Reg, first: int, number: int, tile: Tile) -> None:
                    counted_loop(
                        self.nest, first, number, tile.rows, partial(self.tile, tile, column)
                    )

                body = partial(row_loop, first=first, number=number, tile=tile)
                counted_loop(self.nest, start, count, vectors * width, body)

    def address(self, home: Home, row: Reg, column: Reg, width: int) -> Reg:
        nest = self.nest
        place = affine.mul_scalars(nest, row, const("i64", width))
        spot = affine.add_scalars(nest, place, column)
        return access.at(nest, home.address, spot, self.product.type)

    def tile(self, tile: Tile, column: Reg, row: Reg) -> None:
        """One tile of the result: read, K times added to, written."""
        nest, product = self.nest, self.product
        corners = [
            self.address(
                product.result, affine.add_scalars(nest, row, const("i64", r)), column, product.n
            )
            for r in range(tile.rows)
        ]
        starts = [
            self.load(corner, vector, tile, product.type)
            for corner in corners
            for vector in range(tile.vectors)
        ]
        if product.correction is not None:
            starts = self.corrected(product.correction, starts, column, tile)
        names = [nest.writer.names.fresh("acc") for _ in starts]
        sums = Sums(None, names, [r.type for r in starts], tile.lanes, starts)
        header, name = nest.writer.names.fresh("depth"), nest.writer.names.fresh("k")
        nest.codes.append(Code(header))
        level = len(nest.codes) - 1
        sums.nexts = self.step(tile, sums, row, column, Reg(f"%{name}", "i64", 0, level))
        body = nest.codes.pop()
        sums.start_from(None)
        loop = Stitch(header, name, body, ZERO, const("i64", product.k), 1)
        stitch(nest.writer, nest.codes[-1], loop, [sums])
        sums.settle(level - 1)
        for number, total in enumerate(sums.totals):
            corner, vector = corners[number // tile.vectors], number % tile.vectors
            place = access.at(nest, corner, const("i64", vector * tile.lanes), product.type)
            nest.codes[-1].add(f"store {total.typed}, {place.typed}, align {SIZES[product.type]}")

    def corrected(self, home: Home, starts: list[Reg], column: Reg, tile: Tile) -> list[Reg]:
        """The accumulators less what the instruction adds too much."""
        corner = access.at(self.nest, home.address, column, self.product.type)
        much = [self.load(corner, vector, tile, "i32") for vector in range(tile.vectors)]
        return [
            self.nest.inst("c", "sub", [start, much[number % tile.vectors]])
            for number, start in enumerate(starts)
        ]

    def load(self, corner: Reg, vector: int, tile: Tile, type_: str) -> Reg:
        nest = self.nest
        place = access.at(nest, corner, const("i64", vector * tile.lanes), type_)
        text = f"load {full(type_, tile.lanes)}, {place.typed}, align {SIZES[type_]}"
        return nest.put(len(nest.codes) - 1, "c", text, type_, tile.lanes)

    def step(self, tile: Tile, sums: Sums, row: Reg, column: Reg, k: Reg) -> list[Reg]:
        """One step of K: each accumulator plus a scalar of A times a vector of B."""
        nest, product, level = self.nest, self.product, len(self.nest.codes) - 1
        corner = self.address(product.right, k, column, product.n)
        rights = [
            self.load(corner, vector, tile, product.operand_type) for vector in range(tile.vectors)
        ]
        nexts = []
        for r in range(tile.rows):
            at = affine.add_scalars(nest, row, const("i64", r))
            place = self.address(product.left, at, k, product.k)
            text = f"load {product.operand_type}, {place.typed}, align {SIZES[product.type]}"
            scalar = nest.put(level, "a", text, product.operand_type)
            nest.lanes = tile.lanes
            left = nest.wide(scalar)
            for vector, right in enumerate(rights):
                old = Reg(
                    f"%{sums.names[r * tile.vectors + vector]}", product.type, tile.lanes, level
                )
                nexts.append(self.multiply_add(left, right, old))
        nest.lanes = 0
        return nexts

    def multiply_add(self, left: Reg, right: Reg, old: Reg) -> Reg:
        if self.product.words is not None:
            return multiply_add(self.nest, self.product.words, left, right, old)
        if self.product.type in ("float", "double"):
            return self.nest.call("fma", "llvm.fma", [left, right, old])
        return self.nest.inst("sum", "add", [self.nest.inst("product", "mul", [left, right]), old])


def emit_dot(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """The accumulator lies in the result's home already."""
    result = emitter.place_of(op.results[0])
    left, right = (emitter.writer.homes[named(operand)] for operand in op.operands[:2])
    shape = shape_at(op, 0)
    m, k, n = shape[-2], shape[-1], result.shape[-1]
    nest, host = Nest(emitter.writer, [code]), emitter.writer.host
    found = words_for(left.element, right.element, result.element, (m, n, k), host)
    packed = _packed_homes(emitter, found[0], m, k, n) if found else ()

    def one(index: Reg) -> None:
        sizes = (m * k, k * n, m * n)
        homes = [_slice(nest, home, index, s) for home, s in zip((left, right, result), sizes)]
        product = Product(homes[0], homes[1], homes[2], m, n, k)
        if found is None:
            DotEmitter(nest, product).emit()
        elif found[1]:
            prints = any(op.name in CALLBACKS for op in emitter.messages)
            _by_tiles(nest, found[0], product, packed, prints)
        else:
            DotEmitter(nest, _in_words(nest, found[0], product, packed)).emit()

    counted_loop(nest, 0, math.prod(shape[:-2]), 1, one)


def _packed_homes(
    emitter: FunctionEmitter, words: Words, m: int, k: int, n: int
) -> tuple[Home, ...]:
    """Where the words of the operands lie, and the correction of each column."""
    shapes = ((m, k // words.count), (k // words.count, n), (n,))
    return tuple(emitter.new_home(I32, shape, "words") for shape in shapes)


def _in_words(nest: Nest, words: Words, product: Product, packed: tuple[Home, ...]) -> Product:
    """Packs the operands; the product of what was packed."""
    left, right, correction = packed
    m, n, k = product.m, product.n, product.k
    pack_left(nest, words, product.left, left, m * k, unsigned=True)
    pack_right(nest, words, product.right, right, correction, k, n)
    needed = correction if words.count == 4 else None
    return Product(left, right, product.result, m, n, k // words.count, words, needed)


def _by_tiles(
    nest: Nest, words: Words, product: Product, packed: tuple[Home, ...], prints: bool
) -> None:
    """Packs the operands, and multiplies them by the matrix unit."""
    left, right, _ = packed
    m, n, k = product.m, product.n, product.k
    if words.count == 4:
        left = product.left  # bytes in a row are words already
    else:
        pack_left(nest, words, product.left, left, m * k, unsigned=False)
    pack_right(nest, words, product.right, right, None, k, n)
    TileEmitter(nest, words, (left, right, product.result), (m, n, k // words.count)).emit(prints)


def _slice(nest: Nest, home: Home, index: Reg, size: int) -> Home:
    """One product's part of a batch."""
    spot = affine.mul_scalars(nest, index, const("i64", size))
    return Home(access.at(nest, home.address, spot, arena(home.element)), home.element, home.shape)
