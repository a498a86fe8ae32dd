"""Dependence: which two ops must keep their order, by what they do to memory and for others to see.

An op reads and writes through addresses of a known provenance (regions included). Besides, it may
synchronise with other programs, in the words of C++ and of Triton's `sem=`:

- one that acquires (an atomic of "acquire" or "acq_rel") comes before every later access: what was
  published before it is seen after it;
- one that releases ("release", "acq_rel") comes after every earlier access: what was done before it
  is published by it;
- a debug_barrier, a load that bypasses the caches (volatile, ".cv"), and a loop that may spin until
  another program writes do both; a "relaxed" atomic does neither.

Prints and asserts are visible: they keep their order among themselves and relative to writes, since
what is stored before a failed assert stays stored, and what comes after it is not.

    dependence = Dependence(function)
    dependence.ordered(first, second)      # two ops, `first` the earlier: must they stay so?
    dependence.of(op).writes               # the provenance of what it may write

The same holds with programs running in parallel only for data-race-free kernels, as in C++: plain
accesses of two programs that conflict have no order.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.effects import accesses_memory, must_see_memory
from ..ir.nodes import Function, Op
from ..ir.ops import Effect
from ..ir.recursion import Walk, run
from .provenance import NOWHERE, Provenance, provenance
from .spinning import may_spin


@dataclass(frozen=True)
class MemoryEffect:
    """What an op does: the provenance of what it reads and writes, whether it acquires and
    releases, and whether a user sees it happen (prints and asserts)."""

    reads: Provenance = NOWHERE
    writes: Provenance = NOWHERE
    acquires: bool = False
    releases: bool = False
    visible: bool = False

    def __or__(self, other: MemoryEffect) -> MemoryEffect:
        return MemoryEffect(
            self.reads | other.reads,
            self.writes | other.writes,
            self.acquires or other.acquires,
            self.releases or other.releases,
            self.visible or other.visible,
        )

    @property
    def synchronises(self) -> bool:
        return self.acquires or self.releases

    @property
    def accesses(self) -> bool:
        """Whether it reads or writes memory at all."""
        return bool(self.reads) or bool(self.writes)

    def __bool__(self) -> bool:
        """Whether its place among other ops can matter."""
        return self.accesses or self.synchronises or self.visible


NO_EFFECT = MemoryEffect()
BARRIER = MemoryEffect(acquires=True, releases=True)
VISIBLE = MemoryEffect(visible=True)
_WITHOUT_ADDRESS = {
    "assume": NO_EFFECT,
    "barrier": BARRIER,
    **dict.fromkeys(("assert", "print", "check_access", "report"), VISIBLE),
}
_ACQUIRE, _RELEASE = ("acquire", "acq_rel"), ("release", "acq_rel")


class Dependence:
    """Answers for the ops of one function. `overlap`: distinct parameters may share memory."""

    def __init__(self, function: Function, overlap: bool = False) -> None:
        self.provenance = provenance(function)
        self.overlap = overlap
        self._known: dict[Op, MemoryEffect] = {}

    def of(self, op: Op) -> MemoryEffect:
        """The effect of an op and of everything in its regions."""
        if op not in self._known:
            run(self._walk(op))
        return self._known[op]

    def _walk(self, op: Op) -> Walk[None]:
        effect = BARRIER if may_spin(op) else self._own(op)
        for region in op.regions:
            for inner in region.ops:
                if inner not in self._known:
                    yield self._walk(inner)
                effect |= self._known[inner]
        self._known[op] = effect

    def _own(self, op: Op) -> MemoryEffect:
        if not accesses_memory(op):
            known = _WITHOUT_ADDRESS.get(op.name, NO_EFFECT)
            assert known is not NO_EFFECT or op.name == "assume" or op.row.effect is Effect.PURE
            return known
        address = self.provenance.of(op.operands[0])
        sync = op.attribute("sem") if "sem" in op.row.attrs else ""
        fresh = must_see_memory(op)
        return MemoryEffect(
            reads=address if op.types else NOWHERE,
            writes=address if op.row.effect is Effect.WRITE else NOWHERE,
            acquires=fresh or sync in _ACQUIRE,
            releases=fresh or sync in _RELEASE,
        )

    def ordered(self, first: Op, second: Op) -> bool:
        """Whether `second`, the later of the two in the program, must not happen before `first`."""
        return self.must_follow(self.of(first), self.of(second))

    def must_follow(self, first: MemoryEffect, second: MemoryEffect) -> bool:
        """`ordered`, of the effects of two ops."""
        if (first.acquires and second) or (second.releases and first):
            return True
        lasting = all(effect.visible or effect.writes for effect in (first, second))
        if lasting and (first.visible or second.visible):
            return True
        return (
            self.may_alias(first.writes, second.reads)
            or self.may_alias(first.reads, second.writes)
            or self.may_alias(first.writes, second.writes)
        )

    def may_alias(self, left: Provenance, right: Provenance) -> bool:
        """Whether two addresses may be one."""
        return left.may_alias(right) or (self.overlap and bool(left and right))
