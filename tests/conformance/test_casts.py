"""Casts to and from the small floats, for all their bit patterns and for every kind of tie.

Judges: NumPy's float16, ml_dtypes and torch; the prelude's C types are held to the same answers.
"""

from __future__ import annotations

import ctypes
from functools import cache

import ml_dtypes
import numpy as np
import pytest
import torch

from mytriton.ir.numeric import Array, convert, decode, encode, memory_dtype, round_to
from mytriton.ir.types import (
    BF16,
    BY_IR_NAME,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    SCALARS,
    U8,
    U16,
    U32,
    U64,
    ScalarType,
)
from mytriton.targets.cuda.sim.build import build
from tests.conformance.backends import EXPORT
from tests.conformance.distance import ulps
from tests.conformance.inputs import corners, generator, operands
from tools.elementary import as_c

SMALL = [row for row in SCALARS if row.kind == "f" and row.bits < 32]
JUDGES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}
TORCH = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8e4m3fn": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "f8e4m3fnuz": torch.float8_e4m3fnuz,
    "f8e5m2fnuz": torch.float8_e5m2fnuz,
}
JUDGED = [BY_IR_NAME[name] for name in JUDGES]


def patterns(element: ScalarType) -> Array:
    """Every bit pattern, as memory holds it."""
    bits = np.arange(1 << element.bits, dtype=f"u{element.itemsize}")
    return bits.view(memory_dtype(element))


@cache
def near_ties(element: ScalarType) -> Array:
    """f32 numbers: all values of the format, the points half way between, and their neighbours."""
    values = np.unique(np.abs(decode(element, patterns(element))))
    finite = values[np.isfinite(values)].astype(np.float64)
    edges = finite if element == BF16 else np.append(finite, 2 * finite[-1] - finite[-2])
    points = np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]).astype(np.float32)
    around = [points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(0))]
    positive = np.concatenate([*around, corners(F32), _random()])
    return np.concatenate([positive, -positive])


def _random() -> Array:
    bits = generator("casts").integers(0, 2**32, 40_000, dtype=np.uint32)
    return bits.view(np.float32)


def same(left: Array, right: Array) -> Array:
    """Equal to the bit, any NaN like another."""
    nan = np.isnan(left) & np.isnan(right)
    return nan | ((left == right) & (np.signbit(left) == np.signbit(right)))


@pytest.mark.parametrize("element", JUDGED, ids=repr)
def test_every_pattern_is_read_as_its_value(element: ScalarType) -> None:
    memory = patterns(element)
    want = memory.view(np.dtype(JUDGES[element.ir])).astype(np.float32)
    assert same(decode(element, memory), want).all()


@pytest.mark.parametrize("element", SMALL, ids=repr)
def test_every_value_is_written_as_its_pattern(element: ScalarType) -> None:
    memory = patterns(element)
    value = decode(element, memory)
    back = encode(element, value)
    number = ~np.isnan(value)
    unsigned = f"u{element.itemsize}"
    assert (back.view(unsigned) == memory.view(unsigned))[number].all()
    assert np.isnan(decode(element, back)[~number]).all()


@pytest.mark.parametrize("element", JUDGED, ids=repr)
def test_f32_rounds_to_nearest_even(element: ScalarType) -> None:
    given = near_ties(element)
    with np.errstate(all="ignore"):
        want = given.astype(JUDGES[element.ir]).astype(np.float32)
    got = round_to(element, given)
    wrong = np.flatnonzero(~same(got, want))
    assert not len(wrong), f"{given[wrong[0]]!r} → {got[wrong[0]]}, not {want[wrong[0]]}"


@pytest.mark.parametrize("element", JUDGED, ids=repr)
def test_torch_rounds_alike(element: ScalarType) -> None:
    given = near_ties(element)
    inside = np.abs(given) <= element.max_finite  # past it torch versions differ
    given = given[inside]
    want = torch.from_numpy(given).to(TORCH[element.ir]).to(torch.float32).numpy()
    assert same(round_to(element, given), want).all()


