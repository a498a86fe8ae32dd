"""Conditions that Python knows while tracing, and the `if`s on them, which stay Python's."""

from __future__ import annotations

from types import FrameType
from typing import Any

from ..errors import CompileTypeError
from ..ir.build import current
from ..ir.nodes import Const, Operand
from ..language.constexpr import unwrap
from ..language.loops import condition as advised_condition
from ..language.promotion import reshape, truth
from ..language.scalars import assigned
from ..language.tensor import tensor
from .jumps import RESULT
from .leaves import UNBOUND
from .rewrite import Site


def as_condition(value: Any) -> bool | Operand:
    """A condition as a Python bool where it is known, else as an i1 operand.

    Raises CompileTypeError for a block of more than one element.
    """
    if value is True or value is False:
        return value
    value = unwrap(value)
    if isinstance(value, advised_condition):
        value = value.condition
    if not isinstance(value, tensor):
        return bool(value)
    if value.numel != 1:
        raise CompileTypeError(
            f"a block of type {value.type} cannot be a condition; a condition is one value: reduce"
            " it (tl.sum, tl.max), or choose element by element with tl.where or a mask"
        )
    handle = reshape(value.handle, ()) if value.shape else value.handle
    known = current().known(handle)
    return truth(handle) if known is None else bool(known)


def is_runtime(value: Any) -> bool:
    """Whether only a run tells the value (the eager driver, which runs, knows it all the same)."""
    return isinstance(value, tensor) and not isinstance(value.handle, Const)


class PythonIf:
    """A branch that Python takes."""

    symbolic = False

    def __init__(self, then: bool) -> None:
        self.then, self.orelse = then, not then

    def first(self, value: Any) -> Any:
        return value

    def second(self, value: Any) -> Any:
        return value


class PythonIfExp:
    """A conditional expression that Python decides. typed: the condition is known only because the
    kernel runs eagerly, so a number is typed as the join of two regions would type it."""

    def __init__(self, then: bool, typed: bool = False) -> None:
        self.then, self.orelse, self.typed = then, not then, typed
        self.value: Any = None

    def first(self, value: Any) -> None:
        self.value = value

    def second(self, value: Any) -> Any:
        chosen = self.value if self.then else value
        return assigned(chosen, alias=True) if self.typed else chosen


class EagerIf:
    """An `if` of a function that returns a value in it, on a condition that the eager driver knows:
    Python takes the branch, and the returned number is typed as the join would type it."""

    symbolic = True

    def __init__(self, site: Site, then: bool, frame: FrameType) -> None:
        self.site, self.frame = site, frame
        self.then, self.orelse = then, not then

    def values(self) -> dict[str, Any]:
        found = self.frame.f_locals
        return {name: found.get(name, UNBOUND) for name in self.site.names}

    def other(self) -> tuple[Any, ...]:
        return tuple(self.values().values())

    def join(self) -> tuple[Any, ...]:
        return tuple(
            assigned(value, alias=True) if name == RESULT else value
            for name, value in self.values().items()
        )


TRUE, FALSE = PythonIf(True), PythonIf(False)
