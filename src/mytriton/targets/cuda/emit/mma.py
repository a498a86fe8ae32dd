"""Matrix products by tensor cores: `mma.sync`, fed by `ldmatrix` from swizzled shared memory.

An instruction multiplies a 16 by 2c tile of the left operand with a 2c by 8 tile of the right one,
where c elements are 16 bytes:

    for k:  a = load_matrices(left at (thread, m, k));  b = load_matrices(right at (thread, n, k))
            for m, n:  mma_f16(sum[m][n], a[m], b[n])

Operands are written to shared memory for the product, unless they lie there already: a load that a
pipeline copies (`pipelined.py`), or a block from outside the loop, which is written before it. A
left operand from outside that is small enough stays in registers; so does one that is in registers
as the instruction wants it (the result of another product of the same kind, as in attention).
Fragments: PTX ISA, "Matrix Fragments for mma.m16n8k16" and "ldmatrix".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....ir.nodes import Op, Operand, Param, Value, walk
from ....ir.types import F32, element_of, shape_of
from ....layouts.convert import Permute, Shared, convert
from ....layouts.linear import Shape, log2, padded
from ....layouts.shapes import mma_operand
from ..spelling import local_type
from .emitter import Emitter
from .held import Held
from .linear import image, joined
from .operands import (
    ROW,
    Placement,
    Rows,
    Tile,
    left_rows,
    placement,
    reader_of,
    right_rows,
    run_of,
    source_of,
    write,
)
from .scratch import pointer


@dataclass(frozen=True)
class Instruction:
    """One tensor-core instruction: the prelude's function, and the elements that it takes."""

    function: str
    element: str
    accumulator: str
    precision: str | None = None

    @property
    def pack(self) -> int:
        """Elements of a 32-bit register."""
        return 4 // SIZES[self.element]

    @property
    def chunk(self) -> int:
        """Elements of a row of 16 bytes; the instruction's depth is twice that."""
        return ROW // SIZES[self.element]


SIZES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "u8": 1, "f8e4m3fn": 1, "f8e5m2": 1}
INSTRUCTIONS = (
    Instruction("mma_f16", "f16", "f32"),
    Instruction("mma_bf16", "bf16", "f32"),
    Instruction("mma_tf32", "f32", "f32", "tf32"),
    Instruction("mma_s8", "i8", "i32"),
    Instruction("mma_u8", "u8", "i32"),
    Instruction("mma_e4m3", "f8e4m3fn", "f32"),
    Instruction("mma_e5m2", "f8e5m2", "f32"),
)
"""What `mma.sync` offers from sm_80 on, of what has a 16-row shape."""
MOST_FRAGMENTS = 64
"""Registers a thread in which a left operand is kept across a loop."""


def instruction_of(op: Op) -> Instruction | None:
    """The instruction for a product; None where there is none for its types or extents."""
    left, right, acc = op.operands
    assert left is not None
    assert right is not None
    assert acc is not None
    shape, n = shape_of(left.ty), shape_of(right.ty)[-1]
    found = [
        row
        for row in INSTRUCTIONS
        if (row.element, row.accumulator) == (element_of(left.ty).ir, element_of(acc.ty).ir)
        and row.precision in (None, op.attribute("precision"))
    ]
    if not found or len(shape) != 2 or padded((*shape, n)) != (*shape, n):
        return None
    m, k = shape
    fits = m >= 16 and n >= 8 and k >= 2 * found[0].chunk
    return found[0] if fits else None


