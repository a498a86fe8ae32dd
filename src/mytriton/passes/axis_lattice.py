"""The lattice of axis information: what may be known, along each axis, of ints and pointers.

The lattice is that of Triton's `AxisInfo` with bounds added. The facts are for each axis, of extent
e (a scalar has one axis of extent 1), in runs that begin at multiples of their length, which
divides e:

- `constancy` c: in every run of c elements, all are equal;
- `contiguity` c: in every run of c elements each is one more than the one before, at the width of
  the type, so it may wrap (pointers: one element further); no run is longer than half the numbers
  of the type, so one that starts at a multiple of its length does not wrap;
- `divisibility` d: the first element of every contiguous run is a multiple of d, a power of two (of
  pointers: of d bytes). Powers of two survive the wrapping of ints.

`low` and `high` bound every element of an int.

    offsets = program_id * 128 + arange(0, 128)    contiguity (128,), divisibility (128,)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

from ..ir.types import ScalarType, Type, element_of, shape_of

Axes = tuple[int, ...]
MAX_DIVISOR = 1 << 30
"""The largest divisibility that is told apart: that of 0."""


@dataclass(frozen=True)
class AxisInfo:
    """What is known of a value; see the top of the file. No int: `low` and `high` are None."""

    divisibility: Axes
    contiguity: Axes
    constancy: Axes
    low: int | None = None
    high: int | None = None

    @property
    def axes(self) -> range:
        return range(len(self.constancy))

    def divisor_at(self, axis: int, run: int) -> int:
        """The largest known power of two that divides every element whose index along the axis is a
        multiple of `run`."""
        length = self.contiguity[axis]
        if length == 1 or run % length == 0:
            return self.divisibility[axis]
        return gcd(self.divisibility[axis], gcd(run, length))

    def divisors(self, runs: Axes) -> Axes:
        """`divisor_at` of each axis."""
        return tuple(map(self.divisor_at, self.axes, runs))

    @property
    def every(self) -> Axes:
        """The divisor of all elements, as the analysis along each axis knows it."""
        return self.divisors((1,) * len(self.constancy))

    def aligned_run(self, axis: int) -> int:
        """The length of contiguous runs that start at multiples of it, and so never wrap."""
        return gcd(self.contiguity[axis], self.divisibility[axis])

    def unwrapped(self, ty: Type) -> AxisInfo:
        """With contiguous runs only that do not wrap inside: those of aligned start, or all where
        not both ends of the type occur."""
        ends = type_bounds(ty)
        if None not in ends and (self.low, self.high) == ends:
            runs = tuple(map(self.aligned_run, self.axes))
            return replace(self, contiguity=runs, divisibility=self.divisors(runs))
        return self

    def bounded(self) -> tuple[int, int] | None:
        """Both bounds, where both are known."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def extents(ty: Type) -> Axes:
    """The shape, of which a scalar has one axis too."""
    return shape_of(ty) or (1,)


def power_of_two(number: int) -> int:
    """The largest power of two that divides the number, at most `MAX_DIVISOR`."""
    return min(number & -number, MAX_DIVISOR) if number else MAX_DIVISOR


def type_bounds(ty: Type) -> tuple[int | None, int | None]:
    """The ends of an int type; None of the others."""
    element = element_of(ty)
    if isinstance(element, ScalarType) and element.kind in "iub":
        return element.min_int, element.max_int
    return None, None


def top(ty: Type, constancy: Axes | None = None) -> AxisInfo:
    """Nothing is known but, where given, the constant runs."""
    ones = (1,) * len(extents(ty))
    return AxisInfo(ones, ones, constancy or ones, *type_bounds(ty))


def equal_to(ty: Type, value: int | float) -> AxisInfo:
    """Every element is that number."""
    shape = extents(ty)
    if isinstance(value, float):
        return top(ty, shape)
    ones, number = (1,) * len(shape), int(value)
    return AxisInfo((power_of_two(number),) * len(shape), ones, shape, number, number)


def divisible(ty: Type, divisor: int) -> AxisInfo:
    """A scalar that is a multiple of a power of two (a pointer: of that many bytes)."""
    return replace(top(ty), divisibility=(divisor,) * len(extents(ty)))


def clamp_to_type(info: AxisInfo, ty: Type) -> AxisInfo:
    """Drops bounds that the type does not hold: the mathematical result may have wrapped."""
    low, high = type_bounds(ty)
    known = info.bounded()
    if low is None or high is None or known is None:
        return replace(info, low=low, high=high)
    return info if low <= known[0] and known[1] <= high else replace(info, low=low, high=high)


def cut_to_type(info: AxisInfo, ty: Type) -> AxisInfo:
    """The bounds that are left of a result that does not wrap."""
    (low, high), known = type_bounds(ty), info.bounded()
    if low is None or high is None or known is None:
        return info
    return replace(info, low=max(low, known[0]), high=min(high, known[1]))


def gcds(left: Axes, right: Axes) -> Axes:
    return tuple(map(gcd, left, right))


def join(left: AxisInfo, right: AxisInfo) -> AxisInfo:
    """What holds of a value that is one or the other."""
    if left == right:
        return left
    runs = gcds(left.contiguity, right.contiguity)
    one, two = left.bounded(), right.bounded()
    low, high = None, None
    if one is not None and two is not None:
        low, high = min(one[0], two[0]), max(one[1], two[1])
    divisors = gcds(left.divisors(runs), right.divisors(runs))
    return AxisInfo(divisors, runs, gcds(left.constancy, right.constancy), low, high)
