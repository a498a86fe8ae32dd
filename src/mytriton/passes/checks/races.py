"""Races: two programs touch one element, one of them writes, and nothing orders them.

Beside each array lie two arrays of i32, a word an element: who wrote it last, and who read it last.

    word   0 nobody, else   flag << 30 | block << 29 | (program mod 2**21) << 8 | access
    flag   of a writer: by an atomic; of a reader: another program has read it as well
    block  the access was of a block, so by many threads of a GPU
    access the number of the op, from 1 (`origins`), 255 for all from there on

Nothing is looked for in the reader's words of an array that the kernel never loads from, nor at
loads of one that it never stores to, unless another argument shares memory with it (`shared`).

A store looks for another program's number in both words, a load in the writer's, an atomic in both,
but not at other atomics; then each leaves its own. The programs of such a launch run one after the
other, so it does not matter which of the two comes first, and these are plain vector accesses.

Programs that synchronise are ordered by their acquires and releases, of which each takes a number
from a clock. Beside each word then lies the time of the access. An access by q is before one by p
if q has released something since and p has acquired something since. One thread of q releases, so
an access by a block counts only if the program has met at a barrier before it released. (This may
take unordered accesses for ordered, never the reverse; vector clocks would know: C. Flanagan and
S. N. Freund, "FastTrack", PLDI 2009.)

Within a program a store and a later load of the element by another lane need a `tl.debug_barrier`,
or an atomic that acquires, between them, since the lanes of a GPU are different threads: a third
array holds the lane that wrote, and how many barriers the program had passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...elementary.term import IrTerm
from ...ir.build import current, emit
from ...ir.effects import accesses_memory, must_see_memory
from ...ir.fold import constant
from ...ir.nodes import Function, Op, Operand, Param, Region, walk
from ...ir.ops import Effect
from ...ir.recursion import Walk
from ...ir.types import I32, I64, PointerType, shape_of
from ..provenance import provenance
from ..rebuild import Rebuild
from .branches import emit_if
from .findings import Finding, emit_findings, first_lane, lanes_of, stretched
from .hidden import HiddenParams, is_array, with_hidden
from .insert import mask_of

FLAG, BLOCK = 1 << 30, 1 << 29
PROGRAM_BITS, ACCESS_BITS = 21, 8
MOST_ACCESSES = (1 << ACCESS_BITS) - 1
ACQUIRES, RELEASES = ("acquire", "acq_rel"), ("release", "acq_rel")
LANE_BITS = 20


def find_races(function: Function) -> tuple[Function, tuple[Op, ...]]:
    """The function with checks for races, and the accesses that its reports name by number."""
    origins: list[Op] = []
    made = with_hidden(function, lambda hidden: _Races(function, hidden, origins).made)
    return made, tuple(origins)


def synchronises(op: Op, how: Sequence[str]) -> bool:
    """Whether an op orders programs, by one of the semantics named. A volatile load does so as a
    flag that another program sets would be looked at."""
    if must_see_memory(op):
        return "acquire" in how
    return (
        accesses_memory(op)
        and op.row.attrs.get("sem") is not None
        and op.attribute("sem") in how
        and op.attribute("scope") != "cta"
    )


@dataclass(frozen=True)
class Access:
    """One access: the array, its mask and shape, and the index of each lane's word."""

    op: Op
    array: Param
    mask: Operand
    shape: tuple[int, ...]
    index: IrTerm
    me: IrTerm

    @property
    def atomic(self) -> bool:
        """Whether others may access the element at the same time if they do so atomically."""
        modifies = bool(self.op.types) and self.op.row.effect is Effect.WRITE
        return modifies or must_see_memory(self.op)

    def at(self, words: Param) -> Operand:
        """The addresses of the words."""
        return emit("addptr", words, self.index.value)

    def read(self, words: Param) -> IrTerm:
        """The words, 0 where the mask is off."""
        other = None if self.mask is None else constant(0, I32)
        return IrTerm(emit("load", self.at(words), self.mask, other))

    def write(self, words: Param, value: IrTerm) -> None:
        current().emit("store", [self.at(words), value.value, self.mask])

    def foreign(self, word: IrTerm) -> IrTerm:
        """Where a word is another program's."""
        other = ((word ^ self.me) & (BLOCK - 1)) >> ACCESS_BITS
        return word.ne(0) & other.ne(0)


