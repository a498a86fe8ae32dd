"""Products by the processor's matrix unit: tiles of 16 rows of 16 words.

The operands are packed in words as for `dot_words`. Four tiles hold a block of the result, 32 by
32; two hold rows of the left operand and two columns of the right one, so each tile that is read is
used twice. A step along K multiplies 16 words. All tiles have one shape, so the unit is configured
once a program. (Intel Architecture Instruction Set Extensions, chapter 3: AMX.)
"""

from __future__ import annotations

from functools import partial

from . import access, affine
from .code import Reg, const
from .dot_words import counted_loop, loop_to
from .lower.words import TILE, Words
from .nest import Nest

CONFIGURATION = bytes([1, *[0] * 15, *[64, 0] * 8, *[0] * 16, *[TILE] * 8, *[0] * 8])
"""Palette 1; bytes a row, then rows, of each of eight tiles."""
LEFT, RIGHT = 4, 6
"""The first tile of each operand; before them those of the result."""


def configure(nest: Nest, again: bool) -> None:
    """Prepares the unit once a program, in its first block; `again`: right here too, where what the
    program calls back may have run other code."""
    writer = nest.writer
    load = writer.module.intrinsic("llvm.x86.ldtilecfg", "void", ["ptr"])
    if again:
        nest.codes[-1].add(f"call void @{load}(ptr @tiles)")
    if "tiles" in writer.module.globals:
        return
    numbers = ", ".join(f"i8 {number}" for number in CONFIGURATION)
    kind = f"[{len(CONFIGURATION)} x i8]"
    writer.module.globals["tiles"] = f"@tiles = internal constant {kind} [{numbers}], align 64"
    writer.module.intrinsic("llvm.x86.tilerelease", "void", [])
    writer.entry.add(f"call void @{load}(ptr @tiles)")


def parts(extent: int) -> list[tuple[int, int, int]]:
    """(first, number of blocks, tiles of a block) that cover an extent: pairs, then one alone."""
    pairs = extent // (2 * TILE)
    alone = [(pairs * 2 * TILE, 1, 1)] if extent % (2 * TILE) else []
    return ([(0, pairs, 2)] if pairs else []) + alone


class TileEmitter:
    """One product of packed operands: left (m, k) and right (k, n) in words, result (m, n); rows of
    the left one are `left_row` words apart."""

    def __init__(
        self,
        nest: Nest,
        words: Words,
        addresses: tuple[Reg, Reg, Reg],
        extents: tuple[int, int, int],
        k: Reg,
    ) -> None:
        self.nest, self.words = nest, words
        self.left, self.right, self.result = addresses
        self.m, self.n, self.left_row = extents
        self.k = k

    def emit(self, again: bool) -> None:
        configure(self.nest, again)
        for column, count, across in parts(self.n):
            counted_loop(self.nest, column, count, across * TILE, partial(self.rows, across))

    def rows(self, across: int, column: Reg) -> None:
        for row, count, down in parts(self.m):
            body = partial(self.block, down, across, column)
            counted_loop(self.nest, row, count, down * TILE, body)

    def block(self, down: int, across: int, column: Reg, row: Reg) -> None:
        """One block of the result: read, K added to, written."""
        places = [(r, c) for r in range(down) for c in range(across)]
        for number, (r, c) in enumerate(places):
            self.move("tileloadd64", number, self.result, self.n, (row, r), (column, c))

        def step(depth: Reg) -> None:
            for r in range(down):
                self.move("tileloadd64", LEFT + r, self.left, self.left_row, (row, r), (depth, 0))
            for c in range(across):
                self.move("tileloadd64", RIGHT + c, self.right, self.n, (depth, 0), (column, c))
            for number, (r, c) in enumerate(places):
                self.call(self.words.tile_intrinsic, f"i8 {number}, i8 {LEFT + r}, i8 {RIGHT + c}")

        if self.k.constant == TILE:
            step(const("i64", 0))
        else:
            loop_to(self.nest, self.k, TILE, step)
        for number, (r, c) in enumerate(places):
            self.move("tilestored64", number, self.result, self.n, (row, r), (column, c))

    def move(
        self,
        name: str,
        tile: int,
        base: Reg,
        width: int,
        row: tuple[Reg, int],
        column: tuple[Reg, int],
    ) -> None:
        """Reads or writes a tile: so many tiles past a row and a column of words."""
        nest = self.nest
        at = [affine.add_scalars(nest, start, const("i64", n * TILE)) for start, n in (row, column)]
        place = affine.mul_scalars(nest, at[0], const("i64", width))
        address = access.at(nest, base, affine.add_scalars(nest, place, at[1]), "i32")
        self.call(name, f"i8 {tile}, {address.typed}, i64 {4 * width}")

    def call(self, name: str, arguments: str) -> None:
        types = [part.split()[0] for part in arguments.split(", ")]
        full = self.nest.writer.module.intrinsic(f"llvm.x86.{name}", "void", types)
        self.nest.codes[-1].add(f"call void @{full}({arguments})")
