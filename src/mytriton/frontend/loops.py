"""`for` and `while` whose extent only the run will tell.

One idea: the body is run once, into a region, with the names it carries replaced by the region's
params. Which Python values have to be carried is not known before: a number that the body binds
outside any `if` surely is; one that it may bind is left as it is, and if the body does change it,
the region is thrown away and the body run again with that number as a tensor. So a `stage = 1` that
only a compile-time `if` would change stays usable as a Python number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..errors import CompileError
from ..ir.build import current
from ..ir.nodes import Const, Operand, Param, Region
from ..ir.ops import RegionKind
from ..ir.types import BOOL, U32, U64
from ..language.semantics import cast, number_as, select
from ..language.tensor import tensor
from .branches import snapshot
from .jumps import RESULT
from .pytree import (
    Tree,
    Undefined,
    conflict,
    handle,
    handle_like,
    is_dynamic,
    is_known,
    same,
    type_name,
    zero_like,
)

if TYPE_CHECKING:
    from .rewrite import Site


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


@dataclass
class Carried:
    """What a loop carries: the names' values before it, and which of their leaves are carried."""

    site: Site
    before: dict[str, Tree]
    dynamic: dict[str, list[bool]] = field(default_factory=dict)
    bound_inside: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name, value in self.before.items():
            sure = name in self.site.likely
            self.dynamic[name] = [
                is_dynamic(leaf) and (sure or not is_known(leaf)) for leaf in value.leaves
            ]

    def operands(self) -> list[Operand]:
        """The carried values before the loop."""
        return [handle(leaf) for leaf, carried in self._leaves() if carried]

    def _leaves(self) -> Iterator[tuple[Any, bool]]:
        for name in self.site.names:
            yield from zip(self.before[name].leaves, self.dynamic[name])

    def values(self, operands: Sequence[Operand]) -> tuple[Any, ...]:
        """The names' values with the carried leaves replaced."""
        given = iter(operands)
        result = []
        for name in self.site.names:
            value = self.before[name]
            leaves = [
                tensor(next(given)) if carried else leaf
                for leaf, carried in zip(value.leaves, self.dynamic[name])
            ]
            result.append(value.rebuild(leaves))
        return tuple(result)

    def params(self) -> list[Param]:
        params = []
        for name in self.site.names:
            pairs = zip(self.before[name].leaves, self.dynamic[name])
            types = [handle(leaf).ty for leaf, carried in pairs if carried]  # type: ignore
            many = len(types) > 1
            plain = name.removeprefix("$")
            params += [Param(f"{plain}_{i}" if many else plain, ty) for i, ty in enumerate(types)]
        return params

    def ended(self, frame: FrameType) -> list[Operand] | None:
        """The carried values at the end of the body; None if more must be carried."""
        after = snapshot(frame, self.site.names)
        again = False
        results: list[Operand] = []
        for name in self.site.names:
            old, new = self.before[name], after[name]
            if not old.bound or not new.bound:
                again |= self.unbound(name, old, new)
                continue
            if old.shape != new.shape:
                raise self.changed(name, repr(old.value), repr(new.value))
            for position, (a, b) in enumerate(zip(old.leaves, new.leaves)):
                if self.dynamic[name][position]:
                    results.append(self.carry(name, a, b))
                elif not same(a, b):
                    self.promote(name, position, a, b)
                    again = True
        return None if again else results

    def carry(self, name: str, old: Any, new: Any) -> Operand:
        wanted = handle(old).ty  # type: ignore[union-attr]
        value = handle_like(new, wanted) if is_dynamic(new) else None
        if value is None or value.ty != wanted:
            raise self.changed(name, type_name(old), type_name(new))
        return value

    def promote(self, name: str, position: int, old: Any, new: Any) -> None:
        if not is_dynamic(old) or not is_dynamic(new):
            raise self.changed(name, type_name(old), type_name(new))
        self.dynamic[name][position] = True

    def unbound(self, name: str, old: Tree, new: Tree) -> bool:
        """A name not bound before the loop, or no longer at its end; whether to run again."""
        if name == RESULT and new.bound and any(map(is_dynamic, new.leaves)):
            leaves = tuple(map(zero_like, new.leaves))
            self.before[name] = Tree(new.value, new.shape, leaves)
            self.dynamic[name] = [is_dynamic(leaf) for leaf in leaves]
            return True
        if name == RESULT and new.bound:
            self.before[name] = new
            return False
        if old.bound and any(self.dynamic[name]):
            assert isinstance(new.value, Undefined)
            raise CompileError(new.value.reason or f"`{name}` is not bound at the loop's end")
        if not old.bound:
            self.bound_inside.add(name)
        return False

    def result(self, operands: Sequence[Operand]) -> tuple[Any, ...]:
        """The names' values after the loop."""
        line = self.site.line
        values = list(self.values(operands))
        for position, name in enumerate(self.site.names):
            if name in self.bound_inside and name != RESULT:
                values[position] = Undefined(
                    f"`{name}` is bound only inside the loop at line {line} (at line"
                    f" {self.site.first.get(name, line)}), which may run no time at all; bind it"
                    " before the loop"
                )
        return tuple(values)

    def changed(self, name: str, old: str, new: str) -> CompileError:
        site = self.site
        return conflict(
            name,
            "is changed by the loop to another type",
            f"{old} before it (line {site.before.get(name, site.line)})",
            f"{new} at the end of its body (line {site.first.get(name, site.line)})",
            "start it with a value of that type (tl.zeros, tl.full, 0.0 for floats), or convert it"
            " with .to(…) in the body",
        )


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
        self.carried = Carried(site, snapshot(frame, site.names))
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
        return [names.index(flag) for flag in flags if any(self.carried.dynamic[flag])]

    def count(self) -> tensor:
        """How many rounds the whole range has, as an unsigned number of its width."""
        low, high = (tensor(bound) for bound in self.bounds[:2])
        step = int(self.builder.known(self.bounds[2]) or 0)
        unsigned = U64 if low.dtype.bits == 64 else U32
        first, last = (low, high) if step > 0 else (high, low)
        span = tensor(cast(last.handle, unsigned)) - tensor(cast(first.handle, unsigned))
        rounds = span if abs(step) == 1 else (span - 1) // abs(step) + 1
        return tensor(select(first < last, rounds, 0))

    def enter(self) -> tuple[Any, ...]:
        values = list(self.carried.values(self.params))
        for position in self.exits:
            values[position] = False
        return tuple(values)

    def leave(self) -> None:
        self.ends = self.carried.ended(sys._getframe(1))
        if self.ends is None:
            self.builder.discard()

    def stop(self, flags: Sequence[Any]) -> bool:
        return False

    def results(self) -> tuple[Any, ...]:
        assert self.ends is not None
        if self.exits:
            return self.carried.result(self.leavable(self.ends)[2:])
        region = self.builder.close(self.ends)
        operands = [*self.bounds, *self.carried.operands()]
        hints = {"hints": tuple(sorted(self.hints.items()))} if self.hints else {}
        return self.carried.result(self.builder.emit("for", operands, hints, (region,)))

    def leavable(self, ends: list[Operand]) -> tuple[Operand, ...]:
        """The results of the loop as a `while`."""
        index, done = (tensor(place) for place in self.places)
        following = [(index + tensor(self.bounds[2])).handle, (done + 1).handle]
        body = self.builder.close([*following, *ends])
        self.open()
        more = tensor(self.places[1]) < self.rounds
        values = self.carried.values(self.params)
        for position in self.exits:
            more = more & values[position].logical_not()
        test = self.builder.close([more.handle])
        start = [self.bounds[0], number_as(0, self.rounds.dtype), *self.carried.operands()]
        return self.builder.emit("while", start, {}, (test, body))


