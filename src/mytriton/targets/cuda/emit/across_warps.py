"""The last step of a reduction: values of several warps, through shared memory.

One thread for each value writes it, so that those of all warps are neighbours in the order of the
axis; after one barrier every thread reads them all, 16 bytes at a time, and combines them.

    if ((thread & 31) == 0) ((float*)scratch)[thread >> 5] = v10[0];
    __syncthreads();
    load_vector<4>(other6, (float*)scratch); ...
    v10[0] = other6[0]; v10[0] = maximum(v10[0], other6[1]); ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir.types import Element
from ....layouts.linear import combine
from .emitter import Emitter
from .held import Held
from .linear import Register, enclosed, image, joined

if TYPE_CHECKING:
    from .combine import Bit, Combination


def across_warps(work: Combination, arrays: Sequence[Held], bits: Sequence[Bit]) -> None:
    """The last bits of a reduction at once: one thread for each value publishes it, and every
    thread combines those of all warps, which lie side by side in the order of the axis."""
    emitter, extent = work.emitter, work.shape[work.axis]
    place = _Published(work, bits)
    count, starts = place.count, [0]
    for element in work.elements:
        starts.append(starts[-1] + -(-place.size * emitter.scratch.size(element) // 16) * 16)
    emitter.scratch.reserve(starts[-1])
    with work.groups(bits[0]) as r, emitter.guarded(place.writers()):
        for array, element, start in zip(arrays, work.elements, starts):
            emitter.scratch.write(element, start, place.of_writer(r), array.at(r))
    emitter.scratch.share()
    numbers = [n for n in range(count) if combine([b.weight for b in bits], n) < extent]
    with work.groups(bits[0]) as r, emitter.scope():
        every = [emitter.fresh("other") for _ in arrays]
        for name, c_type, element, start in zip(every, work.types, work.elements, starts):
            emitter.put(f"{c_type} {name}[{count}];")
            _read_row(emitter, name, element, start, place.of_reader(r), count)
        own = [array.at(r) for array in arrays]
        for name, text in zip(own, every):
            emitter.put(f"{name} = {text}[0];")
        for number in numbers[1:]:
            work.apply(own, own, [f"{name}[{number}]" for name in every])


class _Published:
    """Where values lie in shared memory on their way from warp to warp: `count` of them, one of
    each warp, are neighbours."""

    def __init__(self, work: Combination, bits: Sequence[Bit]) -> None:
        layout, self.thread = work.layout, work.emitter.thread
        across = {bit.thread for bit in bits}
        reduced = {bit.thread for bit in work.bits if bit.in_lanes}
        every = range(len(layout.thread))
        same = [t for t in every if t in reduced or (not layout.thread[t] and t not in across)]
        kept = [t for t in every if t not in same and t not in across]
        self.silent = sum(1 << t for t in same)
        self.count = 1 << len(bits)
        self.bases = [0] * len(layout.thread)
        for place, bit in enumerate(bits):
            self.bases[bit.thread or 0] = 1 << place
        for place, t in enumerate(kept, len(bits)):
            self.bases[t] = 1 << place
        weights, top = layout.along(work.axis)[0], 1 << len(bits) + len(kept)
        self.registers = [0] * len(layout.register)
        for number, weight in enumerate(weights):
            if not weight & work.done:
                self.registers[number], top = top, 2 * top
        self.size = top

    def writers(self) -> list[str]:
        """The condition of the one thread that writes what several hold."""
        return [f"({self.thread} & {self.silent}) == 0"] if self.silent else []

    def of_writer(self, r: Register) -> str:
        """The index at which a thread writes register r."""
        return joined([image(self.thread, self.bases), image(r, self.registers)], apart=True)

    def of_reader(self, r: Register) -> str:
        """The index of the first of the values that a thread reads for register r."""
        bases = [base if base >= self.count else 0 for base in self.bases]
        return joined([image(self.thread, bases), image(r, self.registers)], apart=True)


def _read_row(
    emitter: Emitter, name: str, element: Element, start: int, at: str, count: int
) -> None:
    """Reads neighbours in shared memory, in accesses of up to 16 bytes."""
    vector = min(count, 16 // emitter.scratch.size(element))
    base = emitter.scratch.pointer(element, start)
    with emitter.printer.loop(count // vector, "i"):
        terms = [enclosed(at)] if at != "0" else []
        terms += [f"{vector} * i"] if count > vector else []
        place = f"{base} + {' + '.join(terms)}" if terms else base
        to = f"&{name}[{vector} * i]" if count > vector else name
        emitter.put(f"load_vector<{vector}>({to}, {place});")
