"""What the polynomials of the Bessel functions in `mytriton.elementary` approximate."""

from __future__ import annotations

from collections.abc import Iterator

from mpmath import mp, mpf

from tools.elementary.remez import Function

LEAST = mpf(10) ** -6
Row = tuple[str, Function, tuple[mpf, mpf], int, bool]


def _at(t: mpf) -> mpf:
    return mp.sqrt(32 * (1 + t))


def _first(order: int) -> Function:
    return lambda t: mp.besselj(order, _at(t)) / _at(t) ** order


def _second(order: int) -> Function:
    """Y less its logarithm and its pole."""

    def rest(t: mpf) -> mpf:
        x = _at(t)
        known = mp.log(x) * mp.besselj(order, x) - (1 / x if order else 0)
        return (mp.bessely(order, x) - 2 / mp.pi * known) / x**order

    return rest


def _amplitude(order: int, second: bool) -> Function:
    """P (or Q x) with J = sqrt(2/(pi x)) (P cos - Q sin), Y with + and exchanged."""

    def value(v: mpf) -> mpf:
        x = 8 / mp.sqrt(v)
        angle = x - (2 * order + 1) * mp.pi / 4
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        c, s = mp.cos(angle), mp.sin(angle)
        part = (y * c - j * s) * x if second else j * c + y * s
        return mp.sqrt(mp.pi * x / 2) * part

    return value


def _modified(order: int) -> Function:
    return lambda u: mp.besseli(order, mp.sqrt(u)) / mp.sqrt(u) ** order


def _modified_far(order: int) -> Function:
    return lambda v: mp.besseli(order, 8 / v) * mp.exp(-8 / v) * mp.sqrt(8 / v)


def rows() -> Iterator[Row]:
    """name, function, interval, degree, whether the error is relative."""
    whole = (LEAST - 1, mpf(1))
    for order in (0, 1):
        yield f"j{order}", _first(order), whole, 16, False
        yield f"y{order}", _second(order), whole, 16, False
        yield f"bessel_p{order}", _amplitude(order, False), (LEAST, mpf(1)), 12, False
        yield f"bessel_q{order}", _amplitude(order, True), (LEAST, mpf(1)), 12, False
        yield f"i{order}", _modified(order), (LEAST, mpf(64)), 15, True
        yield f"bessel_i{order}", _modified_far(order), (mpf("0.008"), mpf(1)), 23, True
