"""Derives the constants of `mytriton.elementary` and writes them to its `coefficients.txt`.

    python -m tools.elementary.coefficients          # rewrites the file, seconds to a minute
    python -m tools.elementary.coefficients exp      # shows the matching rows

One idea: a row says what function of which variable a polynomial stands for, on which interval,
with which error allowed; everything else follows. In `u` forms the variable is x².
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from mpmath import mp, mpf

from mytriton.elementary.trigonometric import BOUNDS, PADDING
from tools.elementary import bessel
from tools.elementary.remez import Function, Polynomial, fit_rounded, rounded

FILE = Path(__file__).parents[2] / "src/mytriton/elementary/coefficients.txt"
WORDS = FILE.with_name("two_over_pi.txt")
BITS = {"f32": 24, "f64": 53}


def one(u: mpf) -> mpf:
    return mpf(1)


@dataclass(frozen=True, eq=False)
class Fit:
    """A polynomial of a degree per format. `head` are leading coefficients given beforehand; the
    rest approximates (function - head) / u**len(head), its error relative to `weight`."""

    name: str
    function: Function
    interval: tuple[float | mpf, float | mpf]
    degree: dict[str, int]
    weight: Function = one
    head: tuple[float | mpf, ...] = ()
    exact: int = 2
    """How many coefficients after the head are refitted around once rounded."""

    @property
    def forms(self) -> tuple[str, ...]:
        return tuple(self.degree)

    @cache  # noqa: B019 - the rows live as long as the run
    def polynomial(self, form: str) -> Polynomial:
        head = [rounded(mpf(c), BITS[form]) for c in self.head]
        count = len(head)

        def rest(u: mpf) -> mpf:
            return (self.function(u) - mp.polyval(head[::-1] or [0], u)) / u**count

        degree = self.degree[form] - count
        found = fit_rounded(
            rest, degree, self.interval, lambda u: self.weight(u) / u**count, BITS[form], self.exact
        )
        return Polynomial((*head, *found.coefficients), found.error)


@dataclass(frozen=True, eq=False)
class Split:
    """A number as an unevaluated sum of floats, largest first."""

    name: str
    value: Callable[[], mpf]
    parts: dict[str, int]

    @property
    def forms(self) -> tuple[str, ...]:
        return tuple(self.parts)

    @cache  # noqa: B019 - the rows live as long as the run
    def polynomial(self, form: str) -> Polynomial:
        left, found = self.value(), []
        for _ in range(self.parts[form]):
            found.append(rounded(left, BITS[form]))
            left -= found[-1]
        return Polynomial(tuple(found), float(left / self.value()))


def relative_root(function: Function) -> Function:
    """For an odd function, f(√u)/√u: as its own weight it makes the error relative."""
    return lambda u: function(mp.sqrt(u)) / mp.sqrt(u)


def even(function: Function) -> Function:
    return lambda u: function(mp.sqrt(u))


def rows() -> Iterator[Fit | Split]:
    """Every row of the file."""
    yield from exponentials()
    yield from logarithms()
    yield from angles()
    yield from errors_and_gamma()
    for name, function, interval, degree, relative in bessel.rows():
        yield Fit(name, function, interval, {"f64": degree}, function if relative else one)


def power(f: mpf) -> mpf:
    return mpf(2) ** f


def exponentials() -> Iterator[Fit | Split]:
    yield Split("log2e", lambda: 1 / mp.log(2), {"f32": 2, "f64": 2})
    yield Split("ln2", lambda: mp.log(2), {"f32": 2, "f64": 2})
    yield Split("log2_10", lambda: mp.log(10) / mp.log(2), {"f64": 1})
    yield Split("ln10", lambda: mp.log(10), {"f64": 2})
    reach = mp.log(2) * mpf("1.0001")
    yield Fit("exp", mp.exp, (-reach, reach), {"f32": 7, "f64": 14}, mp.exp, (1, 1))
    yield Fit("exp2", power, (-1, 1), {"f32": 7, "f64": 14}, power, (1,))
    half = reach / 2
    yield Fit("expm1", mp.expm1, (-half, half), {"f32": 6, "f64": 13}, mp.expm1, (0, 1, 0.5))
    tanh = relative_root(mp.tanh)
    yield Fit("tanh", tanh, (0, 0.36), {"f32": 5}, tanh, (1,))


def log_slope(f: mpf) -> mpf:
    return mp.log1p(f) / f


def log2_rest(f: mpf) -> mpf:
    """log2(1 + f) / f less the float nearest to its value at 0."""
    return log_slope(f) / mp.log(2) - rounded(1 / mp.log(2), 24)


def atanh_rest(z: mpf) -> mpf:
    """What 2 atanh(s) = 2 s + s z (…) has in its brackets, z = s²: about 2/3."""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def atanh_tail(z: mpf) -> mpf:
    return (atanh_rest(z) - mpf(2) / 3) / z


def logarithms() -> Iterator[Fit | Split]:
    yield Split("log10e", lambda: 1 / mp.log(10), {"f64": 2})
    yield Split("log10_2", lambda: mp.log(2) / mp.log(10), {"f64": 2})
    yield Split("two_thirds", lambda: mpf(2) / 3, {"f64": 2})
    third = mpf(1) / 3
    yield Fit("log", mp.log1p, (-third, third), {"f32": 10}, mp.log1p, (0, 1, -0.5))
    yield Fit("log2", log2_rest, (-third, third), {"f32": 9}, log_slope)
    top = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    yield Fit("log_atanh", atanh_rest, (0, top), {"f64": 7})
    yield Fit("log_tail", atanh_tail, (0, top), {"f64": 7})
    yield Fit("cbrt", mp.cbrt, (0.35, 2.83), {"f64": 6}, mp.cbrt)


def angles() -> Iterator[Fit | Split]:
    yield Split("two_over_pi", lambda: 2 / mp.pi, {"f64": 3})
    yield Split("half_pi", lambda: mp.pi / 2, {"f32": 3, "f64": 3})
    for bound in BOUNDS:
        yield Split(f"two_over_pi_{bound}", partial(rest_of_two_over_pi, bound), {"f64": 2})
    quarter = (mp.pi / 4 * mpf("1.01")) ** 2
    sine, cosine = relative_root(mp.sin), even(mp.cos)
    yield Fit("sin", sine, (0, quarter), {"f32": 3, "f64": 7}, sine, (1,))
    yield Fit("cos", cosine, (0, quarter), {"f32": 4, "f64": 8}, cosine, (1, -0.5))
    asin, atan = relative_root(mp.asin), relative_root(mp.atan)
    yield Fit("asin", asin, (0, 0.25), {"f64": 13}, asin, (1,))
    yield Fit("atan", atan, (0, (mp.sqrt(2) - 1) ** 2), {"f64": 12}, atan, (1,))


def errors_and_gamma() -> Iterator[Fit | Split]:
    erf, erfinv = relative_root(mp.erf), relative_root(mp.erfinv)
    yield Fit("erf", lambda u: erf(u) - 1, (0, 1), {"f32": 6, "f64": 12}, erf)
    yield Fit("erfinv", erfinv, (0, 0.25), {"f64": 14}, erfinv)
    ends = [(w - 3) / (w + 3) for w in (mp.sqrt(mp.log(2)), mpf("27.35"))]
    yield Fit("erfcinv", erfcinv_form, (ends[0], ends[1]), {"f64": 14}, erfcinv_form)
    start = (0.5 - 4) / mpf(4.5)
    yield Fit("erfcx", erfcx_form, (start, 1), {"f64": 22}, erfcx_form)
    yield Fit(
        "log_erfc",
        lambda a: mp.log(mp.erfc(a)),
        (0.95, 4.0),
        {"f32": 7},
        lambda a: (1 - mp.erfc(a)) / mp.erfc(a),
    )
    yield Split("log_root_2pi", lambda: mp.log(2 * mp.pi) / 2, {"f64": 2})
    yield Fit("stirling", stirling_form, (mpf(2) ** -20, mpf(2) ** -6), {"f64": 7})
    yield Fit("lgamma", lgamma_form, (-0.5, 1), {"f64": 21}, lgamma_form)


def erfcx(a: mpf) -> mpf:
    """exp(a²) erfc(a): by its asymptotic series where a is large."""
    if a < 30:
        return mp.exp(a * a) * mp.erfc(a)
    term, total = mpf(1), mpf(1)
    for n in range(1, 50):
        term *= -(2 * n - 1) / (2 * a * a)
        total += term
    return total / (a * mp.sqrt(mp.pi))


def erfcx_form(t: mpf) -> mpf:
    """(1 + 2a) erfcx(a) with t = (a - 4) / (a + 4): nearly constant from 0 to infinity."""
    if t >= 1:
        return 2 / mp.sqrt(mp.pi)
    a = 4 * (1 + t) / (1 - t)
    return (1 + 2 * a) * erfcx(a)


def erfcinv_form(t: mpf) -> mpf:
    """y / w with erfc(y) = exp(-w²), t = (w - 3) / (w + 3), by Newton's method."""
    w = 3 * (1 + t) / (1 - t)
    y = w - mpf("0.3") if w > 1 else mpf("0.5")
    for _ in range(12):
        value = mp.erfc(y)
        y += (mp.log(value) + w * w) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y) * value
    return y / w


