"""libdevice against the same functions elsewhere, in f32 and f64, hostile values included."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileTypeError, CompileValueError
from mytriton.language.extra import libdevice
from tests.support.block_functions import evaluate

RANDOM = np.random.default_rng(0)
WIDE = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-3, -3e-6, 7.25, -19.5, np.inf, -np.inf, np.nan]


def ulps(got: Any, exact: Any, dtype: Any) -> float:
    """The largest distance in units of the last place."""
    wide = np.asarray(exact, np.longdouble)
    near = wide.astype(dtype)
    same = (got == near) | (np.isnan(got) & np.isnan(near))
    unit = np.spacing(np.abs(near)).astype(np.longdouble)
    with np.errstate(invalid="ignore"):
        far = np.where(same, 0, np.abs(got.astype(np.longdouble) - wide) / unit)
    return float(np.max(np.nan_to_num(far, nan=np.inf)))


def by_mpmath(function: Callable[..., Any], *arrays: Any) -> Any:
    def exact(*values: Any) -> Any:
        with mpmath.workdps(40):
            try:
                result = function(
                    *(mpmath.mpf(v if isinstance(v, mpmath.mpf) else float(v)) for v in values)
                )
            except (ValueError, ZeroDivisionError):
                return np.longdouble("nan")
            return np.longdouble(mpmath.nstr(result, 30)) if mpmath.im(result) == 0 else np.nan

    return np.array([exact(*values) for values in zip(*arrays)], np.longdouble)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "exact", "low", "high", "bound"),
    [
        ("tan", mpmath.tan, -10, 10, 4),
        ("asin", mpmath.asin, -1, 1, 2),
        ("acos", mpmath.acos, -1, 1, 2),
        ("atan", mpmath.atan, -50, 50, 2),
        ("sinh", mpmath.sinh, -20, 20, 3),
        ("cosh", mpmath.cosh, -20, 20, 3),
        ("tanh", mpmath.tanh, -5, 5, 3),
        ("asinh", mpmath.asinh, -1e4, 1e4, 4),
        ("acosh", mpmath.acosh, 1, 1e4, 5),
        ("atanh", mpmath.atanh, -0.99, 0.99, 5),
        ("exp10", lambda x: mpmath.mpf(10) ** x, -30, 30, 2),
        ("log10", mpmath.log10, 0.01, 1e6, 2),
        ("expm1", mpmath.expm1, -3, 10, 4),
        ("log1p", mpmath.log1p, -0.9, 100, 4),
        ("cbrt", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), -1e5, 1e5, 2),
        ("rcbrt", lambda x: 1 / mpmath.cbrt(x), 0.1, 1e5, 3),
        ("sinpi", mpmath.sinpi, -4, 4, 4),
        ("cospi", mpmath.cospi, -4, 4, 4),
        ("erfc", mpmath.erfc, -3, 9, 12),
        ("erfcx", lambda x: mpmath.exp(x * x) * mpmath.erfc(x), -3, 9, 12),
        ("normcdf", mpmath.ncdf, -9, 9, 12),
        ("tgamma", mpmath.gamma, 0.1, 30, 60),
        ("erfinv", mpmath.erfinv, -0.99, 0.99, 8),
    ],
)
def test_elementary(
    name: str, exact: Any, low: float, high: float, bound: float, dtype: Any
) -> None:
    x = RANDOM.uniform(low, high, 200).astype(dtype)
    got = evaluate(getattr(libdevice, name), x)
    assert got.dtype == dtype
    limit = bound if dtype == np.float64 else min(bound, 4)
    assert ulps(got, by_mpmath(exact, x), dtype) <= limit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "exact", "low", "high", "close"),
    [
        ("lgamma", lambda x: mpmath.re(mpmath.loggamma(x)), -4.9, 40, 1e-12),
        ("tgamma", mpmath.gamma, -4.9, 1, 1e-12),
        ("j0", lambda x: mpmath.besselj(0, x), -60, 60, 1e-13),
        ("j1", lambda x: mpmath.besselj(1, x), -60, 60, 1e-13),
        ("y0", lambda x: mpmath.bessely(0, x), 0.01, 60, 1e-12),
        ("y1", lambda x: mpmath.bessely(1, x), 0.1, 60, 1e-12),
        ("cyl_bessel_i0", lambda x: mpmath.besseli(0, x), -80, 80, 1e-12),
        ("cyl_bessel_i1", lambda x: mpmath.besseli(1, x), -80, 80, 1e-12),
        ("erfcinv", lambda p: mpmath.erfinv(1 - p), 0.01, 1.99, 1e-12),
        ("normcdfinv", lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1), 0.01, 0.99, 1e-12),
    ],
)
def test_special(name: str, exact: Any, low: float, high: float, close: float, dtype: Any) -> None:
    x = RANDOM.uniform(low, high, 60).astype(dtype)
    expected = by_mpmath(exact, x).astype(float)
    got = evaluate(getattr(libdevice, name), x)
    tolerance = close if dtype == np.float64 else 4e-7
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_bessel_of_any_order() -> None:
    x = RANDOM.uniform(0.5, 60, 40)
    for order in (0, 2, 7):
        expected = by_mpmath(lambda v, n=order: mpmath.besselj(n, v), x).astype(float)
        got = evaluate(lambda v, n=order: libdevice.jn(n, v), x)
        np.testing.assert_allclose(got, expected, atol=1e-12)
        expected = by_mpmath(lambda v, n=order: mpmath.bessely(n, v), x).astype(float)
        got = evaluate(lambda v, n=order: libdevice.yn(n, v), x)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    with pytest.raises(CompileValueError, match="constant from 0 to 24"):
        evaluate(lambda v: libdevice.jn(25, v), x)


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("tan", np.tan), ("atan", np.arctan), ("sinh", np.sinh), ("cosh", np.cosh),
        ("asinh", np.arcsinh), ("expm1", np.expm1), ("cbrt", np.cbrt), ("rint", np.rint),
        ("trunc", np.trunc), ("nearbyint", np.rint), ("isnan", np.isnan), ("isinf", np.isinf),
        ("isfinited", np.isfinite), ("finitef", np.isfinite), ("signbit", np.signbit),
        ("log1p", np.log1p), ("acosh", np.arccosh), ("atanh", np.arctanh), ("asin", np.arcsin),
        ("exp10", lambda x: 10.0**x), ("logb", lambda x: np.vectorize(c_logb)(x)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hostile_values(name: str, exact: Any, dtype: Any) -> None:
    x = np.array(WIDE, dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(exact(x.astype(np.float64)))
    got = evaluate(getattr(libdevice, name), x)
    if got.dtype == bool:
        assert (got == expected).all()
        return
    np.testing.assert_allclose(got, expected.astype(dtype), rtol=1e-6)
    zeros = expected == 0
    assert (np.signbit(got[zeros]) == np.signbit(expected[zeros])).all()


def c_logb(x: float) -> float:
    if x == 0:
        return -math.inf
    return abs(x) if math.isinf(x) or math.isnan(x) else float(math.frexp(x)[1] - 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_two(dtype: Any) -> None:
    values = np.array([*WIDE, 2.0, 3.0, -2.0, 1e-40 if dtype == np.float32 else 1e-310], dtype)
    x, y = (a.ravel().copy() for a in np.meshgrid(values, values))
    cases: dict[str, Any] = {
        "atan2": np.arctan2, "pow": np.power, "copysign": np.copysign, "fmod": np.fmod,
        "nextafter": np.nextafter, "hypot": np.hypot, "remainder": np.vectorize(ieee_remainder),
        "fdim": lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0)),
    }  # fmt: skip
    for name, exact in cases.items():
        with np.errstate(all="ignore"):
            expected = np.asarray(exact(x, y)).astype(dtype)
        got = evaluate(getattr(libdevice, name), x, y)
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=0, err_msg=name)


def ieee_remainder(x: float, y: float) -> float:
    bad = math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0
    return math.nan if bad else math.remainder(x, y)


def test_rounding_half_away() -> None:
    x = np.array([0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609.0, -0.2], np.float32)
    assert evaluate(libdevice.round, x).tolist() == [1, -1, 2, 3, -3, 0, 8388609, 0]
    assert evaluate(libdevice.llround, x).tolist()[:5] == [1, -1, 2, 3, -3]
    assert evaluate(libdevice.llrint, x).tolist()[:5] == [0, 0, 2, 2, -2]


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_bits_of_ints(dtype: Any) -> None:
    bits = np.dtype(dtype).itemsize * 8
    x = np.array([0, 1, 2, 3, 96, 2 ** (bits - 2), np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    words = [int(v) % 2**bits for v in x]
    assert evaluate(libdevice.popc, x).tolist() == [w.bit_count() for w in words]
    assert evaluate(libdevice.clz, x).tolist() == [bits - w.bit_length() for w in words]
    assert evaluate(libdevice.ffs, x).tolist() == [(w & -w).bit_length() for w in words]
    backward = [int(f"{w:0{bits}b}"[::-1], 2) for w in words]
    assert [int(v) % 2**bits for v in evaluate(libdevice.brev, x)] == backward


def test_int_arithmetic() -> None:
    x, y = np.array([2**31 - 1, -7, 5], np.int32), np.array([2**31 - 1, 2, -8], np.int32)
    pairs = [(int(a), int(b)) for a, b in zip(x, y)]
    assert evaluate(libdevice.hadd, x, y).tolist() == [(a + b) >> 1 for a, b in pairs]
    assert evaluate(libdevice.rhadd, x, y).tolist() == [(a + b + 1) >> 1 for a, b in pairs]
    assert evaluate(libdevice.mulhi, x, y).tolist() == [(a * b) >> 32 for a, b in pairs]
    assert evaluate(libdevice.sad, x, y, np.full(3, 1, np.uint32)).tolist() == [1, 10, 14]
    small = np.array([0x123456, -3, 5], np.int32)
    assert evaluate(libdevice.mul24, small, small).tolist() == [
        (0x123456**2 + 2**31) % 2**32 - 2**31, 9, 25]  # fmt: skip
    got = evaluate(libdevice.byte_perm, *(np.array([v], np.uint32) for v in (
        0x33221100, 0xFF665544, 0x7F10)))  # fmt: skip
    assert got[0] == 0xFFFF1100


def test_reinterpreting() -> None:
    x = np.array([1.5, -0.0, np.inf], np.float32)
    assert (evaluate(libdevice.float_as_int, x) == x.view(np.int32)).all()
    assert (evaluate(libdevice.uint_as_float, x.view(np.uint32)) == x).all()
    d = np.array([math.pi, -1e300])
    high, low = evaluate(lambda d: (libdevice.double2hiint(d), libdevice.double2loint(d)), d)
    assert (evaluate(libdevice.hiloint2double, high, low) == d).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scaling_rounds_once(dtype: Any) -> None:
    info = np.finfo(dtype)
    x = np.array(
        [1.0, 1.5, -3.0, info.max, info.tiny, info.smallest_subnormal, 1 + info.eps], dtype
    )
    for n in (0, 1, -1, 10, -20, -1000, 1000, info.minexp - 3, info.minexp - 30, 5000, -5000):
        with np.errstate(all="ignore"):
            expected = np.ldexp(x, n)
        got = evaluate(lambda x, n=n: libdevice.ldexp(x, n), x)
        assert (got == expected).all(), n
    assert evaluate(libdevice.ilogb, x).tolist() == [math.frexp(float(v))[1] - 1 for v in x]


def test_directed_roundings() -> None:
    x = RANDOM.normal(size=200).astype(np.float32)
    y = (RANDOM.normal(size=200) * 10.0 ** RANDOM.integers(-12, 12, 200)).astype(np.float32)
    exact: dict[str, Any] = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    }  # fmt: skip
    for name, function in exact.items():
        with mpmath.workdps(60):
            values = [function(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(x, y)]
            down = [floor32(v) for v in values]
            up = [-floor32(-v) for v in values]
        expected = {
            "rd": down,
            "ru": up,
            "rz": [d if v > 0 else u for v, d, u in zip(values, down, up)],
        }
        for mode, numbers in expected.items():
            got = evaluate(getattr(libdevice, f"{name}_{mode}"), x, y)
            assert got.tolist() == numbers, (name, mode)


def floor32(value: Any) -> float:
    """The greatest float32 not above the value."""
    near = np.float32(float(value))
    return float(
        np.nextafter(near, np.float32(-np.inf)) if mpmath.mpf(float(near)) > value else near
    )


def test_directed_overflow_and_roots() -> None:
    top = np.finfo(np.float32).max
    x = np.array([top], np.float32)
    assert (
        evaluate(libdevice.add_rd, x, x)[0] == top and evaluate(libdevice.add_ru, x, x)[0] == np.inf
    )
    assert evaluate(libdevice.mul_rz, -x, x)[0] == -top
    two = np.array([2.0, 3.0])
    low, high = evaluate(lambda x: (libdevice.sqrt_rd(x), libdevice.sqrt_ru(x)), two)
    assert (np.nextafter(low, 9) == high).all() and (low < np.sqrt(np.longdouble(two))).all()
    ninth = evaluate(libdevice.rcp_rd, np.array([3.0]))[0]
    with mpmath.workdps(40):
        assert mpmath.mpf(float(ninth)) * 3 < 1
    third = evaluate(libdevice.fma_ru, *(np.array([v], np.float32) for v in (1 / 3, 3, 1e-9)))[0]
    assert third > np.float32(1 / 3) * 3.0


def test_conversions_round_as_named() -> None:
    x = np.array([1.5, -1.5, 2.5, -0.2], np.float32)
    modes = {"rn": [2, -2, 2, 0], "rd": [1, -2, 2, -1], "ru": [2, -1, 3, 0], "rz": [1, -1, 2, 0]}
    for mode, expected in modes.items():
        assert evaluate(getattr(libdevice, f"float2int_{mode}"), x).tolist() == expected
        assert (
            evaluate(getattr(libdevice, f"double2ll_{mode}"), x.astype("f8")).tolist() == expected
        )
    n = np.array([2**24 + 1, -(2**24) - 1, 2**31 - 1], np.int32)
    assert evaluate(libdevice.int2float_rd, n).tolist() == [2**24, -(2**24) - 2, 2**31 - 128]
    assert evaluate(libdevice.int2float_ru, n).tolist() == [2**24 + 2, -(2**24), 2**31]
    d = np.array([1 + 2**-30, 1e300])
    assert evaluate(libdevice.double2float_ru, d).tolist() == [1 + 2**-23, np.inf]
    assert evaluate(libdevice.double2float_rz, d).tolist() == [1, float(np.finfo("f4").max)]


def test_aliases_and_errors() -> None:
    assert libdevice.fast_sinf is libdevice.sin
    assert tl.extra.cuda.libdevice.tanh is libdevice.tanh
    with pytest.raises(CompileTypeError, match="floats"):
        evaluate(libdevice.tanh, np.arange(4, dtype=np.int32))
    with pytest.raises(CompileTypeError, match="floats of 16 bits or more"):
        evaluate(libdevice.isnan, np.arange(4, dtype=np.int32))