def warps_of(shape: Shape, warps: int, rows_only: bool) -> tuple[int, int]:
    """How many warps stand along the rows and the columns of a result. rows_only: as many rows as
    there are, so that another product can take the result as it lies."""
    m, n = 1, 1
    while m * n < warps:
        more_rows, more_columns = shape[0] // m > 16, shape[1] // n > 8
        if more_rows and (rows_only or shape[0] // m >= shape[1] // n or not more_columns):
            m *= 2
        elif more_columns:
            n *= 2
        else:
            n *= 2 if more_columns or not more_rows else 1
            break
    return m, max(n, warps // m)


def dot(emitter: Emitter, op: Op, instruction: Instruction) -> None:
    """Prints a product by tensor cores."""
    value, (left, right, acc) = op.results[0], op.operands
    layout = emitter.home(value)
    start = emitter.get(acc, layout)
    product = Product(emitter, op, instruction)
    packed = emitter.fragments.get(op) or product.in_registers(left)
    operands = [(right, 0)] if packed else [(left, 1), (right, 0)]
    tiles = [known_tile(emitter, operand, k) for operand, k in operands]
    missing = [pair for pair, tile in zip(operands, tiles) if tile is None]
    made = staged(emitter, missing) if missing else []
    every = [made.pop(0) if tile is None else tile for tile in tiles]
    if accumulates_in_place(emitter, op):
        total = start
    else:
        total = emitter.array(emitter.local(value), local_type(value.ty), layout, start.at)
    product.steps(packed or every[0], every[-1], total)
    emitter.define(value, total, layout)


def known_tile(emitter: Emitter, operand: Operand, k: int) -> Tile | None:
    """The operand where it lies in shared memory already; k: its axis that is summed over."""
    source, turned = source_of(operand)
    for one, axis in ((operand, k), (source, 1 - k if turned else k)):
        found = emitter.tiles.get(one) if isinstance(one, (Value, Param)) else None
        if found is not None:
            base, placed = found
            return Tile(base, placed, axis)
    return None


def staged(emitter: Emitter, operands: Sequence[tuple[Operand, int]]) -> list[Tile]:
    """Writes operands to shared memory, for all threads to read; with each its axis that is summed
    over."""
    blocks = [Block.of(emitter, operand, k) for operand, k in operands]
    emitter.scratch.reserve(sum(block.bytes for block in blocks))
    tiles, begin = [], emitter.scratch.use.start
    for block in blocks:
        tiles.append(block.write(begin))
        begin += block.bytes
    emitter.scratch.share()
    return tiles


@dataclass(frozen=True)
class Block:
    """An operand on its way to shared memory."""

    emitter: Emitter
    operand: Value | Param
    held: Held
    placement: Placement
    k: int

    @staticmethod
    def of(emitter: Emitter, operand: Operand, k: int) -> Block:
        assert isinstance(operand, (Value, Param))
        home, element = emitter.home(operand), element_of(operand.ty)
        run = run_of(home, k, element)
        place = placement(home, element, run)
        emitter.moved(operand, home, reader_of(home.shape, element, run), Shared(place.swizzle))
        return Block(emitter, operand, emitter.get(operand, home), place, k)

    @property
    def bytes(self) -> int:
        m, n = shape_of(self.operand.ty)
        return m * n * element_of(self.operand.ty).itemsize

    def write(self, start: int) -> Tile:
        home, element = self.emitter.home(self.operand), element_of(self.operand.ty)
        raw = self.operand in self.emitter.distribution.raw
        write(self.emitter, self.held, home, self.placement, element, start, raw)
        return Tile(pointer(element, start), self.placement, self.k)


def unrounded(emitter: Emitter, operand: Operand) -> Operand:
    """What an operand is rounded from, since packing it rounds alike; else the operand."""
    if not isinstance(operand, Value) or operand.op.name != "cast":
        return operand
    (source,) = operand.op.operands
    plain = operand.op.attribute("rounding") != "rtz" and source in emitter.homes
    same = plain and emitter.home(source) == emitter.home(operand)
    return source if same and source is not None and element_of(source.ty) == F32 else operand


def accumulates_in_place(emitter: Emitter, op: Op) -> bool:
    """Whether the accumulator is a value that a loop carries, that nothing else reads, and that the
    product replaces."""
    acc, value = op.operands[2], op.results[0]
    if not isinstance(acc, Param) or emitter.home(acc) != emitter.home(value):
        return False
    loop = emitter.carriers.get(acc)
    if loop is None:
        return False
    (region,) = loop.regions
    place = region.params.index(acc) - 1
    return (
        op in region.ops
        and region.results[place] is value
        and [one for inner in walk(region) for one in inner.operands].count(acc) == 1
        and sum(result is value for result in region.results) == 1
    )


class Product:
    """The loop of one product over K."""

    def __init__(self, emitter: Emitter, op: Op, instruction: Instruction) -> None:
        self.emitter, self.instruction = emitter, instruction
        self.warps = emitter.distribution.dots[op]
        left, right, _ = op.operands
        assert left is not None
        assert right is not None
        self.element = element_of(left.ty)
        (self.rows, k), self.columns = shape_of(left.ty), shape_of(right.ty)[1]
        self.k = k // (2 * instruction.chunk)
        self.m = max(1, self.rows // (16 * self.warps[0]))
        self.n = max(1, self.columns // (8 * self.warps[1]))

    def in_registers(self, left: Operand) -> Held | None:
        """The left operand as the instruction wants it, where it lies so already."""
        assert left is not None
        emitter, pack = self.emitter, self.instruction.pack
        if left not in emitter.homes or pack != 2 or known_tile(emitter, left, 1):
            return None
        wanted = mma_operand(shape_of(left.ty), self.warps, "A", pack)
        home = emitter.home(left)
        if len(home.thread) != len(wanted.thread):
            return None
        if not isinstance(convert(home, wanted), Permute):
            return None
        return emitter.get(unrounded(emitter, left), wanted)

    def steps(self, left: Held | Tile | str, right: Tile, total: Held) -> None:
        """Prints the loop. left: in registers, in shared memory, or the name of an array of all
        fragments."""
        emitter, kept = self.emitter, isinstance(left, str)
        emitter.put("#pragma unroll")
        with emitter.printer.block(f"for (int k = 0; k < {self.k}; k++)"):
            own = "" if kept else f"a[{4 * self.m}], "
            emitter.put(f"unsigned int {own}b[{2 * max(2, self.n)}];")
            if isinstance(left, Held):
                self._pack(left)
            elif isinstance(left, Tile):
                self.load_left("&a[4 * m]", left)
            pairs = max(1, self.n // 2)
            chunk, extent = self.instruction.chunk, self.columns
            rows = right_rows(right, chunk, self.warps, extent, self.k)
            self._load("&b[4 * n]", right, rows, "n", pairs)
            emitter.put("#pragma unroll")
            tile = f"&{total.name}[4 * (n + {self.n} * m)]"
            a = f"&{left}[4 * (m + {self.m} * k)]" if kept else "&a[4 * m]"
            with (
                emitter.printer.block(f"for (int m = 0; m < {self.m}; m++)"),
                emitter.printer.loop(self.n, "n"),
            ):
                emitter.put(f"{self.instruction.function}({tile}, {a}, &b[2 * n]);")

    def keep_left(self, left: Tile, name: str) -> None:
        """Prints the loading of all fragments of the left operand."""
        self.emitter.put(f"unsigned int {name}[{4 * self.m * self.k}];")
        self.emitter.put("#pragma unroll")
        with self.emitter.printer.block(f"for (int k = 0; k < {self.k}; k++)"):
            self.load_left(f"&{name}[4 * (m + {self.m} * k)]", left)

    def load_left(self, target: str, left: Tile) -> None:
        """The left operand's fragments of one step along K."""
        chunk = self.instruction.chunk
        rows = left_rows(left, chunk, self.warps, self.rows, self.k)
        self._load(target, left, rows, "m", self.m)

    def _load(self, target: str, tile: Tile, rows: Rows, number: str, count: int) -> None:
        """The fragments of all tiles of an operand, in one step along K."""
        emitter = self.emitter
        terms = [
            image(emitter.thread, rows.thread),
            image(number, rows.tile[: log2(count)]) if count > 1 else "0",
            image("k", rows.k) if self.k > 1 else "0",
        ]
        name = "load_matrices" if tile.along_k else "load_matrices_transposed"
        name += "_tf32" if self.instruction.precision else ""
        with emitter.printer.loop(count, number):
            emitter.put(f"{name}({target}, {tile.base} + ({joined(terms, apart=False)}));")

    def _pack(self, held: Held) -> None:
        """The left operand's fragments from registers."""
        emitter, pack = self.emitter, self.instruction.pack
        emitter.put("#pragma unroll")
        with (
            emitter.printer.block(f"for (int m = 0; m < {self.m}; m++)"),
            emitter.printer.loop(4, "i"),
        ):
            emitter.put(f"int r = {pack} * (i + 4 * (k + {self.k} * m));")
            texts = [_at(held, f"r + {place}" if place else "r") for place in range(pack)]
            emitter.put(f"a[4 * m + i] = pack_{self.instruction.element}({', '.join(texts)});")


def _at(held: Held, r: str) -> str:
    """A register by a number that is an expression."""
    return held.at(f"({r})" if " " in r else r)