def stirling_form(v: mpf) -> mpf:
    """z (log gamma(z) - (z - 1/2) log z + z - log(2 pi) / 2) with v = 1 / z²: about 1/12."""
    z = 1 / mp.sqrt(v)
    plain = (z - mpf(1) / 2) * mp.log(z) - z + mp.log(2 * mp.pi) / 2
    return z * (mp.loggamma(z) - plain)


def lgamma_form(d: mpf) -> mpf:
    return mp.loggamma(2 + d) / d


def rest_of_two_over_pi(bound: int) -> mpf:
    """2/pi less the bits whose product with an f32 of at least 2^bound is a multiple of 4."""
    return (2 / mp.pi) % mpf(2) ** (25 - bound)


def lines_of(row: Fit | Split) -> Iterator[str]:
    """The row's lines of the file, one a format."""
    for form in row.forms:
        values = " ".join(float(c).hex() for c in row.polynomial(form).coefficients)
        yield f"{row.name}.{form} {values}"


def lines(wanted: str = "") -> Iterator[str]:
    for row in rows():
        if wanted in row.name:
            for form in row.forms:
                print(f"{row.name}.{form}: error {row.polynomial(form).error:.1e}")
            yield from lines_of(row)


def words() -> str:
    """The bits of 2/pi after PADDING zeros, as 19 hexadecimal words of 64 bits."""
    with mp.workprec(2000):
        bits = int(mp.floor(2 / mp.pi * mpf(2) ** (19 * 64 - PADDING)))
    digits = f"{bits:0{19 * 16}x}"
    return "".join(digits[i : i + 16] + "\n" for i in range(0, len(digits), 16))


def main() -> None:
    text = list(lines(*sys.argv[1:]))
    if len(sys.argv) > 1:
        print("\n".join(text))
        return
    head = (
        "# The constants of the expansions, lowest first: python -m tools.elementary.coefficients"
    )
    WORDS.write_text(words(), encoding="utf-8")
    FILE.write_text("\n".join([head, *text]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
