"""Shared memory: where threads hand values to one another.

Memory is given out while the kernel is printed, by live range. A *use* is one hand-over: threads
write, wait, and read; it is dead when the next one begins. A *tile* is held until it is released,
as what a loop reads in every turn. Each takes the lowest place that no live tile has.

Threads wait before they write where others may still read: `reading` lists the bytes that were read
since the last barrier. So a small use goes to bytes that nobody reads, where that takes little
memory, and two reductions in a row need one barrier each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from ....errors import CompileValueError
from ....ir.nodes import Param, Value
from ....ir.types import Element, element_of
from ....layouts.convert import Permute, Shuffle, convert
from ....layouts.linear import Layout, log2
from ....layouts.swizzle import Swizzle, common_vector, swizzle
from ..spelling import local_type, memory_type
from .held import Held
from .linear import Register, image, joined
from .text import from_memory, to_memory

if TYPE_CHECKING:
    from .emitter import Emitter

STATIC = 48 * 1024
"""Bytes that a kernel may declare; more is asked for at the launch."""
MOST = 227 * 1024
"""Bytes of a program on the device with the most (compute capability 9.0)."""


SMALL = 8 * 1024
"""Up to here a use may move to bytes that need no barrier rather than to the lowest ones."""
ALIGNMENT = 16


@dataclass(frozen=True)
class Bytes:
    """A range of shared memory: from `start` up to `end`."""

    start: int
    end: int

    def meets(self, other: Bytes) -> bool:
        """Whether they have a byte in common."""
        return self.start < other.end and other.start < self.end


EVERYTHING = Bytes(0, 1 << 30)


class Scratch:
    """The shared memory of a kernel, and who may be reading it."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.bytes = 0
        self.use = Bytes(0, 0)
        """The bytes of the use that was begun last: element 0 of `at` is its first."""
        self.tiles: tuple[Bytes, ...] = ()
        """What is held across uses."""
        self.reading: tuple[Bytes, ...] = ()
        """What a thread may still read, or wrote for others that have not waited yet."""
        self.alignment = ALIGNMENT

    @property
    def dynamic(self) -> int:
        """The bytes that the launch must ask for."""
        return self.bytes if self.bytes > STATIC else 0

    def declaration(self) -> list[str]:
        """The line that declares the memory."""
        if not self.bytes:
            return []
        begin = f"__shared__ __align__({self.alignment}) unsigned char scratch"
        if self.dynamic:
            return [f"    extern {begin}[];"]
        return [f"    {begin}[{self.bytes}];"]

    # -- live ranges

    def place(self, count: int, alignment: int = ALIGNMENT) -> Bytes:
        """Free bytes: the lowest, or, up to `SMALL`, the lowest that nobody reads."""
        count = -(-count // ALIGNMENT) * ALIGNMENT
        taken = [*self.tiles, *self.reading]
        starts = sorted({0, *(-(-t.end // alignment) * alignment for t in taken)})
        free = [Bytes(start, start + count) for start in starts]
        free = [one for one in free if not any(map(one.meets, self.tiles))]
        quiet = (one for one in free if not any(map(one.meets, self.reading)))
        found = next((one for one in quiet if one.end <= max(self.bytes, SMALL)), free[0])
        if found.end > MOST:
            message = f"{found.end} bytes of shared memory are needed, a GPU has at most {MOST}"
            raise CompileValueError(f"{message}; use smaller blocks", self.emitter.where)
        self.bytes = max(self.bytes, found.end)
        return found

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """For code of another place, where anything may still be read."""
        before = self.use, self.reading, self.emitter.order.pending
        self.reading = (EVERYTHING,)
        yield
        self.use, self.reading, self.emitter.order.pending = before

    def reserve(self, count: int) -> None:
        """Begins a use of so many bytes: waits where other threads may still read them."""
        self.use = self.place(count)
        self.await_readers(self.use)

    def share(self) -> None:
        """All threads have written: from here on they read."""
        self.emitter.barrier()
        self.begin_reading()

    def begin_reading(self) -> None:
        """Threads read the present use from here on."""
        self.reading = (*self.reading, self.use)

    def hold(self, count: int, alignment: int = ALIGNMENT) -> Bytes:
        """A tile of so many bytes, until it is released."""
        tile = self.place(count, alignment)
        self.alignment = max(self.alignment, alignment)
        self.tiles = (*self.tiles, tile)
        return tile

    def release(self, tile: Bytes) -> None:
        """Ends a tile's live range; threads may still be reading it."""
        self.tiles = tuple(other for other in self.tiles if other != tile)
        self.reading = (*self.reading, tile)

    def await_readers(self, place: Bytes) -> None:
        """A barrier, where a thread may still read these bytes."""
        if any(map(place.meets, self.reading)):
            self.emitter.barrier()

    # -- elements

    @staticmethod
    def size(element: Element) -> int:
        """Bytes of an element."""
        return element.itemsize

    def pointer(self, element: Element, start: int = 0) -> str:
        """A pointer to elements, from a byte of the present use on."""
        return pointer(element, self.use.start + start)

    def at(self, element: Element, start: int, index: str) -> str:
        """The element at an index, from a byte of the present use on."""
        return f"({self.pointer(element, start)})[{index}]"

    def write(self, element: Element, start: int, index: str, text: str) -> None:
        """Prints a thread's write of one value."""
        self.emitter.put(f"{self.at(element, start, index)} = {to_memory(text, element)};")

    @staticmethod
    def stored(text: str, element: Element) -> str:
        """A value as memory holds it."""
        return to_memory(text, element)

    def read(self, element: Element, start: int, index: str) -> str:
        """One value, as an expression of the local type."""
        return from_memory(self.at(element, start, index), element)

    def from_owners(self, held: Held, value: Value) -> Held:
        """What the first holder of each element has, for all of its holders."""
        element, layout, emitter = element_of(value.ty), held.layout, self.emitter
        self.reserve(prod(layout.shape) * self.size(element))
        with emitter.registers(layout) as r, emitter.guarded(emitter.owner(layout)):
            self.write(element, 0, emitter.index(layout, r), held.at(r))
        self.share()
        name = emitter.fresh("old")
        return emitter.array(
            name,
            local_type(element),
            layout,
            lambda r: self.read(element, 0, emitter.index(layout, r)),
        )

    # -- conversions

    def converted(self, held: Held, target: Layout, value: Value | Param) -> Held:
        """A block in another layout, under a name of its own."""
        element = element_of(value.ty)
        plan = convert(held.layout, target, self.size(element))
        self.emitter.moved(value, held.layout, target, plan)
        name, raw = self.emitter.local(value, target), value in self.emitter.distribution.raw
        return self.moved(held, target, name, element, raw)

    def moved(
        self, held: Held, target: Layout, name: str, element: Element, raw: bool = False
    ) -> Held:
        """Registers moved to another layout: seen so, by shuffles, or through the buffer. raw: they
        hold elements as memory does."""
        plan = convert(held.layout, target, self.size(element))
        if isinstance(plan, Permute):
            return held.permuted(target, plan)
        if isinstance(plan, Shuffle):
            return self._shuffled(held, target, plan, name, element, raw)
        return self._shared(held, target, plan.swizzle, name, element, raw)

    def _shuffled(
        self, held: Held, target: Layout, plan: Shuffle, name: str, element: Element, raw: bool
    ) -> Held:
        c_type = memory_type(element) if raw else local_type(element)
        bits = range(len(target.register))
        flip = [plan.flip[1 << bit] for bit in bits]
        source = held.permuted(target, Permute(plan.source))
        own = tuple(1 << i if i < 5 else 0 for i in range(len(target.thread)))

        def compute(r: Register) -> str:
            moved = image(r, flip)
            given = f"(unsigned int){source.at(r)}.bits" if raw else source.at(r)
            if plan.lane == own:
                text = f"shuffle_xor({given}, {moved})"
            else:
                lane = joined([image(self.emitter.thread, plan.lane), moved], apart=False)
                text = f"shuffle({given}, {lane})"
            word = "unsigned char" if element.itemsize == 1 else "unsigned short"
            return f"bitcast<{c_type}>(({word}){text})" if raw else text

        return self.emitter.array(name, aligned(c_type, raw), target, compute)

    def _shared(
        self,
        held: Held,
        target: Layout,
        placement: Swizzle,
        name: str,
        element: Element,
        raw: bool,
    ) -> Held:
        """Written and read in accesses as wide as each side can make them."""
        source, emitter = held.layout, self.emitter
        placement = accessible(source, target, placement, self.size(element))
        count = 1 << max(map(int.bit_length, placement.offsets), default=0)
        self.reserve(count * self.size(element))
        placed, wanted = (side.mapped(placement.offset, side.shape) for side in (source, target))
        self._write_all(held, placed, access_width(placed, placement.vector), element, raw)
        self.share()
        vector = access_width(wanted, placement.vector)
        c_type, base = memory_type(element) if raw else local_type(element), self.pointer(element)
        if vector == 1:
            return emitter.array(
                name,
                aligned(c_type, raw),
                target,
                lambda r: self.read(element, 0, emitter.index(wanted, r)),
            )
        moved = emitter.array(name, aligned(c_type, raw), target)
        with _groups(emitter, wanted, vector) as (r, group):
            emitter.put(f"{c_type} several[{vector}];")
            at = f"{base} + ({emitter.index(wanted, r)})"
            emitter.put(f"load_vector<{vector}>(several, {at});")
            for place, register in enumerate(group):
                emitter.put(f"{moved.at(register)} = several[{place}];")
        return moved

    def _write_all(
        self, held: Held, placed: Layout, vector: int, element: Element, raw: bool
    ) -> None:
        """Writes registers to the offsets of `placed`, `vector` of them at once."""
        emitter = self.emitter
        if vector == 1:
            with emitter.registers(placed) as r:
                text = held.at(r) if raw else to_memory(held.at(r), element)
                emitter.put(f"{self.at(element, 0, emitter.index(placed, r))} = {text};")
            return
        c_type = memory_type(element) if raw else local_type(element)
        with _groups(emitter, placed, vector) as (r, group):
            values = ", ".join(map(held.at, group))
            emitter.put(f"{c_type} several[{vector}] = {{{values}}};")
            at = f"{self.pointer(element)} + ({emitter.index(placed, r)})"
            emitter.put(f"store_vector<{vector}>({at}, several);")


def aligned(c_type: str, raw: bool) -> str:
    """The type of an array of which several elements are moved at once as they are."""
    return f"__align__(16) {c_type}" if raw else c_type


def accessible(source: Layout, target: Layout, placement: Swizzle, element_bytes: int) -> Swizzle:
    """The placement, for accesses that both sides can make: one for wide accesses has conflicts
    where they are narrower."""
    while True:
        sides = (side.mapped(placement.offset, side.shape) for side in (source, target))
        width = min(access_width(side, placement.vector) for side in sides)
        if width == placement.vector:
            return placement
        common = common_vector(source, target, placement.vector // 2)
        placement = swizzle(source, target, element_bytes, common)


def access_width(placed: Layout, most: int) -> int:
    """How many elements one access can move: those that registers number, where nothing else moves
    a group of so many."""
    width = most
    while width > 1:
        own = [1 << bit for bit in range(log2(width))]
        others = [*placed.thread, *(base for base in placed.register if base not in own)]
        if not any(base & width - 1 for base in others):
            break
        width //= 2
    return width


@contextmanager
def _groups(
    emitter: Emitter, placed: Layout, vector: int
) -> Iterator[tuple[Register, list[Register]]]:
    """The registers that one access moves, in the order of memory, for each group of them. placed:
    the offset of each register."""
    bits = [placed.register.index(1 << bit) for bit in range(log2(vector))]
    others = [1 << bit for bit in range(len(placed.register)) if bit not in bits]
    members = [sum(1 << bits[i] for i in range(len(bits)) if n >> i & 1) for n in range(vector)]
    with emitter.printer.loop(1 << len(others), "q"):
        emitter.put(f"int r = {image('q', others) if others else '0'};")
        yield "r", [f"r | {member}" if member else "r" for member in members]


def pointer(element: Element, start: int) -> str:
    """A pointer to elements, from a byte of shared memory on."""
    base = f"(scratch + {start})" if start else "scratch"
    return f"({memory_type(element)}*){base}"
