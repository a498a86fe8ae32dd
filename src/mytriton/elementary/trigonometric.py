"""sin, cos and tan for all arguments: exact reduction by quarter turns, then two short polynomials.

    x = (q + t) * pi/2     with q whole and |t| <= 1/2

sin x is then, up to its sign, the sine or the cosine of t * pi/2, as q modulo 4 says.

The difficulty is t. The double nearest to a multiple of pi/2 is some 2^-61 away from it, so the
product x * (2/pi) is needed with some 61 + 53 bits behind its point, whatever the size of x; and x
may be 2^1023.

Payne and Hanek's reduction (M. Payne and R. Hanek, "Radian reduction for trigonometric functions",
SIGNUM Newsletter 18, 1983): x is an integer times 2^k. Its product with a bit of 2/pi that weighs
2^(2-k) or more is a multiple of 4, that is, of whole turns, and changes neither q mod 4 nor t. So
all leading bits of 2/pi down to there are dropped. Those far behind are too small to matter. What
is left between is a window of fixed width, whose place depends on the exponent of x:

    2/pi = 0.1010001011111001100000110110111001001110010001000001010100101001111111…
             └ whole turns ┘└──────────── the window ────────────┘└ too small to matter

f32 does it in f64: x (24 bits) times the two 53-bit parts of 2/pi that matter, chosen by the size
of x among five pairs. f64 multiplies its 53-bit integer with a window of 192 bits, in integers;
below 2^30 Cody and Waite's reduction (see `exponential`) with pi/2 in three parts is enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from ..ir.types import F32, F64, I64, U32, U64
from .double_double import two_product, two_sum
from .formats import (
    coefficients,
    format_of,
    in_double,
    lines_of,
    negate_if,
    odd,
    polynomial,
    with_sign,
)
from .integers import umulhi
from .term import Term

PADDING = 24
"""Zero bits before the binary point of 2/pi, so that every position asked for is inside."""


@cache
def two_over_pi_words() -> tuple[int, ...]:
    """19 words of 64 bits: PADDING zero bits, then the binary digits of 2/pi."""
    return tuple(int(line, 16) for line in lines_of("two_over_pi.txt"))


def sin(x: Term) -> Term:
    """Within 2 ulp for every x; NaN at infinity."""
    quarter, sine, cosine = _both(x)
    value = ((quarter & 1).eq(0)).where(sine, cosine)
    row = format_of(x)
    sign = (quarter << row.element.bits - 2) ^ x.bits(row.unsigned)
    return negate_if(value, sign)


def cos(x: Term) -> Term:
    """Within 2 ulp for every x; NaN at infinity."""
    quarter, sine, cosine = _both(x)
    value = ((quarter & 1).eq(0)).where(cosine, sine)
    sign = (quarter + 1) << format_of(x).element.bits - 2
    return negate_if(value, sign)


def tan(x: Term) -> Term:
    """Within 2 ulp for every x; NaN at infinity."""
    if x.element == F32:
        wide = x.to(F64)
        quarter, r = reduce_single(wide.abs())
        sine, cosine = _polynomials(r, r.full(0.0))
        return negate_if(_ratio(quarter, sine, cosine), wide.bits(U64)).to(F32)
    quarter, sine, cosine = _both(x)
    return negate_if(_ratio(quarter, sine, cosine), x.bits(U64))


def _ratio(quarter: Term, sine: Term, cosine: Term) -> Term:
    even = (quarter & 1).eq(0)
    return even.where(sine, -cosine) / even.where(cosine, sine)


def sinpi(x: Term) -> Term:
    """sin(pi x) within 2 ulp, exact at multiples of 1/2, where 0 has x's sign."""
    if x.element == F32:
        return in_double(sinpi, x)
    quarter, sine, cosine = _half_turns(x)
    even = (quarter & 1).eq(0)
    value = negate_if(even.where(sine, cosine), quarter << 62)
    return value.eq(0.0).where(with_sign(x.full(0.0), x), value)


def cospi(x: Term) -> Term:
    """cos(pi x) within 2 ulp, exact at multiples of 1/2."""
    if x.element == F32:
        return in_double(cospi, x)
    quarter, sine, cosine = _half_turns(x)
    even = (quarter & 1).eq(0)
    return negate_if(even.where(cosine, sine), (quarter + 1) << 62) + 0.0


def _half_turns(x: Term) -> tuple[Term, Term, Term]:
    """x modulo 2 in quarter turns, sine and cosine of the rest, f64."""
    inside = x - (x * 0.5).rint() * 2.0
    magic = format_of(x).magic
    t = inside.fma(2.0, magic)
    rest = (t - magic).fma(-0.5, inside)
    pi, low, _ = (2 * part for part in coefficients("half_pi", x))
    r, error = two_product(rest, x.full(pi))
    return t.bits(U64), *_polynomials(r, rest.fma(low, error))


def _both(x: Term) -> tuple[Term, Term, Term]:
    """The quarter turns nearest to |x| (low bits of their count), sine and cosine of the rest."""
    if x.element == F32:
        quarter, r = reduce_single(x.abs().to(F64))
        return quarter.to(U32), *_polynomials(r.to(F32), None)
    quarter, r, low = _reduce_double(x.abs())
    return quarter, *_polynomials(r, low)


