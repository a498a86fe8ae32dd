"""Minimax polynomials in exact-enough arithmetic, for the expansions.

One idea: of all polynomials of a degree, the one whose weighted error swings between +E and -E at
degree + 2 points is the best (Chebyshev). Remez's exchange finds it: solve for a polynomial that
swings at the points guessed, take the extremes of its true error as the next guess.

    fit(lambda r: mp.exp(r), 5, (-0.35, 0.35), mp.exp)    # relative error of exp: about 1e-9
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mpmath import mp, mpf

mp.prec = 400
Function = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Polynomial:
    """Coefficients, lowest first, and the largest weighted error on the interval."""

    coefficients: tuple[mpf, ...]
    error: float


def grid(low: mpf, high: mpf, count: int) -> list[mpf]:
    """Points that crowd at the ends, the ends included, zero avoided."""
    middle, half = (high + low) / 2, (high - low) / 2
    points = [middle - half * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    return [point if point else half * mpf(2) ** -40 for point in points]


def fit(
    function: Function,
    degree: int,
    interval: tuple[float | mpf, float | mpf],
    weight: Function = lambda u: mpf(1),
) -> Polynomial:
    """The polynomial p of that degree with the least maximum of |p - function| / |weight|."""
    points = grid(mpf(interval[0]), mpf(interval[1]), 24 * (degree + 2))
    wanted = [function(u) for u in points]
    weights = [mp.fabs(weight(u)) for u in points]
    chosen = [round(i * (len(points) - 1) / (degree + 1)) for i in range(degree + 2)]
    coefficients: Sequence[mpf] = ()
    for _ in range(30):
        coefficients, level = _solve(points, wanted, weights, chosen, degree)
        errors = [
            (mp.polyval(coefficients[::-1], u) - f) / w for u, f, w in zip(points, wanted, weights)
        ]
        worst = max(map(mp.fabs, errors))
        if worst <= mp.fabs(level) * mpf("1.001"):
            break
        chosen = _extremes(errors, degree + 2)
    return Polynomial(tuple(coefficients), float(worst))


def _solve(
    points: list[mpf], wanted: list[mpf], weights: list[mpf], chosen: list[int], degree: int
) -> tuple[list[mpf], mpf]:
    """The polynomial whose weighted error is +E, -E, … at the chosen points, and E."""
    rows = []
    for turn, i in enumerate(chosen):
        powers = [points[i] ** k for k in range(degree + 1)]
        rows.append([*powers, weights[i] * (-1) ** turn])
    solution = mp.lu_solve(mp.matrix(rows), mp.matrix([wanted[i] for i in chosen]))
    return list(solution)[:-1], solution[degree + 1]


def _extremes(errors: list[mpf], count: int) -> list[int]:
    """The places of `count` extremes of alternating sign, the largest in a row."""
    runs: list[int] = []
    for i, error in enumerate(errors):
        if not runs or (error > 0) != (errors[runs[-1]] > 0):
            runs.append(i)
        elif mp.fabs(error) > mp.fabs(errors[runs[-1]]):
            runs[-1] = i
    while len(runs) > count:
        end = 0 if mp.fabs(errors[runs[0]]) < mp.fabs(errors[runs[-1]]) else -1
        del runs[end]
    assert len(runs) == count, f"{len(runs)} extremes, {count} wanted: more precision needed"
    return runs


def rounded(value: mpf, bits: int) -> mpf:
    """The nearest number of that many significant bits."""
    with mp.workprec(bits):
        return +value


def fit_rounded(
    function: Function,
    degree: int,
    interval: tuple[float | mpf, float | mpf],
    weight: Function,
    bits: int,
    exact: int,
) -> Polynomial:
    """`fit` with coefficients of `bits` bits: after the first `exact` ones are rounded, one by one,
    those above are fitted again, so that they make up for the rounding."""
    low, high = (mpf(end) for end in interval)
    fixed: list[mpf] = []

    def rest(u: mpf) -> mpf:
        return (function(u) - mp.polyval(fixed[::-1] or [0], u)) / u ** len(fixed)

    def weighted(u: mpf) -> mpf:
        return weight(u) / u ** len(fixed)

    while True:
        best = fit(rest, degree - len(fixed), (low, high), weighted)
        if len(fixed) == min(exact, degree):
            tail = [rounded(c, bits) for c in best.coefficients]
            return Polynomial((*fixed, *tail), best.error)
        fixed.append(rounded(best.coefficients[0], bits))
