"""Reductions and scans: elements are combined in pairs, one bit of the coordinate at a time.

Two elements whose coordinates along the axis differ in one bit lie in two registers of a thread, in
two lanes of a warp, or in two warps. So a reduction is one step for each bit: registers combine in
place, lanes exchange by shuffles, warps through shared memory. After the steps of some bits every
element holds the combination of its whole group (the elements that differ in those bits only).

    bit 0 in registers    v9[r] = v9[r] + v9[r ^ 1]
    bit 1 in lane bit 3   v9[r] = v9[r] + shuffle_xor(v9[r], 8)

The lower bits come first, so that a group is a run of neighbours and the order is kept; where the
function commutes, registers come first, then lanes, since that needs fewer shuffles. A scan keeps
beside each element's running value the total of its group: the right half of each pair of groups
takes in the total of the left half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ....ir.nodes import Op, Region
from ....ir.types import PointerType, element_of, shape_of
from ....layouts.linear import Layout, log2
from ..spelling import local_type
from .across_warps import across_warps
from .emitter import Emitter, Rule
from .held import Held
from .linear import Register, enclosed, image
from .pointwise import elementwise_text

LANES = 5


@dataclass(frozen=True)
class Bit:
    """One bit of the coordinate along an axis: its weight, and the register or thread bit that
    carries it."""

    weight: int
    register: int | None
    thread: int | None

    @property
    def in_registers(self) -> bool:
        return self.register is not None

    @property
    def in_lanes(self) -> bool:
        return self.thread is not None and self.thread < LANES


def bits_along(layout: Layout, axis: int) -> list[Bit]:
    """The bits of the coordinate along an axis, lowest first."""
    registers, threads = layout.along(axis)
    places = {base: Bit(base, bit, None) for bit, base in enumerate(registers) if base}
    places |= {base: Bit(base, None, bit) for bit, base in enumerate(threads) if base}
    return [places[1 << bit] for bit in range(log2(layout.shape[axis]))]


def commutes(region: Region) -> bool:
    """Whether the function of a reduction is one op that commutes."""
    first, *rest = region.ops
    row = first.row.element
    return len(rest) == 1 and row is not None and row.commutes


class Combination:
    """The values of one reduction or scan while it is printed."""

    def __init__(self, emitter: Emitter, op: Op) -> None:
        self.emitter, self.op = emitter, op
        self.layout = emitter.distribution.accesses[op]
        (self.region,) = op.regions
        self.axis, self.bits = op.attribute("axis"), bits_along(self.layout, op.attribute("axis"))
        (first, *_) = op.operands
        assert first is not None
        self.shape = shape_of(first.ty)
        self.types = [local_type(value.ty) for value in op.results]
        self.elements = [element_of(value.ty) for value in op.results]
        self.values = [emitter.get(operand, self.layout) for operand in op.operands]
        self.done = 0
        """The weights of the bits that have been combined."""

    def copies(self, suffix: str = "") -> list[Held]:
        """Locals for the registers, set to the operands."""
        made = []
        for value, c_type, held in zip(self.op.results, self.types, self.values):
            name = f"{self.emitter.local(value)}{suffix}"
            made.append(self.emitter.array(name, c_type, self.layout, held.at))
        return made

    def apply(self, names: Sequence[str], left: Sequence[str], right: Sequence[str]) -> None:
        """Assigns the function of two elements to names: one expression, or lines of a block."""
        emitter, first, *rest = self.emitter, *self.region.ops
        for param, text in zip(self.region.params, (*left, *right)):
            emitter.define(param, Held(text, emitter.scalar))
        row = first.row.element
        if len(rest) == 1 and row is not None and rest[0].operands == first.results:
            texts = [emitter.get(operand, emitter.scalar).name for operand in first.operands]
            text = elementwise_text(row, self.elements[0], texts, fast=True)
            emitter.put(f"{names[0]} = {text};")
            return
        with emitter.printer.block(""), emitter.scope():
            emitter.body(self.region)
            results = [emitter.get(result, emitter.scalar).name for result in self.region.results]
            for place, text in enumerate(results):
                if text in names[:place]:
                    results[place] = emitter.fresh("other")
                    emitter.put(f"{self.types[place]} {results[place]} = {text};")
            for name, text in zip(names, results):
                emitter.put(f"{name} = {text};")

    def right_exists(self, bit: Bit, r: Register) -> list[str]:
        """The condition that the right group of a pair is not all padding."""
        extent, whole = self.shape[self.axis], self.layout.shape[self.axis]
        if extent == whole:
            return []
        at = self.emitter.coordinate(self.layout, self.axis, r)
        kept = whole - 1 & ~(self.done | bit.weight)
        start = f"({enclosed(at)} & {kept} | {bit.weight})" if kept else str(bit.weight)
        return [f"{start} < {extent}"]

    @contextmanager
    def groups(self, bit: Bit, all_registers: bool = False) -> Iterator[Register]:
        """The registers that stand for the groups left, those whose bit is clear."""
        gone = 0 if all_registers else self.done
        own = 0 if bit.register is None else self.layout.register[bit.register]
        weights = self.layout.along(self.axis)[0]
        kept = [
            1 << place
            for place, base in enumerate(self.layout.register)
            if not weights[place] & gone and base != own
        ]
        if not kept:
            yield 0
            return
        with self.emitter.printer.loop(1 << len(kept), "q"):
            index = image("q", kept)
            if index == "q":
                yield "q"
            else:
                self.emitter.put(f"int r = {index};")
                yield "r"

    def remote(self, arrays: Sequence[Held], bit: Bit, all_registers: bool = False) -> list[Held]:
        """The partners of all registers where the bit is one of a warp's number; else nothing."""
        if bit.in_registers or bit.in_lanes:
            return []
        assert bit.thread is not None
        partner = f"({self.emitter.thread} ^ {1 << bit.thread})"
        found = []
        for place, array in enumerate(arrays):
            self.publish(place, array, bit, all_registers)
            found.append(self._collected(place, partner))
        return found

    def _collected(self, place: int, partner: str) -> Held:
        """What a partner has published, in registers."""
        emitter, element = self.emitter, self.elements[place]
        name = emitter.fresh("other")
        return emitter.array(
            name,
            self.types[place],
            self.layout,
            lambda r: emitter.scratch.read(element, 0, self.slot(r, partner)),
        )

    def publish(self, place: int, array: Held, bit: Bit, all_registers: bool = False) -> None:
        """Writes an array's registers to shared memory, where every thread can read them."""
        emitter, element = self.emitter, self.elements[place]
        threads = emitter.distribution.threads
        emitter.scratch.reserve(emitter.scratch.size(element) * threads * self.layout.registers)
        with self.groups(bit, all_registers) as r:
            emitter.scratch.write(element, 0, self.slot(r, emitter.thread), array.at(r))
        emitter.scratch.share()

    def slot(self, r: Register, thread: str) -> str:
        """Where a register of a thread is published."""
        threads = self.emitter.distribution.threads
        at = image(r, [threads << bit for bit in range(len(self.layout.register))])
        return thread if at == "0" else f"{enclosed(at)} + {thread}"

    def partners(
        self, arrays: Sequence[Held], remote: Sequence[Held], bit: Bit, r: Register
    ) -> list[str]:
        """The elements of a group's partner, by name."""
        if bit.register is not None:
            return [flipped(array, bit.register, r) for array in arrays]
        if remote:
            return [one.at(r) for one in remote]
        names = []
        assert bit.thread is not None
        for array, c_type in zip(arrays, self.types):
            names.append(self.emitter.fresh("other"))
            moved = f"shuffle_xor({array.at(r)}, {1 << bit.thread})"
            self.emitter.put(f"{c_type} {names[-1]} = {moved};")
        return names