def _polynomials(r: Term, low: Term | None) -> tuple[Term, Term]:
    """sin and cos of r + low, |r| <= pi/4; low is too small to be more than a correction."""
    u = r * r
    if low is None:
        return odd(r, coefficients("sin", r)), polynomial(u, coefficients("cos", r))
    cube = (u * r).fma(polynomial(u, coefficients("sin", r)[1:]), u.fma(low * -0.5, low))
    half = u * 0.5
    one = 1.0 - half
    rest = (u * u).fma(polynomial(u, coefficients("cos", r)[2:]), -(r * low))
    return r + cube, one + (((1.0 - one) - half) + rest)


BOUNDS = (48, 68, 88, 108)
"""Powers of two at which f32's reduction drops more of the leading bits of 2/pi."""


def reduce_single(x: Term) -> tuple[Term, Term]:
    """Quarter turns (U64, low bits) and the angle left, of x >= 0, an f32 held in f64."""
    high, low = (x.full(part) for part in coefficients("two_over_pi", x)[:2])
    for bound in BOUNDS:
        beyond = x >= 2.0**bound
        parts = coefficients(f"two_over_pi_{bound}", x)
        high, low = beyond.where(parts[0], high), beyond.where(parts[1], low)
    product, error = two_product(x, high)
    t = product + format_of(x).magic
    turns = (product - (t - format_of(x).magic)) + x.fma(low, error)
    return t.bits(U64), turns * coefficients("half_pi", x)[0]


def _reduce_double(x: Term) -> tuple[Term, Term, Term]:
    """Quarter turns (U64, low bits) and the angle left as a sum of two, of x >= 0."""
    near = _reduce_near(x)
    far = _reduce_far(x)
    small = x < 2.0**30
    return (
        small.where(near[0], far[0]),
        small.where(near[1], far[1]),
        small.where(near[2], far[2]),
    )


def _reduce_near(x: Term) -> tuple[Term, Term, Term]:
    """Cody and Waite's steps, for x below 2^30: x - n pi/2 with pi/2 in three parts.

    The first step is exact; the second part's product with n is a double-double, and the third's
    corrects it.
    """
    magic = format_of(x).magic
    first, second, third = coefficients("half_pi", x)
    t = x.fma(coefficients("two_over_pi", x)[0], magic)
    n = t - magic
    rest = n.fma(-first, x)
    product, error = two_product(n, x.full(second))
    r, low = two_sum(rest, -product)
    return t.bits(U64), r, n.fma(-third, low - error)


def _reduce_far(x: Term) -> tuple[Term, Term, Term]:
    """Payne and Hanek's, by integers: mantissa times window modulo 2^192 counts 2^-190 of a quarter
    turn. Its two leading bits are q mod 4; half a unit more rounds q to nearest, so that what is
    left is signed."""
    bits = x.bits(U64)
    mantissa = (bits & ((1 << 52) - 1)) | (1 << 52)
    position = (bits >> 52) - (1023 + 52 + 2 - PADDING)
    first, second, third = _window(position)
    product = mantissa * second
    middle = product + umulhi(mantissa, third)
    carry = (middle < product).where(middle.full(1), 0)
    top = mantissa * first + umulhi(mantissa, second) + carry
    quarter = (top + (1 << 61)) >> 62
    turns, low = _fraction((top - (quarter << 62)).to(I64), middle)
    pi, pi_low, _ = coefficients("half_pi", x)
    r, error = two_product(turns, x.full(pi))
    error = turns.fma(pi_low, low.fma(pi, error))
    return quarter, (x < math.inf).where(r, math.nan), error


def _fraction(top: Term, middle: Term) -> tuple[Term, Term]:
    """top * 2^-62 + middle * 2^-126 as a sum of two floats."""
    mask = (1 << 32) - 1
    parts = ((top >> 32, 30), (top & mask, 62), (middle >> 32, 94), (middle & mask, 126))
    a, b, c, d = (part.to(F64) * 2.0**-power for part, power in parts)
    high, low = two_sum(a, b)
    small = c + d
    total = high + small
    return total, ((high - total) + small) + low


def _window(position: Term) -> tuple[Term, Term, Term]:
    """The 192 bits from this position on in the words of 2/pi, most significant first.

    A lane cannot index a table, so the words are chosen by halving: each bit of the word's number
    takes the upper or the lower part of what is left. The last six bits are a shift.
    """
    words: Sequence[Term] = [position.of(word) for word in two_over_pi_words()]
    for step in (8, 4, 2, 1):
        chosen = (position & step * 64).ne(0)
        count = 4 + step - 1
        words = [chosen.where(position.full(0) + words[i + step], words[i]) for i in range(count)]
    shift = position & 63
    left = [word << shift for word in words[:3]]
    right = [word >> (64 - shift) for word in words[1:4]]
    first, second, third = (a | b for a, b in zip(left, right))
    return first, second, third
