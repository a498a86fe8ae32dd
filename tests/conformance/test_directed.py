"""libdevice's directed roundings against rational arithmetic, on hostile operands."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mytriton.ir.numeric import Array
from mytriton.ir.types import F32, F64, I32, I64, U32, U64, ScalarType
from mytriton.language.extra import libdevice
from tests.conformance.inputs import corners, generator, operands
from tests.support.block_functions import evaluate

OPERATIONS: dict[str, Callable[..., Fraction]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "fma": lambda x, y, z: x * y + z,
    "rcp": lambda x: 1 / x,
}
ARITY = {"fma": 3, "rcp": 1}
MODES = ("rd", "ru", "rz")
DTYPES = {F32: np.float32, F64: np.float64}


def next_to(value: Any, toward: float, element: ScalarType) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.nextafter(value, DTYPES[element](toward))


def directed(exact: Fraction, mode: str, element: ScalarType) -> Any:
    """The float on the wanted side of an exact number other than 0; inwards never infinite."""
    if mode == "rz":
        mode = "rd" if exact > 0 else "ru"
    toward = -math.inf if mode == "rd" else math.inf
    with np.errstate(all="ignore"):
        try:
            value = DTYPES[element](float(exact))
        except OverflowError:
            value = DTYPES[element](math.inf if exact > 0 else -math.inf)
    beyond = (lambda v: v > exact) if mode == "rd" else (lambda v: v < exact)
    while not math.isfinite(value) or beyond(Fraction(float(value))):
        if value == toward:
            return value
        value = next_to(value, toward, element)
    while True:
        closer = next_to(value, -toward, element)
        if not math.isfinite(closer) or beyond(Fraction(float(closer))):
            return value
        value = closer


def finite_operands(element: ScalarType, arity: int) -> list[Array]:
    arrays = operands(element, arity) if arity > 1 else [corners(element)]
    finite = np.flatnonzero(np.all([np.isfinite(array) for array in arrays], axis=0))
    chosen = generator("directed").permutation(finite)[:400]
    return [array[chosen] for array in arrays]


@pytest.mark.parametrize("element", [F32, F64], ids=repr)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str, mode: str, element: ScalarType) -> None:
    arrays = finite_operands(element, ARITY.get(name, 2))
    got = evaluate(getattr(libdevice, f"{name}_{mode}"), *arrays)
    for place, given in enumerate(zip(*arrays)):
        try:
            exact = OPERATIONS[name](*(Fraction(float(value)) for value in given))
        except ZeroDivisionError:
            continue
        want = directed(exact, mode, element) if exact else 0.0
        assert got[place] == want, (given, got[place], want)


@pytest.mark.parametrize("element", [F32, F64], ids=repr)
@pytest.mark.parametrize("mode", MODES)
def test_square_roots(mode: str, element: ScalarType) -> None:
    (given,) = finite_operands(element, 1)
    given = given[given > 0]
    got = evaluate(getattr(libdevice, f"sqrt_{mode}"), given)
    for x, root in zip(given, got):
        up = Fraction(float(next_to(root, math.inf, element)))
        down = Fraction(float(next_to(root, 0.0, element)))
        exact, square = Fraction(float(x)), Fraction(float(root)) ** 2
        if mode == "ru":
            assert square >= exact > down**2, x
        else:
            assert square <= exact < up**2, x


CONVERSIONS = [
    (f"{whole}2{real}", source, target)
    for whole, source in (("int", I32), ("uint", U32), ("ll", I64), ("ull", U64))
    for real, target in (("float", F32), ("double", F64))
    if (source.bits, target.bits) != (32, 64)
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "source", "target"), [*CONVERSIONS, ("double2float", F64, F32)])
def test_conversions(name: str, source: ScalarType, target: ScalarType, mode: str) -> None:
    (given,) = operands(source, 1)
    given = given[np.isfinite(given)]
    got = evaluate(getattr(libdevice, f"{name}_{mode}"), given)
    for value, result in zip(given.tolist(), got):
        exact = Fraction(value)
        want = directed(exact, mode, target) if exact else 0.0
        assert result == want, (value, result, want)


ROUNDED = {"rd": math.floor, "ru": math.ceil, "rz": math.trunc, "rn": round}


@pytest.mark.parametrize("mode", [*MODES, "rn"])
@pytest.mark.parametrize(("real", "source"), [("float", F32), ("double", F64)])
@pytest.mark.parametrize(
    ("whole", "target"), [("int", I32), ("uint", U32), ("ll", I64), ("ull", U64)]
)
def test_to_ints(real: str, source: ScalarType, whole: str, target: ScalarType, mode: str) -> None:
    (given,) = operands(source, 1)
    given = given[np.isfinite(given)]
    got = evaluate(getattr(libdevice, f"{real}2{whole}_{mode}"), given)
    for value, result in zip(given.tolist(), got.tolist()):
        want = min(max(ROUNDED[mode](value), target.min_int), target.max_int)
        assert result == want, value
