"""Expressions that may not change what a kernel holds: the condition of a `while`, which is a
region of its own, and the operands of `and` and `or`, which are all evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ..errors import CompileError
from .heap import ANYTHING, Heap, values_of
from .watch import ChangeError, Suspect, moment


@dataclass(frozen=True)
class Unchanged:
    """What a kernel held before such an expression: objects, and names that it binds."""

    frame: FrameType
    heap: Heap
    names: dict[str, Any]
    moment: int

    @classmethod
    def take(cls, frame: FrameType, names: Iterable[str] = ()) -> Unchanged:
        heap = Heap.take(frame)
        objects = list(heap.objects.values())
        return cls(frame, heap, values_of(frame, names), moment(objects, frame))

    def check(self, where: str) -> None:
        """Raises if the expression changed any of it."""
        advice = "which may be evaluated on paths that do not need it: use a statement of its own"
        for key in self.heap.changed():
            position = list(self.heap.objects).index(key)
            raise ChangeError(
                f"`{self.heap.objects[key].path}` is changed in {where}, {advice}",
                Suspect(self.moment, position, ANYTHING),
            )
        now = values_of(self.frame, self.names)
        for name, value in self.names.items():
            if now[name] is not value:
                raise CompileError(f"`{name} := …` stands in {where}, {advice}")
