"""An `if` whose condition only the run will tell.

Both blocks run once, each into a region, from the same values. Names and the items of objects that
the two leave different become what the regions yield. A block that jumped away never reaches what
follows, so what it leaves unbound is filled with zeros instead of being an error.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from ..errors import CompileError
from ..ir.build import Scope, current
from ..ir.nodes import Operand, Region
from ..ir.ops import RegionKind
from .aliases import check_shared, share
from .heap import Content, Heap, values_of, write
from .join import Join, World
from .jumps import RETURNED
from .plan import Assembly, Plan
from .portable import check_choice
from .rewrite import Site
from .watch import moment, refuse_advanced


class KernelIf:
    """The state of one such `if`, from its condition to the join; of a conditional expression
    (`first`, `second`), which has no names."""

    then = orelse = symbolic = True

    def __init__(self, site: Site, condition: Operand, frame: FrameType) -> None:
        self.site, self.condition = site, condition
        self.saved = values_of(frame, site.names)
        self.heap = Heap.take(frame)
        self.moment = moment(list(self.heap.objects.values()), frame)
        check_shared()
        self.builder = current()
        self.builder.open(RegionKind.BRANCH)
        self.left = World(self.heap)
        self.scope: Scope | None = None

    def other(self) -> tuple[Any, ...]:
        """Ends the first block: what it left is kept, and all is as before the `if`."""
        self.left = self.world(sys._getframe(1))
        self.begin_else()
        return tuple(self.saved[name] for name in self.site.names)

    def begin_else(self) -> None:
        self.scope = self.builder.set_aside()
        self.builder.open(RegionKind.BRANCH)

    def world(self, frame: FrameType) -> World:
        """What a block left; the objects that it changed hold again what they held."""
        check_shared()
        changed = self.heap.changed()
        refuse_advanced(self.heap, changed, self.moment, f"the `if` at line {self.site.line}")
        values = values_of(frame, (*self.site.names, *self.site.flags))
        jumps = frozenset(flag for flag in self.site.flags if values[flag] is True)
        self.heap.restore(changed)
        return World(self.heap, values, changed, jumps)

    def join(self) -> tuple[Any, ...]:
        """Ends the second block; the values of the names after the `if`."""
        frame = sys._getframe(1)
        right = self.world(frame)
        jumps, values = right.jumps, dict(right.values)
        if self.site.guard:
            jumps |= {RETURNED} if self.site.guard == (RETURNED,) else {"guard"}
        if len(self.site.guard) == 1:
            values[self.site.guard[0]] = True
        join = self.joined(World(self.heap, values, right.changed, jumps))
        plans = [join.name(name) for name in self.site.names]
        return self.finish(join, plans, frame)

    # -- conditional expressions

    def first(self, value: Any) -> None:
        self.left = self.expression_world(value, sys._getframe(1))
        self.begin_else()

    def second(self, value: Any) -> Any:
        frame = sys._getframe(1)
        check_choice(self.left.values[""], value)
        join = self.joined(self.expression_world(value, frame))
        return self.finish(join, [join.name("")], frame)[0]

    def expression_world(self, value: Any, frame: FrameType) -> World:
        world = self.world(frame)
        for name, bound in world.values.items():
            if bound is not self.saved[name]:
                raise CompileError(
                    f"`{name} := …` stands in a conditional expression that is decided when the"
                    " kernel runs: assign it in a statement of its own"
                )
        return World(self.heap, {"": value}, world.changed)

    # -- the join

    def joined(self, right: World) -> Join:
        return Join(self.site, self.condition, self.moment, self.left, right)

    def finish(self, join: Join, plans: list[Plan], frame: FrameType) -> tuple[Any, ...]:
        """Closes both regions, emits the op, unless it would do nothing, and makes the values of
        the plans; objects are changed in place."""
        changed = {**self.left.changed, **join.right.changed}
        items = [(held, join.object(held)) for held in map(self.heap.objects.__getitem__, changed)]
        builder = self.builder
        other = builder.close(list(join.right_operands))
        assert self.scope is not None
        then = builder.close(list(join.left_operands), self.scope)
        results: tuple[Operand, ...] = ()
        if join.leaves or not _empty(then) or not _empty(other):
            results = builder.emit("if", [self.condition], {}, (then, other))
        assembly = Assembly(dict(zip(join.leaves, results)))
        for held, (keys, parts) in items:
            write(held.value, Content(keys, tuple(map(assembly.build, parts))))
        values = tuple(map(assembly.build, plans))
        names = {**dict.fromkeys(self.site.dead), **dict(zip(self.site.names, values))}
        for pair in list(join.aliases.ambiguous(frame, names)):
            share(pair, assembly, frame, f"after the `if` at line {self.site.line}")
        return values


def _empty(region: Region) -> bool:
    return len(region.ops) == 1
