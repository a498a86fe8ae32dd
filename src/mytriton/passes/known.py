"""What may be known of a block of ints or pointers: runs, multiples, bounds.

One idea: facts are for each axis of extent e (a scalar is one axis of extent 1), in runs that begin
at multiples of their length and whose length divides e:

- `constant` c: in every run of c elements, all are equal;
- `contiguous` c: in every run of c elements, each is one more than the one before (pointers: one
  element further);
- `multiple` m: the first element of each contiguous run is a multiple of m, a power of two (of
  pointers: of m bytes). Powers of two survive the wrapping of ints.

`low` and `high` bound every element of an int.

    offsets = program_id * 128 + arange(0, 128)    contiguous (128,), multiple (128,), low 0

A contiguous run of ints of 32 bits and more is taken not to cross the end of their range, which it
cannot where its start is a multiple of its length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

from ..ir.types import ScalarType, Type, element_of, shape_of

Axes = tuple[int, ...]
MOST = 1 << 30
"""The largest multiple that is told apart: that of 0."""


@dataclass(frozen=True)
class Facts:
    """What is known of a value; see the top of the file. No int: `low` and `high` are None."""

    multiple: Axes
    contiguous: Axes
    constant: Axes
    low: int | None = None
    high: int | None = None

    def at(self, axis: int, run: int) -> int:
        """What the elements at multiples of `run` along an axis are multiples of."""
        length = self.contiguous[axis]
        if length == 1 or run % length == 0:
            return self.multiple[axis]
        return gcd(self.multiple[axis], gcd(run, length))

    @property
    def everywhere(self) -> int:
        """What every element is a multiple of."""
        return max(self.at(axis, 1) for axis in range(len(self.constant)))


def extents(ty: Type) -> Axes:
    """The shape, of which a scalar has one axis too."""
    return shape_of(ty) or (1,)


def power_of_two(number: int) -> int:
    """The largest power of two that divides the number, at most `MOST`."""
    return min(number & -number, MOST) if number else MOST


def type_bounds(ty: Type) -> tuple[int | None, int | None]:
    element = element_of(ty)
    if isinstance(element, ScalarType) and element.kind in "iub":
        return element.min_int, element.max_int
    return None, None


def unknown(ty: Type, constant: Axes | None = None) -> Facts:
    """Nothing but, where given, the constant runs."""
    ones = (1,) * len(extents(ty))
    return Facts(ones, ones, constant or ones, *type_bounds(ty))


def of_constant(value: int | float, ty: Type) -> Facts:
    """A block (or scalar) of one number."""
    shape = extents(ty)
    if isinstance(value, float):
        return unknown(ty, shape)
    ones = (1,) * len(shape)
    return Facts((power_of_two(int(value)),) * len(shape), ones, shape, int(value), int(value))


def within(facts: Facts, ty: Type) -> Facts:
    """The facts of a value of the type, where its bounds are those before it wraps."""
    low, high = type_bounds(ty)
    if low is None or high is None:
        return facts if facts.low is None else replace(facts, low=None, high=None)
    if facts.low is not None and facts.high is not None and low <= facts.low <= facts.high <= high:
        return facts
    facts = replace(facts, low=low, high=high)
    return facts if element_of(ty).bits >= 32 else _aligned(facts)


def _aligned(facts: Facts) -> Facts:
    """With runs that start at multiples of their length only, which do not wrap inside."""
    runs = gcds(facts.contiguous, facts.multiple)
    multiple = tuple(facts.at(axis, run) for axis, run in enumerate(runs))
    return replace(facts, contiguous=runs, multiple=multiple)


def join(left: Facts, right: Facts) -> Facts:
    """What holds of a value that is one or the other."""
    if left == right:
        return left
    runs = gcds(left.contiguous, right.contiguous)
    return Facts(
        tuple(gcd(left.at(axis, run), right.at(axis, run)) for axis, run in enumerate(runs)),
        runs,
        gcds(left.constant, right.constant),
        None if left.low is None or right.low is None else min(left.low, right.low),
        None if left.high is None or right.high is None else max(left.high, right.high),
    )


def gcds(left: Axes, right: Axes) -> Axes:
    return tuple(map(gcd, left, right))
