"""Where a block lies in shared memory while it changes its layout, so that no bank is hit twice.

Shared memory has 32 banks of 4 bytes; a warp's access is served in phases of 128 bytes (32 lanes
of up to 4 bytes, 16 lanes of 8, 8 lanes of 16: CUDA C++ Programming Guide, "Shared Memory"), and
two lanes of a phase conflict where they touch one bank in different words. An offset is a string
of bits

    | row | bank | word | vector |

where `vector` numbers the elements of one access, `word` those that share 4 bytes, `bank` the slots
of a phase. Two lanes conflict where they differ in `row` and not in `bank`. So the indices that are
given row bits must form a subspace that meets the span of a phase's lanes in nothing but zero, for
the writing side and for the reading side. Two subspaces of the same dimension always have a common
complement: the sums a + b of directions that only one side each has, and what lies outside both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from .linear import Bases, Layout, Span, combine, independent, log2

BANK_BYTES = 4
PHASE_BYTES = 128


@dataclass(frozen=True)
class Swizzle:
    """A bijection of indices to offsets (both in elements): `offsets[i]` is the offset of the index
    1 << i. `vector` elements, the lowest bits of an offset, are one access on both sides."""

    offsets: Bases
    vector: int

    def offset(self, index: int) -> int:
        """The offset of an element in shared memory, in elements."""
        return combine(self.offsets, index)


def swizzle(
    source: Layout, target: Layout, element_bytes: int, runs: Sequence[int] | None = None
) -> Swizzle:
    """A placement without bank conflicts for what `source` writes and `target` reads.

    runs: the directions along which elements must be neighbours in memory, where the target says
    them (rows of 16 bytes, for ldmatrix); else those that both sides hold in registers.
    """
    size = log2(prod(source.shape))
    units = [1 << bit for bit in range(size)]
    common = common_vector(source, target, 16 // element_bytes)
    vector = common if runs is None else list(runs)
    width = element_bytes << len(vector)
    lanes = min(5, log2(PHASE_BYTES // width))
    sides = [independent(side.lane[:lanes], vector) for side in (source, target)]
    word = _word(sides, vector, units, log2(max(1, BANK_BYTES // width)))
    low = vector + word
    banks = min(log2(PHASE_BYTES // max(width, BANK_BYTES)), size - len(low))
    first, second = (_extended(low + side, units, len(low) + banks) for side in sides)
    row = complement(first, second, units)
    bank = independent([*sides[0], *sides[1], *units], low + row)
    order = Span(low + bank + row)
    solved = [order.solve(unit) for unit in units]
    assert all(offset is not None for offset in solved), "the placement is not a bijection"
    return Swizzle(tuple(offset or 0 for offset in solved), 1 << len(vector))


def common_vector(source: Layout, target: Layout, most: int) -> list[int]:
    """Directions that are register bits of both sides: what one vector access can move."""
    both = [base for base in source.register if base and base in target.register]
    return independent(both)[: log2(most)]


def _word(sides: Sequence[list[int]], vector: list[int], units: list[int], bits: int) -> list[int]:
    """Directions of elements that share a word: those of lanes that both sides have, if any."""
    shared = [base for base in sides[0] if base in sides[1]]
    return independent([*shared, *sides[0], *units], vector)[:bits]


def _extended(vectors: list[int], units: list[int], dimension: int) -> list[int]:
    """A basis of the span of the vectors, with more directions up to the dimension."""
    basis = independent(vectors)
    return (basis + independent(units, basis))[: max(dimension, len(basis))]


def intersection(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """A basis of what two subspaces, given by bases, have in common."""
    span, common = Span(left), []
    for vector in right:
        parts = span.solve(vector)
        if parts is not None:
            common.append(combine(left, parts & (1 << len(left)) - 1))
        span.add(vector)
    return independent(common)


def complement(left: list[int], right: list[int], units: list[int]) -> list[int]:
    """A subspace that meets neither of two, of the greatest dimension there is."""
    common = intersection(left, right)
    pairs = zip(independent(left, common), independent(right, common))
    sums = [one ^ other for one, other in pairs]
    return sums + independent(units, [*left, *right])


def conflicts(layout: Layout, offsets: Swizzle, element_bytes: int) -> int:
    """The most different words of one bank that a phase of this side's accesses touches: 1 is
    conflict-free.

    One phase of register 0 stands for all: another differs by the exclusive or with a constant,
    which maps banks to banks.
    """
    width = element_bytes * offsets.vector
    lanes = min(32, PHASE_BYTES // width)
    words: dict[int, set[int]] = {}
    for lane in range(lanes):
        start = offsets.offset(combine(layout.lane, lane)) & -offsets.vector
        for byte in range(0, width, BANK_BYTES):
            word = (start * element_bytes + byte) // BANK_BYTES
            words.setdefault(word % 32, set()).add(word)
    return max(map(len, words.values()))
