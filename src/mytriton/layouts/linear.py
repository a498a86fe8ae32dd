"""Linear layouts: where each element of a block lives.

A block is distributed over the registers of the lanes of the warps of a program. All extents are
padded to powers of two, so the row-major index of an element is a string of bits, and so is a
location (register, lane, warp). A layout is a linear map over F2, the field of two elements, from
the bits of a location to the bits of the index: for each input bit it lists the index which that
bit contributes (its *basis*), and a location holds the exclusive or of the bases of its set bits.

    Layout((8, 8), register=(1,), lane=(2, 4, 8, 16, 32), warp=())

Here register bit 0 moves one column, the lanes of bits 0 and 1 move 2 and 4 columns, and those of
bits 2 to 4 move 1, 2 and 4 rows (8, 16 and 32 in row-major order). A zero basis says that an
element is held more than once. The idea of describing every layout of a GPU by one such map is
that of "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (Zhou et
al., 2025).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

Shape = tuple[int, ...]
Bases = tuple[int, ...]


def log2(number: int) -> int:
    """The exponent of a power of two."""
    assert number > 0, f"{number} is not a power of two"
    assert number & (number - 1) == 0, f"{number} is not a power of two"
    return number.bit_length() - 1


def padded(shape: Sequence[int]) -> Shape:
    """The shape with each extent raised to the next power of two."""
    return tuple(1 << (extent - 1).bit_length() for extent in shape)


def combine(bases: Sequence[int], bits: int) -> int:
    """The exclusive or of the bases whose bit is set: the image of `bits` under the map."""
    return reduce(int.__xor__, (base for i, base in enumerate(bases) if bits >> i & 1), 0)


def unravel(index: int, shape: Shape) -> Shape:
    """The coordinates of a row-major index in a shape of powers of two."""
    coordinates = []
    for extent in reversed(shape):
        coordinates.append(index & (extent - 1))
        index >>= log2(extent)
    return tuple(reversed(coordinates))


def ravel(coordinates: Iterable[int], shape: Shape) -> int:
    """The row-major index of coordinates in a shape of powers of two."""
    return reduce(lambda index, pair: index << log2(pair[1]) | pair[0], zip(coordinates, shape), 0)


class Span:
    """A subspace of F2^n given by generators, by Gaussian elimination.

    It can tell which generators add up to a vector of the subspace (`solve`).
    """

    def __init__(self, generators: Iterable[int] = ()) -> None:
        # The leading bit of a reduced vector -> the vector, and the generators that sum to it.
        self._rows: dict[int, tuple[int, int]] = {}
        self.generators = 0
        for generator in generators:
            self.add(generator)

    @property
    def dimension(self) -> int:
        return len(self._rows)

    def _reduced(self, vector: int) -> tuple[int, int]:
        used = 0
        for lead in sorted(self._rows, reverse=True):
            if vector >> lead & 1:
                row, parts = self._rows[lead]
                vector, used = vector ^ row, used ^ parts
        return vector, used

    def add(self, vector: int) -> bool:
        """Adds a generator; whether it was independent of those before."""
        rest, used = self._reduced(vector)
        if rest:
            self._rows[rest.bit_length() - 1] = rest, used ^ 1 << self.generators
        self.generators += 1
        return bool(rest)

    def __contains__(self, vector: int) -> bool:
        return self._reduced(vector)[0] == 0

    def solve(self, vector: int) -> int | None:
        """The set of generators (one bit each) that sum to the vector; None outside the subspace.

        Generators given earlier are preferred to later ones that depend on them.
        """
        rest, used = self._reduced(vector)
        return None if rest else used


def independent(candidates: Iterable[int], of: Iterable[int] = ()) -> list[int]:
    """The candidates that, taken in turn, are independent of `of` and of each other."""
    span = Span(of)
    return [vector for vector in candidates if span.add(vector)]


@dataclass(frozen=True)
class Layout:
    """A linear map from (register, lane, warp) bits to row-major indices of a padded shape."""

    shape: Shape
    register: Bases
    lane: Bases
    warp: Bases

    def __post_init__(self) -> None:
        size = prod(self.shape)
        assert all(extent & (extent - 1) == 0 for extent in self.shape), self.shape
        assert all(0 <= base < size for base in self.bases), self

    @property
    def bases(self) -> Bases:
        """All bases: registers first, then lanes, then warps."""
        return self.register + self.lane + self.warp

    @property
    def thread(self) -> Bases:
        """The bases of the bits of a thread's number: lanes, then warps."""
        return self.lane + self.warp

    @property
    def registers(self) -> int:
        """How many registers each thread holds."""
        return 1 << len(self.register)

    @property
    def threads(self) -> int:
        """How many threads there are."""
        return 1 << len(self.thread)

    def index(self, register: int, thread: int) -> int:
        """The row-major index (in the padded shape) that a register of a thread holds."""
        return combine(self.register, register) ^ combine(self.thread, thread)

    @property
    def is_surjective(self) -> bool:
        """Whether every element is held somewhere."""
        return 1 << Span(self.bases).dimension == prod(self.shape)

    @property
    def is_uniform(self) -> bool:
        """Whether every thread holds the same."""
        return not any(self.thread)

    @property
    def copies(self) -> int:
        """The bits of a thread's number that can be zero without losing an element: threads that
        have one of them set hold copies of what others hold."""
        span, result = Span(self.register), 0
        for bit, base in enumerate(self.thread):
            if not span.add(base):
                result |= 1 << bit
        return result

    def mapped(self, function: Callable[[int], int], shape: Shape) -> Layout:
        """The layout whose bases are the images of these under a linear function."""
        parts = (tuple(map(function, part)) for part in (self.register, self.lane, self.warp))
        return Layout(shape, *parts)

    def reshape(self, shape: Shape) -> Layout:
        """The same elements under another shape of the same size."""
        assert prod(shape) == prod(self.shape), f"{self.shape} is no {shape}"
        return replace(self, shape=shape)

    def transpose(self, order: Sequence[int]) -> Layout:
        """Axis i of the result is axis order[i] of this."""
        shape = tuple(self.shape[axis] for axis in order)

        def moved(base: int) -> int:
            coordinates = unravel(base, self.shape)
            return ravel([coordinates[axis] for axis in order], shape)

        return self.mapped(moved, shape)

    def without(self, axis: int) -> Layout:
        """The slice of this layout: the axis is gone, and what differed along it is a copy."""
        shape = self.shape[:axis] + self.shape[axis + 1 :]

        def dropped(base: int) -> int:
            coordinates = unravel(base, self.shape)
            return ravel(coordinates[:axis] + coordinates[axis + 1 :], shape)

        return self.mapped(dropped, shape)

    def narrowed(self, shape: Shape) -> Layout:
        """What an operand of this smaller shape (extents 1 where this has more) must have, so that
        it stretches to this layout in place."""

        def cut(base: int) -> int:
            pairs = zip(unravel(base, self.shape), shape)
            return ravel([0 if extent == 1 else at for at, extent in pairs], shape)

        return self.mapped(cut, shape)

    def compact(self) -> Layout:
        """The same layout without registers that repeat what the thread holds already."""
        return replace(self, register=tuple(independent(self.register)))

    def along(self, axis: int) -> tuple[Bases, Bases]:
        """The coordinates along an axis that the register bits and the thread bits contribute."""
        return (
            tuple(unravel(base, self.shape)[axis] for base in self.register),
            tuple(unravel(base, self.shape)[axis] for base in self.thread),
        )

    def __str__(self) -> str:
        parts = (("register", self.register), ("lane", self.lane), ("warp", self.warp))
        extents = "x".join(map(str, self.shape)) or "scalar"
        return f"{extents}: " + ", ".join(f"{name} {_listed(part)}" for name, part in parts)


def _listed(bases: Bases) -> str:
    return f"({' '.join(map(str, bases))})"
