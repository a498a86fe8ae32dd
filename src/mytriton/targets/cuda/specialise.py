"""What the CUDA text of a launch depends on beside types and constexprs.

The lane rule compiles by types and constexprs only. The tiled lowering looks at the arguments as
Triton does: pointers aligned to 16 bytes, ints divisible by 16, and ints equal to 1, each unless
`do_not_specialize` names it. Both ask whether arrays of the launch overlap, since then more
barriers are needed, and whether its grid is so large that numbers of elements leave 32 bits.

    variants = Variants(source, overlap=False)
    variants.of(grid, arguments)                  # the CudaSource for these arguments
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...ir.types import PointerType, element_of
from ...log import tell
from .. import Grid
from ..memory import Argument, Buffer
from .emit.numbering import numbers_leave_32_bits
from .generate import generate
from .source import CudaSource

ALIGNMENT = 16
"""What pointers (in bytes) and ints are asked to be multiples of."""
Facts = tuple[frozenset[str], frozenset[str]]
"""The names of the parameters whose argument is a multiple of 16, and of those that are 1."""


@dataclass(frozen=True)
class Variants:
    """The texts of one kernel for arguments of the same types.

    fixed: the parameters that are not specialised.
    """

    source: CudaSource
    overlap: bool
    fixed: frozenset[str] = frozenset()
    _made: dict[tuple[Facts, bool], CudaSource] = field(default_factory=dict, compare=False)

    def of(self, grid: Grid, arguments: Sequence[Argument]) -> CudaSource:
        """The text for a launch over this grid on these arguments."""
        values = [a.address if isinstance(a, Buffer) else a for a in arguments]
        return self.of_facts(self.asked(values), self.wraps(grid))

    @cached_property
    def places(self) -> dict[int, bool]:
        """The places of the pointers and ints whose values choose code; whether each is an int."""
        function = self.source.function
        if function is None or not self.source.tiled:
            return {}
        return {
            place: not isinstance(param.ty, PointerType)
            for place, param in enumerate(function.params)
            if param.name not in self.fixed and element_of(param.ty).kind in "piu"
        }

    def asked(self, values: Sequence[bool | int | float]) -> tuple[int, ...]:
        """What is asked of the values (an address for a pointer): for each of the places 0, 2 where
        it is a multiple of 16, 1 where it is the int 1."""
        return tuple(
            1 if is_int and values[at] == 1 else 2 * (values[at] % ALIGNMENT == 0)
            for at, is_int in self.places.items()
        )

    def asked_text(self, place: int) -> str:
        """The same as Python text, for one of the places, whose value is named `v` and its
        number."""
        aligned = f"0 if v{place} & {ALIGNMENT - 1} else 2"
        return f"1 if v{place} == 1 else {aligned}" if self.places[place] else aligned

    def wraps(self, grid: Grid) -> bool:
        """Whether numbers of elements leave 32 bits over this grid."""
        function = self.source.function
        return function is not None and numbers_leave_32_bits(function, grid)

    def of_facts(self, asked: tuple[int, ...], wraps: bool) -> CudaSource:
        """The text for these facts, made if there is none yet."""
        function = self.source.function
        if function is None or not (any(asked) or self.overlap or wraps):
            return self.source
        names = [function.params[place].name for place in self.places]
        aligned = frozenset(name for name, fact in zip(names, asked) if fact == 2)
        ones = frozenset(name for name, fact in zip(names, asked) if fact == 1)
        facts = aligned, ones
        if (facts, wraps) not in self._made:
            tell_why(self.source.name, facts, wraps, list(self._made))
            options = replace(
                self.source.options,
                overlap=self.overlap,
                wraps=wraps,
                aligned=aligned,
                ones=ones,
            )
            self._made[facts, wraps] = generate(function, options)
        return self._made[facts, wraps]


def tell_why(name: str, facts: Facts, wraps: bool, before: list[tuple[Facts, bool]]) -> None:
    """Tells how the facts of a launch differ from the most similar ones before."""
    if not before:
        return
    aligned, ones = facts

    def different(other: tuple[Facts, bool]) -> list[str]:
        (then_aligned, then_ones), then_wraps = other
        rows = ((aligned, then_aligned, f"a multiple of {ALIGNMENT}"), (ones, then_ones, "1"))
        said = [
            f"{one} is {'' if one in now else 'not '}{about}, unlike before"
            for now, then, about in rows
            for one in sorted(now ^ then)
        ]
        grid = f"the grid has {'more' if wraps else 'no more'} than 2^31 elements"
        return said if wraps == then_wraps else [*said, grid]

    fewest = min((different(one) for one in before), key=len)
    tell("recompiles", f"{name}: {'; '.join(fewest)}")