class KernelWhile:
    """The state of one `while`: Python's as long as Python knows its condition and its jumps.

    Iterating gives True where the condition is to be evaluated, False for the body.
    """

    def __init__(
        self, site: Site, decide: Callable[[Any], bool | Operand], frame: FrameType
    ) -> None:
        self.site, self.decide = site, decide
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
        while True:
            before = snapshot(self.frame, self.site.names)
            self.open()
            yield True
            if self.close(not isinstance(self.answer, bool)):
                self.carried = Carried(self.site, before)
                return
            if not self.answer:
                return
            trial = bool(self.site.flags)
            if trial:
                self.open()
            yield False
            if trial and self.close(self.jumped()):
                self.carried = Carried(self.site, before)
                return

    def open(self) -> None:
        if not self.builder.eager:
            self.builder.open(RegionKind.TRIAL)

    def close(self, discard: bool) -> bool:
        """Throws the trial away, or makes its ops those of the region around it."""
        if self.builder.eager:
            return False
        if discard:
            self.builder.discard()
        else:
            self.builder.commit()
        return discard

    def jumped(self) -> bool:
        """Whether a jump depends on the run."""
        assert self.frame is not None
        values = self.frame.f_locals
        return not all(isinstance(self.decide(values.get(f)), bool) for f in self.site.flags)

    def attempt(self, carried: Carried) -> Iterator[bool]:
        self.params = carried.params()
        self.builder.open(RegionKind.LOOP, self.params)
        yield True
        answer = Const(self.answer, BOOL) if isinstance(self.answer, bool) else self.answer
        self.condition = self.builder.close([answer])
        self.params = carried.params()
        self.builder.open(RegionKind.LOOP, self.params)
        yield False
        assert self.frame is not None
        self.ends = carried.ended(self.frame)
        if self.ends is None:
            self.builder.discard()

    def test(self, value: Any) -> None:
        self.answer = self.decide(value)

    def enter(self) -> tuple[Any, ...]:
        assert self.carried is not None
        return self.carried.values(self.params)

    def leave(self) -> None:
        """The end of the body; the iteration that follows looks at the frame."""

    def results(self) -> tuple[Any, ...]:
        assert self.carried is not None and self.ends is not None and self.condition is not None
        body = self.builder.close(self.ends)
        operands = self.carried.operands()
        results = self.builder.emit("while", operands, {}, (self.condition, body))
        return self.carried.result(results)
