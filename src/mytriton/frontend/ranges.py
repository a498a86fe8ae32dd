"""`range` in the header of a `for`: its bounds as operands of the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import CompileTypeError, CompileValueError
from ..ir.nodes import Operand
from ..ir.types import I32, element_of, shape_of
from ..language.constexpr import unwrap
from ..language.loops import range as advised_range
from ..language.promotion import (
    Given,
    Handle,
    cast,
    known,
    natural,
    number_as,
    number_type,
    operand,
    promote,
)
from ..language.tensor import given


class KernelRange:
    """`range(…)` in the header of a `for`: a loop of the kernel; elsewhere Python's."""

    def __init__(self, *arguments: Any) -> None:
        given = [unwrap(argument) for argument in arguments]
        if not 1 <= len(given) <= 3:
            raise CompileTypeError(f"range() takes 1 to 3 arguments, got {len(given)}")
        start, stop = (0, given[0]) if len(given) == 1 else given[:2]
        self.start, self.stop, self.step = start, stop, given[2] if len(given) == 3 else 1
        self.hints: Mapping[str, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(range(self.start, self.stop, self.step))


def bounds(loop: KernelRange) -> tuple[Operand, Operand, Operand]:
    """The loop's bounds as operands of one int type, at least i32."""
    limits = [given(value) for value in (loop.start, loop.stop, loop.step)]
    for value in limits:
        ty = value.ty if isinstance(value, Handle) else number_type(value)
        if shape_of(ty) or element_of(ty).kind not in ("b", "i", "u"):
            raise CompileTypeError(f"range() takes scalar ints, got {ty}")
    if known(limits[2]) == 0:
        raise CompileValueError("range() step must not be zero")
    low, high, step = promote(*map(_bound, limits), symbol="range()")
    return low, high, step


def _bound(value: Given) -> Given:
    """A bound of at least 32 bits; a number beyond i32 is i64, so that a step may be negative."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        element = natural(value)
        return value if element == I32 else number_as(value, element)
    bound = operand(value)
    return cast(bound, I32) if element_of(bound.ty).bits < 32 else bound


def as_range(iterable: Any) -> KernelRange | None:
    """`range` and `tl.range` as loops of the kernel; None for any other iterable."""
    if isinstance(iterable, KernelRange):
        return iterable
    if isinstance(iterable, advised_range):
        loop = KernelRange(iterable.start, iterable.end, iterable.step)
        loop.hints = iterable.hints
        return loop
    return None