@pytest.mark.parametrize("element", SMALL, ids=repr)
def test_rounding_toward_zero_drops_what_does_not_fit(element: ScalarType) -> None:
    given = near_ties(element)
    given = given[np.abs(given) <= element.max_finite]
    got = round_to(element, given, toward_zero=True)
    values = np.unique(np.abs(decode(element, patterns(element))))
    values = values[np.isfinite(values)]
    want = values[np.searchsorted(values, np.abs(given), side="right") - 1]
    assert (np.abs(got) == want).all()


@pytest.mark.parametrize("element", [F16, BF16], ids=repr)
def test_f64_is_rounded_once(element: ScalarType) -> None:
    """A double just above a tie rounds up, though the float nearest to it is the tie itself."""
    given = near_ties(element)
    ties = given[np.isfinite(given)].astype(np.float64)
    above = ties * (1 + 2.0**-40)
    below = ties * (1 - 2.0**-40)
    usual = (np.abs(ties) > 1e-6) & (np.abs(ties) < 6e4)
    up, down = round_to(element, above[usual]), round_to(element, below[usual])
    exact = ties[usual]
    assert (np.abs(up) >= np.abs(down)).all()
    half = np.abs(np.abs(up) - np.abs(exact)) == np.abs(np.abs(exact) - np.abs(down))
    tie = half & (up != down)
    assert (np.abs(up[tie]) > np.abs(exact[tie])).all()
    assert (np.abs(down[tie]) < np.abs(exact[tie])).all()
    assert tie.sum() > 1000


INTS = (I8, I16, I32, I64, U8, U16, U32, U64)


@pytest.mark.parametrize("target", INTS, ids=repr)
@pytest.mark.parametrize("source", [F16, F32, F64], ids=repr)
def test_floats_to_ints_saturate(source: ScalarType, target: ScalarType) -> None:
    (given,) = operands(source, 1)
    got = convert(source, target, given)
    for value, result in zip(given.tolist(), got.tolist()):
        if value != value:
            want = 0
        elif value in (float("inf"), float("-inf")):
            want = target.max_int if value > 0 else target.min_int
        else:
            want = min(max(int(value), target.min_int), target.max_int)
        assert result == want, value


@pytest.mark.parametrize("target", [F16, BF16, F32, F64], ids=repr)
@pytest.mark.parametrize("source", INTS, ids=repr)
def test_ints_to_floats_round_once(source: ScalarType, target: ScalarType) -> None:
    (given,) = operands(source, 1)
    got = convert(source, target, given)
    want = given.astype(np.longdouble)  # holds every int64 exactly
    assert (ulps(target, got, want)[np.abs(want) <= target.max_finite] <= 0.5).all()


# -- the prelude's types


def _texts() -> str:
    lines = []
    for row in SMALL:
        word = f"unsigned {'char' if row.bits == 8 else 'short'}"
        for name, made in (("near", f"{row.ir}(x[i])"), ("cut", f"{row.ir}::cut(x[i])")):
            lines.append(
                f"{EXPORT} void {row.ir}_{name}(long n, const float* x, {word}* out) {{\n"
                f"    for (long i = 0; i < n; i++) out[i] = {made}.bits;\n}}\n"
            )
        lines.append(
            f"{EXPORT} void {row.ir}_read(long n, const {row.ir}* x, float* out) {{\n"
            f"    for (long i = 0; i < n; i++) out[i] = (float)x[i];\n}}\n"
        )
    return "".join(lines)


def call(name: str, given: Array, out: Array) -> Array:
    given = np.ascontiguousarray(given)
    function = getattr(build(as_c.program(_texts())), name)
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (given, out))
    function(ctypes.c_long(given.size), *pointers)
    return out


@pytest.mark.parametrize("element", SMALL, ids=repr)
def test_the_prelude_reads_and_rounds_alike(element: ScalarType) -> None:
    memory = patterns(element)
    read = call(f"{element.ir}_read", memory, np.empty(memory.shape, np.float32))
    assert same(read, decode(element, memory)).all()
    given = near_ties(element)
    for name, toward_zero in (("near", False), ("cut", True)):
        bits = np.empty(given.shape, f"u{element.itemsize}")
        got = decode(element, call(f"{element.ir}_{name}", given, bits).view(memory_dtype(element)))
        want = round_to(element, given, toward_zero)
        wrong = np.flatnonzero(~same(got, want))
        assert not len(wrong), f"{name}: {given[wrong[0]]!r} → {got[wrong[0]]}, {want[wrong[0]]}"
