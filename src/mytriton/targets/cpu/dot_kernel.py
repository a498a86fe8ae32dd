"""The micro-kernel of products: a tile of the result in registers, over operands in the arena.

A tile (a few rows by a few vectors) stays in registers while the loop over K adds one row of B
times one column of A to it. It is read from and written to the result's buffer, so a product that
accumulates over an outer loop stays in place. Extents that a tile does not divide get smaller ones.

B is row-major, or lies in panels: the columns of one tile, row after row, so that the loop over K
reads memory in order. The panel of the tile that starts at column n starts at n * depth:

    B   a b c d     panels of two columns, depth 3:   a b  e f  i j   c d  g h  k l
        e f g h
        i j k l
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from . import access, affine
from .code import Code, Reg, const
from .dot_words import counted_loop, multiply_add
from .host import Host
from .loops import stitch
from .lower.words import Words
from .nest import ZERO, Nest
from .segments import Stitch
from .sums import Sums
from .types import SIZES, full


@dataclass(frozen=True)
class Tile:
    """Rows, and vectors of lanes, of the result that are held in registers."""

    rows: int
    vectors: int
    lanes: int


@dataclass(frozen=True, eq=False)
class Product:
    """One product: `m` by `n` elements of an LLVM type, each the sum of `k` products.

    The addresses of its operands: element (i, j) of the left one is `left_strides[0]` * i +
    `left_strides[1]` * j elements further; the right one lies in panels of `depth` rows, or
    row-major where `depth` is 0; the result is row-major.
    """

    type: str
    m: int
    n: int
    k: Reg
    left: Reg
    right: Reg
    result: Reg
    left_strides: tuple[int, int]
    depth: int = 0
    words: Words | None = None
    """The operands are words of several numbers, and `k` counts words."""
    correction: Reg | None = None
    """What is taken off each column's accumulators."""

    @property
    def operand_type(self) -> str:
        return "i32" if self.words else self.type


@dataclass(frozen=True)
class ColumnTiles:
    """`count` tiles of the same width, from column `start` on."""

    start: int
    count: int
    vectors: int
    lanes: int

    @property
    def width(self) -> int:
        return self.vectors * self.lanes


def column_tiles(n: int, lanes: int) -> list[ColumnTiles]:
    """The tiles that cover n columns."""
    parts, start = [], 0
    for vectors, width in [(2, lanes), (1, lanes)]:
        count = (n - start) // (vectors * width)
        if count:
            parts.append(ColumnTiles(start, count, vectors, width))
            start += count * vectors * width
    while start < n:
        lanes //= 2
        if n - start >= lanes:
            parts.append(ColumnTiles(start, 1, 1, lanes))
            start += lanes
    return parts


def lanes_of(host: Host, type_: str) -> int:
    """The lanes of the kernel's vectors."""
    return host.vector_bytes // SIZES[type_]


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
        height = 12 if host.registers >= 32 else 4
        for part in column_tiles(product.n, lanes_of(host, product.type)):
            for first, number, rows in row_tiles(product.m, height):
                tile = Tile(rows, part.vectors, part.lanes)

                def row_loop(column: Reg, first: int, number: int, tile: Tile) -> None:
                    counted_loop(
                        self.nest, first, number, tile.rows, partial(self.tile, tile, column)
                    )

                body = partial(row_loop, first=first, number=number, tile=tile)
                counted_loop(self.nest, part.start, part.count, part.width, body)

    def address(self, base: Reg, row: Reg, row_step: int, column: Reg, column_step: int) -> Reg:
        nest = self.nest
        place = affine.mul_scalars(nest, row, const("i64", row_step))
        other = affine.mul_scalars(nest, column, const("i64", column_step))
        return access.at(nest, base, affine.add_scalars(nest, place, other), self.product.type)

    def right(self, tile: Tile, k: Reg, column: Reg) -> Reg:
        """Where a row of the right operand is, from a tile's first column on."""
        product = self.product
        if product.depth:
            width = tile.vectors * tile.lanes
            return self.address(product.right, k, width, column, product.depth)
        return self.address(product.right, k, product.n, column, 1)

    def tile(self, tile: Tile, column: Reg, row: Reg) -> None:
        """One tile of the result: read, K times added to, written."""
        nest, product = self.nest, self.product
        corners = [
            self.address(
                product.result, affine.add_scalars(nest, row, const("i64", r)), product.n, column, 1
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
        stitch(nest.writer, nest.codes[-1], Stitch(header, name, body, ZERO, product.k, 1), [sums])
        sums.settle(level - 1)
        for number, total in enumerate(sums.totals):
            corner, vector = corners[number // tile.vectors], number % tile.vectors
            place = access.at(nest, corner, const("i64", vector * tile.lanes), product.type)
            nest.codes[-1].add(f"store {total.typed}, {place.typed}, align {SIZES[product.type]}")

    def corrected(self, base: Reg, starts: list[Reg], column: Reg, tile: Tile) -> list[Reg]:
        """The accumulators less what the instruction adds too much."""
        corner = access.at(self.nest, base, column, self.product.type)
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
        corner, (row_step, column_step) = self.right(tile, k, column), product.left_strides
        rights = [
            self.load(corner, vector, tile, product.operand_type) for vector in range(tile.vectors)
        ]
        nexts = []
        for r in range(tile.rows):
            at = affine.add_scalars(nest, row, const("i64", r))
            place = self.address(product.left, at, row_step, k, column_step)
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
