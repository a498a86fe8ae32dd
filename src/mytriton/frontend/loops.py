"""`for` and `while` whose extent only the run will tell.

The body is traced into a region; `carried.py` finds what it carries, and how often it has to be
traced for that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from ..ir.build import current
from ..ir.nodes import Const, Operand, Param, Region
from ..ir.ops import RegionKind
from ..ir.types import BOOL, U32, U64
from ..language.debug import StaticOutput, static_output
from ..language.promotion import cast, number_as
from ..language.semantics import select
from ..language.tensor import tensor
from .aliases import check_shared
from .carried import Carried
from .conditions import as_condition
from .heap import Heap, values_of
from .plan import yielded
from .rewrite import Site
from .unchanged import Unchanged


class PythonLoop:
    """A loop over a Python iterable."""

    symbolic = False

    def __init__(self, iterable: Iterable[Any]) -> None:
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def stop(self, flags: Sequence[Any]) -> bool:
        """Whether the loop was surely left."""
        return any(flag is True or _known(flag) for flag in flags)


def _known(flag: Any) -> bool:
    return isinstance(flag, tensor) and bool(current().known(flag.handle))


class KernelFor:
    """The state of one `for` over a range of the kernel.

    Where the body may leave the loop (its jump flags are carried), it becomes a `while` over a
    count of the rounds, so that no round runs after the jump.
    """

    symbolic = True

    def __init__(
        self,
        site: Site,
        bounds: tuple[Operand, Operand, Operand],
        hints: Mapping[str, Any],
        frame: FrameType,
    ) -> None:
        self.bounds, self.hints = bounds, hints
        self.builder = current()
        check_shared()
        self.carried = Carried(site, frame, values_of(frame, site.names), Heap.take(frame))
        self.places: list[Param] = []
        self.params: list[Param] = []
        self.exits: list[int] = []
        self.rounds: Any = None
        self.ends: list[Operand] | None = None

    def __iter__(self) -> Iterator[Any]:
        while self.ends is None:
            self.exits = self.carried_exits()
            self.rounds = self.count() if self.exits else None
            self.open()
            yield tensor(self.places[0])

    def open(self) -> None:
        """Enters a region of the loop: the index, the round in a `while`, the carried values."""
        assert self.bounds[0] is not None
        self.places = [Param("i", self.bounds[0].ty)]
        if self.exits:
            self.places.append(Param("round", self.rounds.type))
        self.params = self.carried.params()
        self.builder.open(RegionKind.LOOP, [*self.places, *self.params])

    def carried_exits(self) -> list[int]:
        """Where among the names those jump flags are that only the run will tell."""
        names = self.carried.site.names
        if self.builder.known(self.bounds[2]) is None:
            return []
        flags = [flag for flag in self.carried.site.flags if flag in names]
        return [i for i in map(names.index, flags) if yielded([self.carried.names[names[i]]])]

    def count(self) -> tensor:
        """How many rounds the whole range has, as an unsigned number of its width."""
        low, high = (tensor(bound) for bound in self.bounds[:2])
        step = int(self.builder.known(self.bounds[2]) or 0)
        unsigned = U64 if low.dtype.bits == 64 else U32
        first, last = (low, high) if step > 0 else (high, low)
        span = tensor(cast(last.handle, unsigned)) - tensor(cast(first.handle, unsigned))
        rounds = span if abs(step) == 1 else (span - 1) // abs(step) + 1
        return tensor(select((first < last).handle, rounds.handle, 0))

    def enter(self) -> tuple[Any, ...]:
        values = list(self.carried.enter(self.params, sys._getframe(1)))
        for position in self.exits:
            values[position] = False
        return tuple(values)

    def leave(self) -> None:
        self.ends = self.carried.ended(sys._getframe(1))
        if self.ends is None:
            self.builder.discard()
            self.carried.undo()

    def stop(self, flags: Sequence[Any]) -> bool:
        return False

    def results(self) -> tuple[Any, ...]:
        assert self.ends is not None
        frame = sys._getframe(1)
        if self.exits:
            return self.carried.result(self.leavable(self.ends)[2:], frame)
        region = self.builder.close(self.ends)
        operands = [*self.bounds, *self.carried.operands()]
        hints = {"hints": tuple(sorted(self.hints.items()))} if self.hints else {}
        return self.carried.result(self.builder.emit("for", operands, hints, (region,)), frame)

    def leavable(self, ends: list[Operand]) -> tuple[Operand, ...]:
        """The results of the loop as a `while`."""
        index, done = (tensor(place) for place in self.places)
        following = [(index + tensor(self.bounds[2])).handle, (done + 1).handle]
        body = self.builder.close([*following, *ends])
        self.open()
        more = tensor(self.places[1]) < self.rounds
        given = dict(zip(yielded(self.carried.plans()), self.params))
        for position in self.exits:
            (flag,) = yielded([self.carried.names[self.carried.site.names[position]]])
            more = more & tensor(given[flag]).logical_not()
        test = self.builder.close([more.handle])
        start = [self.bounds[0], number_as(0, self.rounds.dtype), *self.carried.operands()]
        return self.builder.emit("while", start, {}, (test, body))


class KernelWhile:
    """The state of one `while`: Python's as long as Python knows its condition and its jumps.

    Iterating gives True where the condition is to be evaluated, False for the body.
    """

    def __init__(self, site: Site, frame: FrameType) -> None:
        self.site = site
        self.frame: FrameType | None = frame
        self.builder = current()
        self.symbolic = False
        self.answer: bool | Operand = False
        self.carried: Carried | None = None
        self.params: list[Param] = []
        self.ends: list[Operand] | None = None
        self.condition: Region | None = None

    def __iter__(self) -> Iterator[bool]:
        yield from self.python()
        if self.carried is None:
            self.frame = None
            return
        self.symbolic = True
        while self.ends is None:
            yield from self.attempt(self.carried)
        self.frame = None

    def python(self) -> Iterator[bool]:
        """Python's own loop, until something only the run will tell turns up."""
        assert self.frame is not None
        while True:
            check_shared()
            before, heap = values_of(self.frame, self.site.names), Heap.take(self.frame)
            self.open()
            yield True
            if self.close(not isinstance(self.answer, bool)):
                heap.restore(heap.changed())
                self.carried = Carried(self.site, self.frame, before, heap)
                return
            if not self.answer:
                return
            trial = bool(self.site.flags)
            if trial:
                self.open()
            yield False
            if trial and self.close(self.jumped()):
                heap.restore(heap.changed())
                self.carried = Carried(self.site, self.frame, before, heap)
                return

    def open(self) -> None:
        if not self.builder.eager:
            self.builder.open(RegionKind.TRIAL)
            self.output = static_output.get(StaticOutput())
            self.printed = self.output.begin()

    def close(self, discard: bool) -> bool:
        """Throws the trial away, or makes its ops those of the region around it."""
        if self.builder.eager:
            return False
        self.output.end(self.printed, keep=not discard)
        if discard:
            self.builder.discard()
        else:
            self.builder.commit()
        return discard

    def jumped(self) -> bool:
        """Whether a jump depends on the run."""
        assert self.frame is not None
        values = self.frame.f_locals
        return not all(isinstance(as_condition(values.get(f)), bool) for f in self.site.flags)

    def attempt(self, carried: Carried) -> Iterator[bool]:
        self.params = carried.params()
        self.builder.open(RegionKind.LOOP, self.params)
        self.testing = True
        yield True
        self.testing = False
        self.unchanged.check(f"the condition of the loop at line {self.site.line}")
        answer = Const(self.answer, BOOL) if isinstance(self.answer, bool) else self.answer
        self.condition = self.builder.close([answer])
        self.params = carried.params()
        self.builder.open(RegionKind.LOOP, self.params)
        yield False
        assert self.frame is not None
        self.ends = carried.ended(self.frame)
        if self.ends is None:
            self.builder.discard()
            carried.undo()

    def test(self, value: Any) -> None:
        self.answer = as_condition(value)

    def enter(self) -> tuple[Any, ...]:
        assert self.carried is not None
        frame = sys._getframe(1)
        values = self.carried.enter(self.params, frame)
        if self.testing:
            self.unchanged = Unchanged.take(frame)
        return values

    def leave(self) -> None:
        """The end of the body; the iteration that follows looks at the frame."""

    def results(self) -> tuple[Any, ...]:
        assert self.carried is not None and self.ends is not None and self.condition is not None
        body = self.builder.close(self.ends)
        operands = self.carried.operands()
        results = self.builder.emit("while", operands, {}, (self.condition, body))
        return self.carried.result(results, sys._getframe(1))
