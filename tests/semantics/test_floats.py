"""Floats, rule by rule; docs/semantics.md says which rule is which test.

Elsewhere: every cast in tests/targets/test_numbers.py, tests/conformance/test_casts.py and
tests/properties/test_casts.py; elementary functions in tests/conformance; NaN in reductions in
tests/targets/test_reductions.py.
"""

from __future__ import annotations

import ml_dtypes
import mpmath
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere
from tests.support.block_functions import check_everywhere, check_value, type_of

SMALL = [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
VALUES = np.array([-3, 0.5, 2, -0.25, 1.5, -1, 3, 0])


@pytest.mark.parametrize("dtype", SMALL)
def test_small_floats_are_numbers(dtype):
    """Arithmetic, comparison, order, scans, sums and products of values, never of bits."""
    x, y = VALUES.astype(dtype), VALUES[::-1].astype(dtype)
    wide = x.astype(np.float64), y.astype(np.float64)
    check_value(lambda x, y: x + y, (wide[0] + wide[1]).astype(dtype), x, y)
    check_value(lambda x, y: x < y, wide[0] < wide[1], x, y)
    check_value(lambda x: tl.sort(x), np.sort(wide[0]).astype(dtype), x)
    check_value(lambda x: tl.sum(x, 0), wide[0].sum().astype(dtype), x)
    check_value(lambda x: tl.cumsum(x, 0), np.cumsum(wide[0]).astype(dtype), x)
    table = np.outer(wide[0], wide[0]).astype(dtype)
    product = (table.astype(np.float64) @ table.astype(np.float64)).astype(np.float32)
    check_value(lambda t: tl.dot(t, t), product, table)


def test_rounding_toward_zero_is_honoured():
    x = np.array([1 + 2**-8 + 2**-20, -(1 + 2**-8 + 2**-20), 3.0e38, 1.0], np.float32)
    wanted = (x.view(np.uint32) >> 16 << 16).view(np.float32).astype(ml_dtypes.bfloat16)
    check_value(lambda x: x.to(tl.bfloat16, fp_downcast_rounding="rtz"), wanted, x)
    check_value(lambda x: x.to(tl.bfloat16), x.astype(ml_dtypes.bfloat16), x)


def test_floats_become_ints_by_saturating_and_nan_is_zero():
    x = np.array([1e20, -1e20, np.nan, np.inf, -np.inf, -1.9, 1.9, 300.7], np.float32)
    check_value(
        lambda x: (x.to(tl.int32), x.to(tl.uint8)),
        [
            np.array([2**31 - 1, -(2**31), 0, 2**31 - 1, -(2**31), -1, 1, 300], np.int32),
            np.array([255, 0, 0, 255, 0, 0, 1, 255], np.uint8),
        ],
        x,
    )


def test_minimum_maximum_and_clamp_of_nan():
    x = np.array([np.nan, 1, np.nan, 4], np.float32)
    y = np.array([2, np.nan, np.nan, -4], np.float32)
    every = tl.PropagateNan.ALL
    check_value(lambda x, y: tl.minimum(x, y), np.fmin(x, y), x, y)
    check_value(lambda x, y: tl.maximum(x, y), np.fmax(x, y), x, y)
    check_value(lambda x, y: tl.maximum(x, y, propagate_nan=every), np.maximum(x, y), x, y)
    check_value(lambda x: tl.clamp(x, 0.0, 3.0), np.array([0, 1, 0, 3], np.float32), x)
    check_value(
        lambda x: tl.clamp(x, 0.0, 3.0, every), np.array([np.nan, 1, np.nan, 3], np.float32), x
    )


def test_of_equal_zeros_the_negative_one_is_less():
    x, y = np.array([0.0, -0.0], np.float32), np.array([-0.0, 0.0], np.float32)

    def body(x, y):
        return tl.minimum(x, y), tl.maximum(x, y)

    check_everywhere(body, lambda x, y: (-np.zeros_like(x), np.zeros_like(x)), [x, y], signs=True)


def test_extremes_of_a_row_skip_nan():
    x = np.array([np.nan, 2, 7, np.nan, 7, 2, np.nan, 3], np.float32)

    def body(x):
        return tl.max(x, 0), tl.min(x, 0), tl.argmax(x, 0), tl.argmin(x, 0)

    def last(x):
        return tl.argmax(x, 0, tie_break_left=False)

    check_value(body, [np.float32(7), np.float32(2), np.int32(2), np.int32(1)], x)
    assert type_of(last, x) == "int32"


@pytest.mark.parametrize("name", ["exp", "log", "sin", "sqrt"])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_functions_of_halves_are_rounded_once(name, dtype):
    """In f32, and then to the type: what rounding the exact value gives."""
    x = np.linspace(0.1, 4, 64).astype(dtype)
    exact = [float(getattr(mpmath, name)(mpmath.mpf(float(v)))) for v in x]
    check_value(lambda x: getattr(tl, name)(x), np.array(exact).astype(np.float32).astype(dtype), x)


def test_div_rn_and_sqrt_rn_are_correctly_rounded():
    random = np.random.default_rng(0)
    x, y = (random.uniform(0.1, 9, 256).astype(np.float32) for _ in range(2))
    check_value(lambda x, y: tl.div_rn(x, y), x / y, x, y)
    check_value(lambda x: tl.sqrt_rn(x), np.sqrt(x), x)


@triton.jit
def scalars_kernel(out, x, y):
    tl.store(out, tl.div_rn(x, y))
    tl.store(out + 1, tl.sqrt_rn(x))
    tl.store(out + 2, tl.exp(x))


def test_scalars_round_like_blocks():
    x, y = np.float32(2.7), np.float32(3.3)
    run_everywhere(
        scalars_kernel, (1,), np.zeros(3, np.float32), float(x), float(y),
        expected={"out": [x / y, np.sqrt(x), np.exp(x)]}, rtol=1.2e-7,
    )  # fmt: skip


def rounded_to_tf32(x):
    """To 10 fraction bits, to nearest even."""
    bits = x.view(np.uint32).astype(np.uint64)
    kept = (bits + 0xFFF + (bits >> 13 & 1)) >> 13 << 13
    return kept.astype(np.uint32).view(np.float32)


def test_dot_of_f32_is_exact_unless_tf32_is_asked_for():
    """One product an element, so there is no order of summation."""
    random = np.random.default_rng(1)
    x, y = (random.standard_normal(s).astype(np.float32) for s in ((4, 1), (1, 5)))
    check_value(lambda x, y: tl.dot(x, y), x * y, x, y)
    cut = rounded_to_tf32(x) * rounded_to_tf32(y)
    assert (cut != x * y).any()
    check_value(lambda x, y: tl.dot(x, y, input_precision="tf32"), cut, x, y)


def test_dot_accumulates_wider_than_its_operands():
    """Bytes in i32; halves and fp8 in f32: 2048 + 1 is no half."""
    ones = np.ones((1, 2049), np.int8)
    check_value(lambda x, y: tl.dot(x, y), np.array([[2049]], np.int32), ones, ones.T.copy())
    for dtype in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        x = ones.astype(dtype)
        check_value(lambda x, y: tl.dot(x, y), np.array([[2049]], np.float32), x, x.T.copy())


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (1, 3, 17), (17, 1, 3), (3, 17, 1)])
def test_dot_has_no_least_size(m, n, k):
    x = np.arange(m * k, dtype=np.float32).reshape(m, k) % 5
    y = np.arange(k * n, dtype=np.float32).reshape(k, n) % 7
    check_value(lambda x, y: tl.dot(x, y), x @ y, x, y)