def flipped(array: Held, bit: int, r: Register) -> str:
    """The register whose number differs in one bit, which is clear in r."""
    if isinstance(r, int):
        return array.at(r | 1 << bit)
    return f"{array.name}[{r} | {1 << bit}]"


# -- reductions


def reduce(emitter: Emitter, op: Op) -> None:
    """Combines along an axis."""
    work = Combination(emitter, op)
    arrays, free, bits = work.copies(), commutes(work.region), work.bits
    if free:
        bits.sort(key=lambda bit: (not bit.in_registers, not bit.in_lanes))
    for place, bit in enumerate(bits):
        rest = bits[place:]
        pointers = any(isinstance(element, PointerType) for element in work.elements)
        if not pointers and not any(bit.in_registers or bit.in_lanes for bit in rest):
            across_warps(work, arrays, rest)
            break
        _reduce_step(work, arrays, bit)
        work.done |= bit.weight
    sliced = work.layout.without(work.axis)
    kept = [place for place, base in enumerate(sliced.register) if base]
    for value, array in zip(op.results, arrays):
        select = tuple(array.select[place] for place in kept)
        home = sliced.compact()
        held = Held(array.name, home, array.count, select)
        scalar = not shape_of(value.ty)
        emitter.define(value, Held(array.at(0), home) if scalar else held, home)


