"""The floats next to a float, and rounding in a direction by a step to one of them.

As bits, the floats of one sign are in the order of their sizes: the next float is the next integer.

    bits(1.0) + 1                         the bits of 1.0000001, the float after 1.0
    bits(smallest negative float) - 1     of a negative number the float above has smaller bits
"""

from __future__ import annotations

from .formats import format_of
from .term import Term


def above(x: Term) -> Term:
    """The next float toward infinity; of either zero the smallest positive one."""
    row = format_of(x)
    bits = x.bits(row.signed)
    step = (bits < 0).where(bits - 1, bits + 1)
    return x.eq(0.0).where(row.least, step.bits(row.element))


def next_after(x: Term, y: Term) -> Term:
    """The next float after x toward y; y where they are equal, NaN where either is."""
    moved = (x < y).where(above(x), (x > y).where(-above(-x), y))
    return (x.ne(x) | y.ne(y)).where(x + y, moved)


def rounded(mode: str, nearest: Term, side: Term) -> Term:
    """A result rounded in a direction: "rd" down, "ru" up, "rz" toward zero.

    nearest: the result rounded to nearest; side: a number of the sign of (exact result - nearest).
    The directed result is one of the two floats around the exact one, and so is the nearest.
    """
    down = (side < 0).where(-above(-nearest), nearest)
    up = (side > 0).where(above(nearest), nearest)
    inward = nearest.eq(0.0).where(nearest, (nearest > 0.0).where(down, up))
    return {"rd": down, "ru": up, "rz": inward}[mode]
