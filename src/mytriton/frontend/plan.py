"""What a Python value becomes where paths of a kernel meet: before and after a round of a loop, or
at the end of an `if`.

A plan is a tree over the value, as in JAX's pytrees. Its leaves say which parts stay the Python
values they are (`Keep`) and which a region of the IR yields (`Yielded`); its inner nodes say how
the value is put together again around them.

    before  acc = (x, 0, "sum")    →   Rebuilt(tuple, Yielded(x), Keep(0), Keep("sum"))
    after   acc = (y, 0, "sum")

Tuples and the like are values: they are rebuilt. Mutable objects have an identity: where both
sides name the same object the plan keeps it, and its items are places of their own (`heap.py`).
Where two sides name different objects of one structure, the value after them is a fresh object
(`Fresh`), one for each pair of objects, so that names of one object stay names of one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..ir.nodes import Operand
from ..language.constexpr import constexpr
from ..language.scalars import rebuild
from ..language.tensor import tensor
from .heap import Content, fresh, is_mutable, read, write


@dataclass(eq=False)
class Keep:
    """A value that is the same on every path."""

    value: Any


@dataclass(eq=False)
class Yielded:
    """A tensor or number that a region yields; `value` is an example of it."""

    value: Any


@dataclass(eq=False)
class Computed:
    """A value that is computed where the paths meet, from what is known there."""

    make: Callable[[], Any]


@dataclass(eq=False)
class Rebuilt:
    """A tuple, or another value without identity, around new parts."""

    value: Any
    parts: list[Plan]


@dataclass(eq=False)
class Fresh:
    """A new object like `value`, with these keys, around new items."""

    value: Any
    keys: tuple[Any, ...]
    parts: list[Plan] = field(default_factory=list)


Plan = Keep | Yielded | Computed | Rebuilt | Fresh


def immutable_parts(value: Any) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
    """The parts of a tuple, or of a class of this package with `__flatten__`, and how to build it
    of others; None of any other value."""
    if isinstance(value, tuple):
        return list(value), rebuild(value)
    if hasattr(value, "__flatten__") and not isinstance(value, type) and not is_mutable(value):
        parts, build = value.__flatten__()
        return list(parts), build
    return None


def same_form(left: Any, right: Any) -> bool:
    """Whether two values without identity are of one type and have as many parts."""
    ours, theirs = immutable_parts(left), immutable_parts(right)
    if ours is None or theirs is None or type(left) is not type(right):
        return False
    return len(ours[0]) == len(theirs[0])


def plain(value: Any) -> Any:
    """The value inside a constexpr; any other value as it is."""
    return value.value if type(value) is constexpr else value


def nodes(plans: Iterable[Plan]) -> Iterator[Plan]:
    """The plans and all inside them, in order, each once."""
    seen: set[int] = set()
    waiting = list(plans)[::-1]
    while waiting:
        plan = waiting.pop()
        if id(plan) not in seen:
            seen.add(id(plan))
            yield plan
            if isinstance(plan, (Rebuilt, Fresh)):
                waiting += reversed(plan.parts)


def yielded(plans: Iterable[Plan]) -> list[Yielded]:
    """The yielded leaves in order, each once."""
    return [plan for plan in nodes(plans) if isinstance(plan, Yielded)]


@dataclass
class Assembly:
    """Makes values by plans: each fresh object once, whichever places name it."""

    operands: dict[Yielded, Operand]
    made: dict[Fresh, Any] = field(default_factory=dict)

    def build(self, plan: Plan) -> Any:
        """The value of a plan."""
        match plan:
            case Keep(value):
                return value
            case Yielded():
                return tensor(self.operands[plan])
            case Computed(make):
                return make()
            case Rebuilt(value, parts):
                known = immutable_parts(value)
                assert known is not None
                return known[1]([self.build(part) for part in parts])
            case Fresh():
                return self.object(plan)

    def object(self, plan: Fresh) -> Any:
        """The object of a plan, which is known before its items are made: they may refer to it."""
        if plan not in self.made:
            made = self.made[plan] = fresh(plan.value, read(plan.value))
            write(made, Content(plan.keys, tuple(self.build(part) for part in plan.parts)))
        return self.made[plan]