def _reduce_step(work: Combination, arrays: Sequence[Held], bit: Bit) -> None:
    """One bit of a reduction: each group becomes the combination with its partner."""
    emitter = work.emitter
    remote = work.remote(arrays, bit)
    with work.groups(bit) as r, emitter.scope():
        own = [array.at(r) for array in arrays]
        other = work.partners(arrays, remote, bit, r)
        flags = work.right_exists(bit, r)
        if bit.thread is None:
            with emitter.guarded(flags):
                work.apply(own, own, other)
            return
        right = f"{emitter.thread} & {1 << bit.thread}"
        if commutes(work.region):
            with emitter.guarded(flags):
                work.apply(own, own, other)
            _take_over(work, flags, right, own, other)
            return
        with emitter.printer.block(f"if ({right})", close=False):
            _guarded_right(work, flags, own, other)
        with emitter.printer.block(f"}} else{f' if ({flags[0]})' if flags else ''}"):
            work.apply(own, own, other)


def _guarded_right(
    work: Combination, flags: Sequence[str], own: Sequence[str], other: Sequence[str]
) -> None:
    """In the right one of two threads: the other comes first, and is all there is where the right
    group is padding."""
    with work.emitter.guarded(flags):
        work.apply(own, other, own)
    _take_over(work, flags, "", own, other)


def _take_over(
    work: Combination, flags: Sequence[str], right: str, own: Sequence[str], other: Sequence[str]
) -> None:
    """Where the right group is padding, its threads hold what the left one does."""
    if not flags:
        return
    absent = f"!({flags[0]})"
    with work.emitter.guarded([absent, f"({right})"] if right else [absent]):
        for name, text in zip(own, other):
            work.emitter.put(f"{name} = {text};")


# -- scans


def scan(emitter: Emitter, op: Op) -> None:
    """Running combinations along an axis."""
    work = Combination(emitter, op)
    running = work.copies()
    totals = work.copies("_total")
    for bit in work.bits:
        if bit.in_registers:
            _scan_registers(work, running, totals, bit)
        else:
            _scan_threads(work, running, totals, bit)
        work.done |= bit.weight
    for value, held in zip(op.results, running):
        emitter.define(value, held, work.layout)


def _scan_registers(
    work: Combination, running: Sequence[Held], totals: Sequence[Held], bit: Bit
) -> None:
    """Both halves of a pair of groups lie in this thread."""
    assert bit.register is not None
    with work.groups(bit, all_registers=True) as r, work.emitter.scope():
        left = [total.at(r) for total in totals]
        right = [flipped(total, bit.register, r) for total in totals]
        if work.op.attribute("reverse"):
            with work.emitter.guarded(work.right_exists(bit, r)):
                own = [array.at(r) for array in running]
                work.apply(own, right, own)
                work.apply(left, right, left)
        else:
            own = [flipped(array, bit.register, r) for array in running]
            work.apply(own, left, own)
            work.apply(left, left, right)
        for one, other in zip(left, right):
            work.emitter.put(f"{other} = {one};")


def _scan_threads(
    work: Combination, running: Sequence[Held], totals: Sequence[Held], bit: Bit
) -> None:
    """The other half of a pair of groups lies in another thread."""
    emitter, reverse = work.emitter, work.op.attribute("reverse")
    remote = work.remote(totals, bit, all_registers=True)
    with work.groups(bit, all_registers=True) as r, emitter.scope():
        own, total = [a.at(r) for a in running], [t.at(r) for t in totals]
        other = work.partners(totals, remote, bit, r)
        flags = work.right_exists(bit, r) if reverse else []
        right = f"{emitter.thread} & {1 << (bit.thread or 0)}"
        with emitter.printer.block(f"if ({f'!({right})' if reverse else right})", close=False):
            _both(work, flags, own, total, other)
        with emitter.printer.block("} else"):
            with emitter.guarded(flags):
                work.apply(total, total, other)
            _take_over(work, flags, "", total, other)


def _both(
    work: Combination,
    flags: Sequence[str],
    own: Sequence[str],
    total: Sequence[str],
    other: Sequence[str],
) -> None:
    """The later half of a pair of groups takes in the total of the earlier one."""
    with work.emitter.guarded(flags):
        work.apply(own, other, own)
        work.apply(total, other, total)


RULES: dict[str, Rule] = {"reduce": reduce, "scan": scan}
