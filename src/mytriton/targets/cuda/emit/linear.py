"""C text of linear maps over F2: what a thread's or a register's number makes of an index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ....layouts.linear import combine

Register = str | int
"""The number of a register: the variable of an unrolled loop, or a constant."""


def image(variable: Register, bases: Sequence[int]) -> str:
    """C for the image of a variable under the map with these bases.

    Bits that move by the same distance are one mask and one shift:

        image("t", (4, 8, 0, 1))    ((t & 3) << 2) + (t >> 3)
    """
    if isinstance(variable, int):
        return str(combine(bases, variable))
    variable = enclosed(variable)
    runs: dict[int, int] = {}
    sums = []
    for bit, base in enumerate(bases):
        if base and base & (base - 1) == 0:
            shift = base.bit_length() - 1 - bit
            runs[shift] = runs.get(shift, 0) | 1 << bit
        elif base:
            sums.append(f"({variable} >> {bit} & 1) * {base}")
    terms = [_moved(variable, shift, mask, len(bases)) for shift, mask in runs.items()]
    return joined([*terms, *sums], are_apart(bases))


def _moved(variable: str, shift: int, mask: int, bits: int) -> str:
    """The bits of the mask, moved by a distance."""
    every = (1 << bits) - 1
    if shift < 0:
        kept = mask >> -shift
        if mask == every & ~((1 << -shift) - 1):
            return f"{variable} >> {-shift}"
        return f"{variable} >> {-shift} & {kept}"
    text = variable if mask == every else f"({variable} & {mask})"
    return f"{text} << {shift}" if shift else text.removeprefix("(").removesuffix(")")


def are_apart(bases: Sequence[int]) -> bool:
    """Whether no two bases have a bit in common, so that their sums are those of ints too."""
    return sum(bases) == reduce(int.__or__, bases, 0)


def joined(terms: Sequence[str], apart: bool) -> str:
    """The exclusive or of terms, which is their sum where their bits are apart (and compilers see
    more of a sum: a constant in it becomes the offset of an access); those that are 0 say
    nothing."""
    real = [term for term in terms if term != "0"]
    if len(real) < 2:
        return real[0] if real else "0"
    return (" + " if apart else " ^ ").join(f"({t})" if " " in t else t for t in real)


def enclosed(text: str) -> str:
    """The expression as an operand of any operator."""
    return f"({text})" if " " in text else text
