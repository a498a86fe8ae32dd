"""Shared memory: where threads hand values to one another.

All uses share one buffer, since each is over before the next begins: threads wait (if others may
still read what lies there), write, wait, and read. The buffer is as large as the largest use.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ....errors import CompileValueError
from ....ir.nodes import Param, Value
from ....ir.types import Element, element_of
from ....layouts.convert import Permute, Shuffle, convert
from ....layouts.linear import Layout
from ....layouts.swizzle import Swizzle
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


class Scratch:
    """The one buffer of shared memory of a kernel."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.bytes = 0
        self.busy = False
        """Whether a thread may still read what lies in it."""

    @property
    def dynamic(self) -> int:
        """The bytes that the launch must ask for."""
        return self.bytes if self.bytes > STATIC else 0

    def declaration(self) -> list[str]:
        """The line that declares the buffer."""
        if not self.bytes:
            return []
        if self.dynamic:
            return ["    extern __shared__ __align__(16) unsigned char scratch[];"]
        return [f"    __shared__ __align__(16) unsigned char scratch[{self.bytes}];"]

    def reserve(self, count: int) -> None:
        """Begins a use of so many bytes."""
        if count > MOST:
            message = f"{count} bytes of shared memory are needed, a GPU has at most {MOST}"
            raise CompileValueError(f"{message}; use smaller blocks", self.emitter.where)
        self.bytes = max(self.bytes, -(-count // 16) * 16)
        if self.busy:
            self.emitter.barrier()

    def share(self) -> None:
        """All threads have written: from here on they read."""
        self.emitter.barrier()
        self.busy = True

    @staticmethod
    def size(element: Element) -> int:
        """Bytes of an element."""
        return element.itemsize

    def at(self, element: Element, start: int, index: str) -> str:
        """The element at an index of the buffer, from a byte on."""
        base = f"(scratch + {start})" if start else "scratch"
        return f"(({memory_type(element)}*){base})[{index}]"

    def write(self, element: Element, start: int, index: str, text: str) -> None:
        """Prints a thread's write of one value."""
        self.emitter.put(f"{self.at(element, start, index)} = {to_memory(text, element)};")

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
        return self.moved(held, target, self.emitter.local(value, target), element)

    def moved(self, held: Held, target: Layout, name: str, element: Element) -> Held:
        """Registers moved to another layout: seen so, by shuffles, or through the buffer."""
        plan = convert(held.layout, target, self.size(element))
        if isinstance(plan, Permute):
            return held.permuted(target, plan)
        if isinstance(plan, Shuffle):
            return self._shuffled(held, target, plan, name, local_type(element))
        return self._shared(held, target, plan.swizzle, name, element)

    def _shuffled(self, held: Held, target: Layout, plan: Shuffle, name: str, c_type: str) -> Held:
        bits = range(len(target.register))
        flip = [plan.flip[1 << bit] for bit in bits]
        source = held.permuted(target, Permute(plan.source))
        own = tuple(1 << i if i < 5 else 0 for i in range(len(target.thread)))

        def compute(r: Register) -> str:
            moved = image(r, flip)
            if plan.lane == own:
                return f"shuffle_xor({source.at(r)}, {moved})"
            lane = joined([image(self.emitter.thread, plan.lane), moved], apart=False)
            return f"shuffle({source.at(r)}, {lane})"

        return self.emitter.array(name, c_type, target, compute)

    def _shared(
        self, held: Held, target: Layout, swizzle: Swizzle, name: str, element: Element
    ) -> Held:
        source = held.layout
        count = 1 << max(map(int.bit_length, swizzle.offsets), default=0)
        self.reserve(count * self.size(element))
        placed = source.mapped(swizzle.offset, source.shape)
        with self.emitter.registers(source) as r:
            index = self.emitter.index(placed, r)
            self.write(element, 0, index, held.at(r))
        self.share()
        wanted = target.mapped(swizzle.offset, target.shape)
        return self.emitter.array(
            name,
            local_type(element),
            target,
            lambda r: self.read(element, 0, self.emitter.index(wanted, r)),
        )
