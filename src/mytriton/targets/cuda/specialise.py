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

from ...ir.nodes import Function
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
        function, tiled = self.source.function, self.source.tiled
        if function is None:
            return self.source
        facts = specialisation(function, arguments, self.fixed) if tiled else NOTHING
        wraps = numbers_leave_32_bits(function, grid)
        if facts == NOTHING and not self.overlap and not wraps:
            return self.source
        if (facts, wraps) not in self._made:
            tell_why(self.source.name, facts, wraps, list(self._made))
            aligned, ones = facts
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


NOTHING: Facts = (frozenset(), frozenset())


def specialisation(
    function: Function, arguments: Sequence[Argument], fixed: frozenset[str]
) -> Facts:
    """What is known of the arguments of a launch."""
    named = [(p.name, v) for p, v in zip(function.params, arguments) if p.name not in fixed]
    aligned = (name for name, value in named if _is_aligned(value))
    ones = (name for name, value in named if type(value) is int and value == 1)
    return frozenset(aligned), frozenset(ones)


def _is_aligned(value: Argument) -> bool:
    number = value.address if isinstance(value, Buffer) else value
    return type(number) is int and number % ALIGNMENT == 0