class _Races(Rebuild):
    def __init__(self, function: Function, hidden: HiddenParams, origins: list[Op]) -> None:
        super().__init__({})
        self.provenance = provenance(function)
        self.hidden, self.origins = hidden, origins
        self.pending: list[list[Finding]] = []
        ops = list(walk(function.body))
        self.clocked = any(synchronises(op, ACQUIRES + RELEASES) for op in ops)
        self.loaded = self._arrays(ops, Effect.READ)
        self.stored = self._arrays(ops, Effect.WRITE)
        self.exchanged = self.loaded & self.stored
        """The arrays that a program may hand elements from lane to lane through."""
        self.made = self.function(function)

    def _arrays(self, ops: Sequence[Op], effect: Effect) -> set[Param | None]:
        return {self.array(op) for op in ops if op.row.effect is effect and accesses_memory(op)}

    def array(self, op: Op) -> Param | None:
        """The one array that an access is of; None where it may be several, or any."""
        found = self.provenance.of(op.operands[0])
        arrays = list(filter(is_array, found.params))
        return arrays[0] if len(arrays) == 1 and not found.unknown else None

    # -- regions and ops

    def ops(self, region: Region) -> Walk[None]:
        self.pending.append([])
        yield super().ops(region)
        found = self.pending.pop()
        if found:
            emit_findings("races", found)

    def op(self, op: Op) -> Sequence[Operand]:
        if synchronises(op, RELEASES):
            self._release(bool(shape_of(op.types[0])))
        array = self.array(op) if accesses_memory(op) else None
        if array is not None:
            self.look(self.access(op, array))
        results = super().op(op)
        if self.exchanged and (op.name == "barrier" or synchronises(op, ACQUIRES)):
            self._bump(self.counter("barriers"))
        if self.clocked and (op.name == "barrier" or synchronises(op, ACQUIRES)):
            self._note("met")
        if synchronises(op, ACQUIRES):
            self._note("acquired")
        return results

    def _release(self, by_all: bool) -> None:
        """What the thread that releases has done until now is released, and what all threads have
        done until they met last; `by_all`: each releases."""
        self._note("released")
        done = emit("load", self.mine("released" if by_all else "met"), None, None)
        current().emit("store", [self.mine("released_blocks"), done, None])

    def _note(self, role: str) -> None:
        """Sets this program's number of a role to the time."""
        now = self._bump(self.counter("clock"))
        current().emit("store", [self.mine(role), now, None])

    # -- what a launch provides

    def words(self, role: str, array: Param | None) -> Param:
        """A hidden array of i32."""
        return self.hidden.get(role, array, PointerType(I32))

    def counter(self, role: str) -> Operand:
        """The address of a number of the launch; of the program, for barriers."""
        return self.mine(role) if role == "barriers" else self.words(role, None)

    def mine(self, role: str) -> Operand:
        """The address of this program's own number."""
        return emit("addptr", self.words(role, None), self.program().value)

    def _bump(self, address: Operand) -> Operand:
        """Counts on, and gives the new number."""
        attrs = {"kind": "add", "sem": "relaxed"}
        (before,) = current().emit("atomic", [address, constant(1, I32), None], attrs)
        return (IrTerm(before) + 1).value

    def program(self) -> IrTerm:
        """The number of this program in the grid, modulo 2 ** 21."""
        x, y, z = (IrTerm(emit("program_id", axis=axis)) for axis in range(3))
        nx, ny = (IrTerm(emit("num_programs", axis=axis)) for axis in range(2))
        return ((z * ny + y) * nx + x) & (1 << PROGRAM_BITS) - 1

    # -- accesses

    def access(self, op: Op, array: Param) -> Access:
        self.origins.append(op)
        pointer = self.operand(op.operands[0])
        assert pointer is not None
        start, _ = self.hidden.bounds(array)
        assert isinstance(array.ty, PointerType)
        bytes_ = IrTerm(IrTerm(pointer).to(I64).value) - IrTerm(start)
        index = bytes_ >> (array.ty.element.itemsize.bit_length() - 1)
        number = min(len(self.origins), MOST_ACCESSES)
        me = (self.program() << ACCESS_BITS) | (number | (BLOCK if shape_of(pointer.ty) else 0))
        mask = self.operand(mask_of(op))
        return Access(op, array, mask, shape_of(pointer.ty), index, me)

    def look(self, access: Access) -> None:
        """Looks for others at the elements of an access, and leaves word of it."""
        array = access.array
        if access.op.row.effect is Effect.READ:
            self.where_shared(array, array in self.stored, lambda: self.look_at_load(access))
            return
        writer = self.words("writer", array)
        wrote = access.read(writer)
        self.look_for_writers(access, wrote)
        self.where_shared(array, array in self.loaded, lambda: self.look_for_readers(access))
        access.write(writer, access.me | FLAG if access.atomic else access.me)
        self.leave_time(access, "writer")
        if array in self.exchanged:
            access.write(self.words("lane", array), self.place(access))

    def where_shared(self, array: Param, always: bool, look: Callable[[], None]) -> None:
        """Looks for others at an array that the kernel only loads from, or only stores to: only
        where another argument of the launch has some of its memory."""
        if always:
            return look()

        def inside() -> None:
            self.pending.append([])
            look()
            found = self.pending.pop()
            if found:
                emit_findings("races", found)

        emit_if(IrTerm(self.hidden.get("shared", array)).ne(0), inside)

    def look_for_writers(self, access: Access, wrote: IrTerm) -> None:
        bad = self.conflicts(access, wrote, "writer")
        if access.atomic:
            bad = bad & (wrote & FLAG).eq(0)
        self.tell(access, bad, wrote, "written")

    def look_at_load(self, access: Access) -> None:
        array = access.array
        wrote = access.read(self.words("writer", array))
        self.look_for_writers(access, wrote)
        if not access.atomic:
            if array in self.exchanged:
                self.exchange(access, wrote)
            self.leave_reader(access, self.words("reader", array))

    def look_for_readers(self, access: Access) -> None:
        read = access.read(self.words("reader", access.array))
        bad = self.conflicts(access, read, "reader") | self.several(access, read)
        self.tell(access, bad, read, "read")

    def leave_reader(self, access: Access, reader: Param) -> None:
        before = access.read(reader)
        several = access.foreign(before) | (before & FLAG).ne(0)
        access.write(reader, access.me | several.where(IrTerm(constant(FLAG, I32)), 0))
        self.leave_time(access, "reader")

    def several(self, access: Access, read: IrTerm) -> IrTerm:
        """Where others have read besides this program; nothing is known of their order."""
        if self.clocked:
            return IrTerm(constant(False, access.foreign(read).element))
        return (read & FLAG).ne(0)

    # -- order

    def leave_time(self, access: Access, role: str) -> None:
        if self.clocked:
            now = IrTerm(emit("load", self.counter("clock"), None, None))
            access.write(self.words(f"{role}_time", access.array), now + 1)

    def conflicts(self, access: Access, word: IrTerm, role: str) -> IrTerm:
        """Where a word is of another program whose access is not before this one."""
        foreign = access.foreign(word)
        if not self.clocked:
            return foreign
        time = access.read(self.words(f"{role}_time", access.array))
        released = (
            (word & BLOCK)
            .ne(0)
            .where(
                self.theirs(access, word, foreign, "released_blocks"),
                self.theirs(access, word, foreign, "released"),
            )
        )
        acquired = IrTerm(emit("load", self.mine("acquired"), None, None))
        return foreign & ((released >= time) & (acquired >= time) ^ True)

    def theirs(self, access: Access, word: IrTerm, foreign: IrTerm, role: str) -> IrTerm:
        """The number of a role of the programs that words are of."""
        whose = (word & (BLOCK - 1)) >> ACCESS_BITS
        at = emit("addptr", self.words(role, None), whose.value)
        mask = foreign if access.mask is None else foreign & IrTerm(access.mask)
        return IrTerm(emit("load", at, mask.value, constant(0, I32)))

    # -- lanes of one program

    def place(self, access: Access) -> IrTerm:
        """The lane of each element, and the barriers that the program has passed."""
        passed = IrTerm(emit("load", self.counter("barriers"), None, None)) << LANE_BITS
        lanes = lanes_of(access.shape)
        return passed if lanes is None else passed | (lanes & (1 << LANE_BITS) - 1)

    def exchange(self, access: Access, wrote: IrTerm) -> None:
        """A load of what another lane of this program stored, without a barrier since."""
        own = wrote.ne(0) & (access.foreign(wrote) ^ True) & (wrote & FLAG).eq(0)
        change = access.read(self.words("lane", access.array)) ^ self.place(access)
        same_barrier = (change >> LANE_BITS).eq(0)
        self.tell(access, own & same_barrier & change.ne(0), wrote, "lanes")

    def tell(self, access: Access, bad: IrTerm, word: IrTerm, role: str) -> None:
        taint = stretched(bad.where(word, 0), access.shape) if access.shape else bad.where(word, 0)
        key = first_lane(taint, access.mask, access.shape)
        found = Finding(key, (role, access.array.name), access.shape, access.op.where)
        self.pending[-1].append(found)
