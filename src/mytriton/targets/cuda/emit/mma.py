"""Matrix products by tensor cores: `mma.sync`, fed by `ldmatrix` from swizzled shared memory.

An instruction multiplies a 16 by 2c tile of the left operand with a 2c by 8 tile of the right one,
where c elements are 16 bytes. Both operands lie in shared memory in rows of 16 bytes, which
`ldmatrix` hands to the lanes as the instruction wants them: four 8 by 8 matrices (of 16-bit words)
at a time, lane l giving the address of row l % 8 of matrix l / 8. All of it is linear: the offset
of a row is an exclusive or of images of the thread, of the tile and of the step along K, under the
placement that `layouts.swizzle` finds free of bank conflicts.

    for k:  a = load_matrices(left at (thread, m, k));  b = load_matrices(right at (thread, n, k))
            for m, n:  mma_f16(sum[m][n], a[m], b[n])

Where the left operand is in registers as the instruction wants it (the result of another product
of the same kind, as in attention), it is packed and never leaves them. Fragments: PTX ISA, "Matrix
Fragments for mma.m16n8k16" and "ldmatrix".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....ir.nodes import Op, Operand
from ....ir.types import BY_IR_NAME, element_of, shape_of
from ....layouts.convert import Permute, Shared, convert
from ....layouts.linear import Bases, Layout, Shape, log2, padded, ravel
from ....layouts.shapes import mma_operand, tiled
from ....layouts.swizzle import Swizzle, swizzle
from ..spelling import local_type, memory_type
from .emitter import Emitter
from .held import Held
from .linear import image, joined

ROW = 16
"""Bytes of a row of a matrix."""


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


SIZES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "u8": 1}
INSTRUCTIONS = (
    Instruction("mma_f16", "f16", "f32"),
    Instruction("mma_bf16", "bf16", "f32"),
    Instruction("mma_tf32", "f32", "f32", "tf32"),
    Instruction("mma_s8", "i8", "i32"),
    Instruction("mma_u8", "u8", "i32"),
)
"""What `mma.sync` offers from sm_80 on, of what has a 16-row shape."""


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


@dataclass(frozen=True)
class Staged:
    """An operand in shared memory: from which byte on, how placed, and whether the rows of 16 bytes
    run along K."""

    start: int
    place: Swizzle
    along_k: bool
    shape: Shape
    """As it is stored: rows first."""

    def offset(self, outer: int, k: int) -> int:
        """The offset, in elements, of a coordinate along M or N and one along K."""
        return self.place.offset(ravel((outer, k) if self.along_k else (k, outer), self.shape))


def dot(emitter: Emitter, op: Op, instruction: Instruction) -> None:
    """Prints a product by tensor cores."""
    value, (left, right, acc) = op.results[0], op.operands
    layout, warps = emitter.home(value), emitter.distribution.dots[op]
    m, n = layout.shape
    start = emitter.get(acc, layout)
    packed = in_registers(emitter, left, instruction, warps)
    chosen = [(right, "B")] if packed else [(left, "A"), (right, "B")]
    held = [emitter.get(operand, emitter.home(operand)) for operand, _ in chosen]
    emitter.scratch.reserve(sum(_bytes(operand) for operand, _ in chosen))
    staged, begin = [], 0
    for (operand, side), one in zip(chosen, held):
        staged.append(stage(emitter, operand, one, side, instruction, begin))
        begin += _bytes(operand)
    emitter.scratch.share()
    total = emitter.array(emitter.local(value), local_type(value.ty), layout, start.at)
    Product(emitter, op, instruction, warps, (m, n), total).steps(packed, staged)
    emitter.define(value, total, layout)


def _bytes(operand: Operand) -> int:
    assert operand is not None
    m, n = shape_of(operand.ty)
    return m * n * element_of(operand.ty).itemsize


def in_registers(
    emitter: Emitter, left: Operand, instruction: Instruction, warps: tuple[int, int]
) -> Held | None:
    """The left operand as the instruction wants it, where it lies so already."""
    assert left is not None
    if left not in emitter.homes or instruction.pack != 2:
        return None
    wanted = mma_operand(shape_of(left.ty), warps, "A", instruction.pack)
    home = emitter.home(left)
    if len(home.thread) != len(wanted.thread):
        return None
    return emitter.get(left, wanted) if isinstance(convert(home, wanted), Permute) else None


def stage(
    emitter: Emitter,
    operand: Operand,
    held: Held,
    side: str,
    instruction: Instruction,
    start: int,
) -> Staged:
    """Writes an operand to shared memory."""
    assert operand is not None
    home, shape, chunk = emitter.home(operand), shape_of(operand.ty), instruction.chunk
    inner = 1 if side == "A" else 0
    fastest = next((axis for axis in (0, 1) if _runs(home, axis)), inner)
    along_k = fastest == inner or instruction.pack != 2
    run_axis = inner if along_k else 1 - inner
    other = 1 - run_axis
    reader = tiled(shape, [("register", run_axis, chunk), ("lane", other, 8), ("lane", other, 4)])
    runs = reader.register[: log2(chunk)]
    swizzled = swizzle(home, reader, SIZES[instruction.element], runs)
    emitter.moved(operand, home, reader, Shared(swizzled))
    stored = shape if run_axis == 1 else (shape[1], shape[0])
    place = swizzled if run_axis == 1 else _transposed(swizzled, shape)
    element = element_of(operand.ty)
    target = home.mapped(swizzled.offset, home.shape)
    vector = 1
    while vector < chunk and home.register[: log2(vector) + 1] == runs[: log2(vector) + 1]:
        vector *= 2
    if vector > 1 and held == Held.array(held.name, home):
        with emitter.registers(home, vector) as r, emitter.guarded(emitter.owner(home)):
            at = emitter.index(target, r)
            base = f"({memory_type(element)}*){f'(scratch + {start})' if start else 'scratch'}"
            emitter.put(f"store_vector<{vector}>({base} + ({at}), &{held.at(r)});")
    else:
        with emitter.registers(home) as r, emitter.guarded(emitter.owner(home)):
            emitter.scratch.write(element, start, emitter.index(target, r), held.at(r))
    return Staged(start, place, along_k, stored)


def _runs(home: Layout, axis: int) -> bool:
    """Whether neighbouring registers are neighbours along an axis."""
    unit = home.shape[1] if axis == 0 else 1
    return bool(home.register) and home.register[0] == unit and home.shape[axis] > 1


def _transposed(swizzled: Swizzle, shape: Shape) -> Swizzle:
    """The placement by the index of the transposed block."""
    rows, columns = log2(shape[0]), log2(shape[1])
    offsets = swizzled.offsets
    return Swizzle(offsets[columns : columns + rows] + offsets[:columns], swizzled.vector)


class Product:
    """The loop of one product over K."""

    def __init__(
        self,
        emitter: Emitter,
        op: Op,
        instruction: Instruction,
        warps: tuple[int, int],
        shape: Shape,
        total: Held,
    ) -> None:
        self.emitter, self.instruction, self.warps, self.total = emitter, instruction, warps, total
        (left, *_) = op.operands
        assert left is not None
        self.depth = 2 * instruction.chunk
        self.k = shape_of(left.ty)[1] // self.depth
        self.m = max(1, shape[0] // (16 * warps[0]))
        self.n = max(1, shape[1] // (8 * warps[1]))
        self.rows, self.columns = shape

    def steps(self, packed: Held | None, staged: Sequence[Staged]) -> None:
        """Prints the loop."""
        emitter, c = self.emitter, memory_type(BY_IR_NAME[self.instruction.element])
        *first, right = staged
        emitter.put("#pragma unroll")
        with emitter.printer.block(f"for (int k = 0; k < {self.k}; k++)"):
            emitter.put(f"unsigned int a[{4 * self.m}], b[{2 * max(2, self.n)}];")
            if packed is not None:
                self._pack(packed)
            else:
                self._load("&a[4 * m]", first[0], "m", self.m, self._left(first[0]), c)
            pairs = max(1, self.n // 2)
            self._load("&b[4 * n]", right, "n", pairs, self._right(right), c)
            emitter.put("#pragma unroll")
            tile = f"&{self.total.name}[4 * (n + {self.n} * m)]"
            with (
                emitter.printer.block(f"for (int m = 0; m < {self.m}; m++)"),
                emitter.printer.loop(self.n, "n"),
            ):
                emitter.put(f"{self.instruction.function}({tile}, &a[4 * m], &b[2 * n]);")

    def _load(
        self, target: str, operand: Staged, tile: str, count: int, bases: _Bases, c: str
    ) -> None:
        """The fragments of all tiles of an operand, in one step along K."""
        emitter = self.emitter
        terms = [
            image(emitter.thread, bases.thread),
            image(tile, bases.tile[: log2(count)]) if count > 1 else "0",
            image("k", bases.k[: log2(self.k)]) if self.k > 1 else "0",
        ]
        name = "load_matrices" if operand.along_k else "load_matrices_transposed"
        name += "_tf32" if self.instruction.precision else ""
        base = f"({c}*)(scratch + {operand.start})" if operand.start else f"({c}*)scratch"
        with emitter.printer.loop(count, tile):
            emitter.put(f"{name}({target}, {base} + ({joined(terms, apart=False)}));")

    def _left(self, staged: Staged) -> _Bases:
        chunk = self.instruction.chunk
        lanes = [(1, 0), (2, 0), (4, 0), (8, 0), (0, chunk)]
        if not staged.along_k:
            lanes = [(0, 1), (0, 2), (0, 4), (8, 0), (0, 8)]
        rows = [(16 << bit, 0) for bit in range(log2(self.warps[0]))]
        idle = [(0, 0)] * log2(self.warps[1])
        return self._bases(staged, lanes, [*rows, *idle], 16 * self.warps[0], self.rows)

    def _right(self, staged: Staged) -> _Bases:
        chunk = self.instruction.chunk
        second = (8 * self.warps[1], 0) if self.n > 1 else (0, 0)
        lanes = [(1, 0), (2, 0), (4, 0), (0, chunk), second]
        if not staged.along_k:
            lanes = [(0, 1), (0, 2), (0, 4), (0, 8), second]
        idle = [(0, 0)] * log2(self.warps[0])
        columns = [(8 << bit, 0) for bit in range(log2(self.warps[1]))]
        return self._bases(staged, lanes, [*idle, *columns], 16 * self.warps[1], self.columns)

    def _bases(
        self,
        staged: Staged,
        lanes: Sequence[tuple[int, int]],
        warps: Sequence[tuple[int, int]],
        tile: int,
        extent: int,
    ) -> _Bases:
        """Offsets of the bits of the thread, of a tile's number and of the step along K; what lies
        past the extent is the same again."""

        def offset(place: tuple[int, int]) -> int:
            return staged.offset(place[0] if place[0] < extent else 0, place[1])

        thread = tuple(offset(place) for place in (*lanes, *warps))
        tiles = tuple(offset((tile << bit, 0)) for bit in range(12))
        steps = tuple(offset((0, self.depth << bit)) for bit in range(log2(self.k)))
        return _Bases(thread, tiles, steps)

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


@dataclass(frozen=True)
class _Bases:
    thread: Bases
    tile: Bases
    k: Bases
