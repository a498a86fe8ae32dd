"""Atomic additions that nobody reads back are summed up first, and added to memory at the end.

A machine atomic takes some twenty cycles alone, and hundreds where several threads want one line.
Where all that a kernel does to a block of memory is to add ints to it, no program can tell when an
addition happens; so each thread keeps a table of addresses with what is to be added to each, and
adds that when another address needs the place, and when the thread's part of the launch is done:

    table[address / size % SLOTS]  =  { address, sum }

What makes this invisible: the old values are not used, nothing else in the kernel touches that
memory or meets other programs, and sums of ints wrap alike in any order. (The idea is that of
privatised histograms; the table is a direct-mapped cache.)
"""

from __future__ import annotations

from ...ir.effects import accesses_memory
from ...ir.nodes import Function, Op, walk
from ...ir.types import ScalarType, element_of, shape_of
from ...passes.dependence import Dependence
from ...passes.spinning import may_spin
from .code import Reg, const
from .lowering import CALLBACKS
from .nest import Nest
from .types import SIZES

SLOTS = 2048
SLOT = "{ ptr, i64 }"
TABLE_BYTES = SLOTS * 16


def unread_atomics(function: Function) -> frozenset[Op]:
    """The atomics whose old values nothing uses."""
    ops = list(walk(function.body))
    used = {operand for op in ops for operand in op.operands}
    atomics = [op for op in ops if op.name in ("atomic", "atomic_cas")]
    return frozenset(op for op in atomics if used.isdisjoint(op.results))


def summed_atomics(function: Function, overlap: bool) -> frozenset[Op]:
    """The atomics that may be summed up: all of the function's, or none."""
    ops = list(walk(function.body))
    atomics = [op for op in ops if op.name in ("atomic", "atomic_cas")]
    types = {element_of(op.operands[1].ty) for op in atomics if op.operands[1] is not None}
    if not all(map(_adds_blocks_of_ints, atomics)) or len(types) != 1:
        return frozenset()
    if not unread_atomics(function).issuperset(atomics):
        return frozenset()
    if any(op.name in CALLBACKS or op.name == "barrier" or may_spin(op) for op in ops):
        return frozenset()
    dependence = Dependence(function, overlap)
    others = [op for op in ops if accesses_memory(op) and op not in atomics]
    for effect in map(dependence.of, atomics):
        for other in map(dependence.of, others):
            if other.synchronises or dependence.may_alias(
                effect.writes, other.reads | other.writes
            ):
                return frozenset()
    return frozenset(atomics)


def _adds_blocks_of_ints(op: Op) -> bool:
    value = op.operands[1]
    assert value is not None
    element = element_of(value.ty)
    ints = isinstance(element, ScalarType) and element.kind in "iu" and element.bits in (32, 64)
    return (
        op.name == "atomic" and op.attrs["kind"] == "add" and ints and bool(shape_of(op.types[0]))
    )


def add_to_table(nest: Nest, table: Reg, address: Reg, value: Reg) -> None:
    """Adds a scalar to the sum for an address, at the end of the innermost code."""
    code, fresh, level = nest.codes[-1], nest.writer.names.fresh, len(nest.codes) - 1

    def here(hint: str, text: str, type_: str) -> Reg:
        return nest.put(level, hint, text, type_)

    number = here("number", f"ptrtoint {address.typed} to i64", "i64")
    shift = const("i64", SIZES[value.type].bit_length() - 1)
    place = here("place", f"lshr {number.typed}, {shift.text}", "i64")
    slot = here("slot", f"and {place.typed}, {SLOTS - 1}", "i64")
    at = here("at", f"getelementptr {SLOT}, {table.typed}, {slot.typed}", "ptr")
    holds = here("holds", f"load ptr, {at.typed}, align 8", "ptr")
    hit = here("hit", f"icmp eq {holds.typed}, {address.text}", "i1")
    miss, ready = fresh("miss"), fresh("ready")
    code.add(f"br i1 {hit.text}, label %{ready}, label %{miss}")
    code.start(miss)
    nest.writer.module.helpers["empty_slot"] = _empty_slot(value.type)
    code.add(f"call void @empty_slot({at.typed}, {address.typed})")
    code.branch(ready)
    sum_at = here("sum.at", f"getelementptr i8, {at.typed}, i64 8", "ptr")
    old = here("sum", f"load {value.type}, {sum_at.typed}, align 8", value.type)
    new = here("sum", f"add {old.typed}, {value.text}", value.type)
    code.add(f"store {new.typed}, {sum_at.typed}, align 8")


def _empty_slot(type_: str) -> str:
    """Adds a slot's sum to memory, if it holds one, and gives the slot to another address."""
    return f"""define internal void @empty_slot(ptr %slot, ptr %address) noinline {{
  %holds = load ptr, ptr %slot, align 8
  %sum.at = getelementptr i8, ptr %slot, i64 8
  %none = icmp eq ptr %holds, null
  br i1 %none, label %given, label %full
full:
  %sum = load {type_}, ptr %sum.at, align 8
  %old = atomicrmw add ptr %holds, {type_} %sum acq_rel, align {SIZES[type_]}
  br label %given
given:
  store ptr %address, ptr %slot, align 8
  store i64 0, ptr %sum.at, align 8
  ret void
}}"""


def clear_table(offset: int) -> list[str]:
    """The lines that empty the table at an offset of the arena, before a thread's first program."""
    return [
        f"  %table = getelementptr i8, ptr %arena, i64 {offset}",
        f"  call void @llvm.memset.p0.i64(ptr %table, i8 0, i64 {TABLE_BYTES}, i1 false)",
    ]


ADD_TABLE = f"""define internal void @add_table(ptr %table) noinline {{
entry:
  br label %each
each:
  %i = phi i64 [ 0, %entry ], [ %i.next, %each ]
  %slot = getelementptr {SLOT}, ptr %table, i64 %i
  call void @empty_slot(ptr %slot, ptr null)
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, {SLOTS}
  br i1 %more, label %each, label %done
done:
  ret void
}}"""
"""Adds every sum to memory, after a thread's last program."""
