"""What the formulas need to know of f32 and f64, and the few bit tricks they share.

Rounding without a conversion instruction. Adding `magic` = 1.5 * 2^mantissa to a float leaves its
nearest whole number (ties to even) in the low bits of the sum, because there one unit in the last
place is 1. The 1.5 keeps the sum in the same binade for negative numbers too.

    magic = 1.5 * 2**23;  t = 5.3 + magic        t - magic == 5.0,  bits(t) == bits(magic) + 5
    (bits(t) << 23) + bits(1.0)                  the bits of 2.0**5, since bits(magic) << 23 == 0

The constants are in `coefficients.txt`, where `tools.elementary.coefficients` writes them: the
polynomials are minimax, found by Remez's exchange algorithm (E. Remez, 1934; see J.-M. Muller,
Elementary Functions, chapter 3). Of all polynomials of a degree it finds the one whose largest
error on the interval is least: the error then takes that value, with alternating sign, at two more
points than the degree. Each coefficient is then rounded to the format, and those after it are
fitted again to make up for that, since rounding all at once would cost a bit or two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ..ir.types import F64, I16, I32, I64, U16, U32, U64, ScalarType
from .term import Term


@dataclass(frozen=True)
class Format:
    """A float format of 16, 32 or 64 bits, and the ints of its width."""

    element: ScalarType
    signed: ScalarType
    unsigned: ScalarType

    @property
    def mantissa(self) -> int:
        return self.element.mantissa

    @property
    def bias(self) -> int:
        return self.element.bias

    @property
    def magic(self) -> float:
        """The number that rounds what is added to it (see above)."""
        return 1.5 * 2.0**self.mantissa

    @property
    def one(self) -> int:
        """The bits of 1.0."""
        return self.bias << self.mantissa

    @property
    def smallest(self) -> float:
        """The smallest positive normal number."""
        return 2.0 ** (1 - self.bias)

    @property
    def least(self) -> float:
        """The smallest positive number, a subnormal one."""
        return self.smallest * 2.0**-self.mantissa

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << self.element.bits - 1


_INTS = {16: (I16, U16), 32: (I32, U32), 64: (I64, U64)}


@cache
def _format(element: ScalarType) -> Format:
    return Format(element, *_INTS[element.bits])


def format_of(x: Term) -> Format:
    """The format of a float term of 16 bits or more."""
    return _format(x.element)


def lines_of(name: str) -> list[str]:
    """The lines of a text file in this folder."""
    from importlib.resources import files

    return files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()


@cache
def _constants() -> dict[str, tuple[float, ...]]:
    rows = (line.split() for line in lines_of("coefficients.txt") if not line.startswith("#"))
    return {name: tuple(map(float.fromhex, values)) for name, *values in rows}


def coefficients(name: str, x: Term) -> tuple[float, ...]:
    """The constants of that name in x's format, lowest first."""
    return _constants()[f"{name}.{x.element.ir}"]


def polynomial(u: Term, terms: tuple[float, ...]) -> Term:
    """terms[0] + terms[1]*u + … by Horner's rule: one fma, and so one rounding, a term.

    The errors of the early steps are multiplied by u again and again, so for a short interval
    around 0 only the last step or two count.
    """
    value: Term = u.full(terms[-1])
    for term in reversed(terms[:-1]):
        value = value.fma(u, term)
    return value


def power_of_two(t: Term) -> Term:
    """2**n where t = n + magic and n is a normal exponent."""
    row = format_of(t)
    return ((t.bits(row.signed) << row.mantissa) + row.one).bits(row.element)


def clamp(x: Term, low: float, high: float) -> Term:
    """x within the bounds; NaN stays NaN (a comparison with it is false)."""
    return (x > high).where(high, (x < low).where(low, x))


def with_sign(size: Term, sign: Term) -> Term:
    """size, which has a clear sign bit, with the sign bit of `sign`."""
    row = format_of(size)
    bit = sign.bits(row.unsigned) & row.sign
    return (size.bits(row.unsigned) | bit).bits(row.element)


def negate_if(x: Term, bit: Term) -> Term:
    """x with its sign flipped where the int `bit`, of x's unsigned type, has its top bit set."""
    row = format_of(x)
    return (x.bits(row.unsigned) ^ (bit & row.sign)).bits(row.element)


def odd(x: Term, terms: tuple[float, ...]) -> Term:
    """x * (1 + u * (terms[1] + terms[2]*u + …)) with u = x², the small part added last."""
    u = x * x
    return (u * x).fma(polynomial(u, terms[1:]), x)


def with_sign_of(value: Term, sign: Term) -> Term:
    """value, of any sign, with the sign bit of `sign`: C's copysign."""
    row = format_of(value)
    return with_sign((value.bits(row.unsigned) & (row.sign - 1)).bits(row.element), sign)


def in_double(function: Callable[..., Term], *arguments: Term) -> Term:
    """The function computed in f64 and rounded to the arguments' type: of f32 within a hair of half
    an ulp."""
    return function(*(x.to(F64) for x in arguments)).to(arguments[0].element)


def is_negative(x: Term) -> Term:
    """Whether the sign bit is set (also of -0.0 and NaN)."""
    return x.bits(format_of(x).signed) < 0
