"""What is allowed an error keeps to it: meaning and formula against mpmath's many digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from mytriton.ir.numeric import Array
from mytriton.ir.ops import Row
from mytriton.ir.types import F32, F64, ScalarType
from tests.conformance.backends import BACKENDS, ROWS, element_of, uses_formula
from tests.conformance.distance import Wide, ulps
from tests.conformance.exact import EXACT
from tests.conformance.inputs import generator, operands

INEXACT = [row for row in ROWS if element_of(row).ulp]
CASES = [
    pytest.param(row, element, id=f"{row.name}-{element.ir}")
    for row in INEXACT
    for element in (F32, F64)
]
SAMPLES = 60


def wide_of(value: Any) -> Any:
    """An mpf as a longdouble, whose exponents go far past float64's."""
    fraction, exponent = mp.frexp(value)
    high = float(fraction)
    return np.ldexp(Wide(high) + Wide(float(fraction - high)), max(min(exponent, 16000), -16000))


def exact(row: Row, arrays: list[Array]) -> tuple[list[int], Any]:
    """The places whose exact value is finite and not 0, and these values."""
    places, values = [], []
    with mp.workprec(200):
        for place, given in enumerate(zip(*arrays)):
            numbers = [mpf(float(x)) for x in given]
            try:
                value = EXACT[row.name](*numbers)
            except (ValueError, ZeroDivisionError, OverflowError, mp.NoConvergence):
                continue
            if isinstance(value, mpf) and mp.isfinite(value) and value:
                places.append(place)
                values.append(wide_of(value))
    return places, np.array(values, Wide)


def samples(row: Row, element: ScalarType) -> list[Array]:
    """Some of the hostile inputs: finite, and not so large that mpmath takes seconds."""
    arrays = operands(element, element_of(row).arity)
    finite = np.all([np.isfinite(a) & (np.abs(a) < 1e30) for a in arrays], axis=0)
    chosen = generator(row.name).permutation(np.flatnonzero(finite))[:SAMPLES]
    return [array[chosen] for array in arrays]


@pytest.mark.parametrize(("row", "element"), CASES)
def test_the_bound_holds(row: Row, element: ScalarType) -> None:
    arrays = samples(row, element)
    places, want = exact(row, arrays)
    assert len(places) >= 10
    backends = ["numpy", "formula"] if uses_formula(element_of(row), element) else ["numpy"]
    for backend in backends:
        got = BACKENDS[backend](row, element, arrays)[places]
        distance = ulps(element, got, want)
        with np.errstate(invalid="ignore"):
            distance[np.abs(got - want) <= element_of(row).absolute] = 0.0
        worst = int(np.argmax(distance))
        given = [array[places[worst]] for array in arrays]
        message = f"{backend}: {row.name}{given} = {got[worst]}, exactly {want[worst]}"
        assert distance[worst] <= element_of(row).ulp, message


def test_every_inexact_row_has_an_exact_value() -> None:
    assert {row.name for row in INEXACT} == EXACT.keys()
