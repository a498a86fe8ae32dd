"""Operands of tensor cores in shared memory: how they are placed, and where `ldmatrix` finds them.

A block lies in rows of 16 bytes along one of its axes, which `ldmatrix` hands to the lanes as the
instruction wants them: four 8 by 8 matrices (of 16-bit words) at a time, lane l giving the address
of row l % 8 of matrix l / 8. All of it is linear: the offset of a row is an exclusive or of images
of the thread, of the tile and of the step along K, under the placement that `layouts.swizzle` finds
free of bank conflicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....ir.nodes import Operand, Value
from ....ir.types import Element
from ....layouts.linear import Bases, Layout, Shape, log2, ravel
from ....layouts.shapes import tiled
from ....layouts.swizzle import Swizzle, swizzle
from .emitter import Emitter
from .held import Held
from .scratch import pointer

ROW = 16
"""Bytes of a row of a matrix."""


@dataclass(frozen=True)
class Placement:
    """How a block of a shape lies in shared memory: where each row-major index is, and the axis
    along which rows of 16 bytes run."""

    shape: Shape
    swizzle: Swizzle
    run: int

    def offset(self, coordinates: Sequence[int]) -> int:
        """The offset, in elements, of an element by its coordinates."""
        return self.swizzle.offset(ravel(coordinates, self.shape))


@dataclass(frozen=True)
class Tile:
    """An operand in shared memory. base: the C pointer to its first element; k: the axis of the
    placed block that is the operand's K."""

    base: str
    placement: Placement
    k: int

    @property
    def along_k(self) -> bool:
        """Whether the rows of 16 bytes run along K."""
        return self.placement.run == self.k

    def offset(self, outer: int, k: int) -> int:
        """The offset of a coordinate along M or N and one along K."""
        return self.placement.offset((outer, k) if self.k == 1 else (k, outer))


def placement(home: Layout, element: Element, run: int) -> Placement:
    """Where threads put a block that they hold in `home`, so that neither they nor `ldmatrix` hit a
    bank twice."""
    reader = reader_of(home.shape, element, run)
    runs = reader.register[: log2(ROW // element.itemsize)]
    return Placement(home.shape, swizzle(home, reader, element.itemsize, runs), run)


def reader_of(shape: Shape, element: Element, run: int) -> Layout:
    """The layout in which `ldmatrix` reads: a lane has a row of 16 bytes."""
    lanes = [("lane", 1 - run, 8), ("lane", 1 - run, 4)]
    return tiled(shape, [("register", run, ROW // element.itemsize), *lanes])


def run_of(home: Layout, k: int, element: Element) -> int:
    """The axis along which rows run: that along which a thread's neighbours lie where the
    instruction can take either, else K."""
    fastest = next((axis for axis in (0, 1) if _runs(home, axis)), k)
    return fastest if element.itemsize == 2 else k


def _runs(home: Layout, axis: int) -> bool:
    """Whether neighbouring registers are neighbours along an axis."""
    unit = home.shape[1] if axis == 0 else 1
    return bool(home.register) and home.register[0] == unit and home.shape[axis] > 1


def neighbours(home: Layout, run: int, element: Element) -> int:
    """How many elements of a row a thread holds in registers that follow one another."""
    unit, count = home.shape[1] if run == 0 else 1, 1
    chunk = min(ROW // element.itemsize, home.shape[run])
    while count < chunk and home.register[log2(count) : log2(count) + 1] == (unit * count,):
        count *= 2
    return count


def write(
    emitter: Emitter,
    held: Held,
    home: Layout,
    place: Placement,
    element: Element,
    start: int,
    raw: bool,
) -> None:
    """Writes a block to shared memory, from a byte on, in accesses as wide as threads hold it. raw:
    registers hold elements as memory does."""
    target = home.mapped(place.swizzle.offset, home.shape)
    vector = neighbours(home, place.run, element)
    base = pointer(element, start)
    if vector > 1 and held == Held.array(held.name, home):
        with emitter.registers(home, vector) as r, emitter.guarded(emitter.owner(home)):
            at = emitter.index(target, r)
            emitter.put(f"store_vector<{vector}>({base} + ({at}), &{held.at(r)});")
        return
    with emitter.registers(home) as r, emitter.guarded(emitter.owner(home)):
        text = held.at(r) if raw else emitter.scratch.stored(held.at(r), element)
        emitter.put(f"({base})[{emitter.index(target, r)}] = {text};")


def source_of(operand: Operand) -> tuple[Operand, bool]:
    """What an operand is a transpose of, and whether its axes are exchanged."""
    turned = False
    while isinstance(operand, Value) and operand.op.name == "trans":
        if operand.op.attribute("order") not in ((1, 0), (0, 1)):
            break
        turned ^= operand.op.attribute("order") == (1, 0)
        operand = operand.op.operands[0]
    return operand, turned


@dataclass(frozen=True)
class Rows:
    """Offsets of the bits of the thread, of a tile's number and of the step along K."""

    thread: Bases
    tile: Bases
    k: Bases


def left_rows(tile: Tile, chunk: int, warps: tuple[int, int], rows: int, depth: int) -> Rows:
    """Those of the left operand: a tile is 16 rows of each warp."""
    lanes = [(1, 0), (2, 0), (4, 0), (8, 0), (0, chunk)]
    if not tile.along_k:
        lanes = [(0, 1), (0, 2), (0, 4), (8, 0), (0, 8)]
    of_warp = [(16 << bit, 0) for bit in range(log2(warps[0]))]
    idle = [(0, 0)] * log2(warps[1])
    return _rows(tile, [*lanes, *of_warp, *idle], 16 * warps[0], rows, chunk, depth)


def right_rows(tile: Tile, chunk: int, warps: tuple[int, int], columns: int, depth: int) -> Rows:
    """Those of the right operand: a tile is 8 columns of each warp, and they come in pairs."""
    second = (8 * warps[1], 0) if columns > 8 * warps[1] else (0, 0)
    lanes = [(1, 0), (2, 0), (4, 0), (0, chunk), second]
    if not tile.along_k:
        lanes = [(0, 1), (0, 2), (0, 4), (0, 8), second]
    idle = [(0, 0)] * log2(warps[0])
    of_warp = [(8 << bit, 0) for bit in range(log2(warps[1]))]
    return _rows(tile, [*lanes, *idle, *of_warp], 16 * warps[1], columns, chunk, depth)


def _rows(
    tile: Tile, bits: Sequence[tuple[int, int]], step: int, extent: int, chunk: int, depth: int
) -> Rows:
    """What lies past the extent is the same again."""

    def offset(outer: int, k: int) -> int:
        return tile.offset(outer if outer < extent else 0, k)

    tiles = tuple(offset(step << bit, 0) for bit in range(log2(max(1, extent // step))))
    steps = tuple(offset(0, 2 * chunk << bit) for bit in range(log2(depth)))
    return Rows(tuple(offset(*place) for place in bits), tiles, steps)
