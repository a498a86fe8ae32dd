"""Matrix products: a register-blocked kernel over operands in the arena.

One idea: a tile of the result (a few rows by a few vectors) stays in registers while the loop over
K adds one row of B times one column of A to it. The tile is read from and written to the result's
home, so a product that accumulates over an outer loop stays in place. Extents that a tile does not
divide get smaller tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ...ir.nodes import Op
from . import access, affine
from .code import Code, Reg, const
from .loops import Stitch, stitch
from .nest import ZERO, Home, Nest
from .operands import named, shape_at
from .region import FunctionEmitter
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

    @property
    def type(self) -> str:
        return arena(self.result.element)


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
                    self.loop(first, number, tile.rows, partial(self.tile, tile, column))

                body = partial(row_loop, first=first, number=number, tile=tile)
                self.loop(start, count, vectors * width, body)

    def loop(self, start: int, count: int, step: int, body: Callable[[Reg], None]) -> None:
        """A loop over tiles; one tile needs none."""
        nest = self.nest
        if count == 1:
            body(const("i64", start))
            return
        header, name = nest.writer.names.fresh("tiles"), nest.writer.names.fresh("t")
        nest.codes.append(Code(header))
        body(Reg(f"%{name}", "i64", 0, len(nest.codes) - 1))
        code = nest.codes.pop()
        end = const("i64", start + count * step)
        stitch(
            nest.writer,
            nest.codes[-1],
            Stitch(header, name, code, const("i64", start), end, step),
            [],
        )

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
            self.load(corner, vector, tile) for corner in corners for vector in range(tile.vectors)
        ]
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

    def load(self, corner: Reg, vector: int, tile: Tile) -> Reg:
        nest, type_ = self.nest, self.product.type
        place = access.at(nest, corner, const("i64", vector * tile.lanes), type_)
        text = f"load {full(type_, tile.lanes)}, {place.typed}, align {SIZES[type_]}"
        return nest.put(len(nest.codes) - 1, "c", text, type_, tile.lanes)

    def step(self, tile: Tile, sums: Sums, row: Reg, column: Reg, k: Reg) -> list[Reg]:
        """One step of K: each accumulator plus a scalar of A times a vector of B."""
        nest, product, level = self.nest, self.product, len(self.nest.codes) - 1
        corner = self.address(product.right, k, column, product.n)
        rights = [self.load(corner, vector, tile) for vector in range(tile.vectors)]
        nexts = []
        for r in range(tile.rows):
            at = affine.add_scalars(nest, row, const("i64", r))
            place = self.address(product.left, at, k, product.k)
            text = f"load {product.type}, {place.typed}, align {SIZES[product.type]}"
            scalar = nest.put(level, "a", text, product.type)
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
        if self.product.type in ("float", "double"):
            return self.nest.call("fma", "llvm.fma", [left, right, old])
        return self.nest.inst("sum", "add", [self.nest.inst("product", "mul", [left, right]), old])


def emit_dot(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """The accumulator lies in the result's home already."""
    result = emitter.place_of(op.results[0])
    left, right = (emitter.writer.homes[named(operand)] for operand in op.operands[:2])
    shape = shape_at(op, 0)
    m, k, n = shape[-2], shape[-1], result.shape[-1]
    nest = Nest(emitter.writer, [code])
    if len(shape) == 2 or shape[0] == 1:
        DotEmitter(nest, Product(left, right, result, m, n, k)).emit()
        return
    header, name = emitter.writer.names.fresh("batch"), emitter.writer.names.fresh("b")
    nest.codes.append(Code(header))
    batch = Reg(f"%{name}", "i64", 0, 1)
    homes = [
        _slice(nest, home, batch, size)
        for home, size in ((left, m * k), (right, k * n), (result, m * n))
    ]
    DotEmitter(nest, Product(homes[0], homes[1], homes[2], m, n, k)).emit()
    body = nest.codes.pop()
    stitch(emitter.writer, code, Stitch(header, name, body, ZERO, const("i64", shape[0]), 1), [])


def _slice(nest: Nest, home: Home, batch: Reg, size: int) -> Home:
    spot = affine.mul_scalars(nest, batch, const("i64", size))
    return Home(access.at(nest, home.address, spot, arena(home.element)), home.element, home.shape)
