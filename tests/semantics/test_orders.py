"""Reductions, scans and order, rule by rule; docs/semantics.md says which rule is which test.

Elsewhere: any shape, axis, dtype and function in tests/properties/test_reductions.py,
test_scans.py and test_orders.py.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import mytriton.language as tl
from tests.support.block_functions import check_value


def test_sums_of_bools_and_narrow_ints_are_of_32_bits():
    check_value(lambda x: tl.sum(x, 0), np.uint32(300), np.ones(300, bool))
    check_value(lambda x: tl.sum(x, 0), np.int32(3 * 127), np.full(3, 127, np.int8))
    check_value(lambda x: tl.sum(x, 0), np.uint32(3 * 255), np.full(3, 255, np.uint8))
    check_value(lambda x: tl.sum(x, 0), np.int32(-(2**31)), np.array([2**31 - 1, 1], np.int32))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_sums_of_halves_are_rounded_once(dtype):
    """4096 ones after 4096: added one by one in halves they would be lost."""
    x = np.ones(4097).astype(dtype)
    x[0] = 4096
    check_value(lambda x: tl.sum(x, 0), np.array(8192.0).astype(dtype), x)


def test_combine_functions_keep_the_order():
    """Strings of digits: joining them does not commute."""
    digits, powers = np.arange(1, 10, dtype=np.int64), np.full(9, 10, np.int64)

    def joined(a, p, b, q):
        return a * q + b, p * q

    check_value(lambda d, p: tl.reduce((d, p), 0, joined)[0], np.int64(123456789), digits, powers)
    forward = [int("123456789"[: i + 1]) for i in range(9)]
    backward = [int("123456789"[i:][::-1]) for i in range(9)]
    check_value(
        lambda d, p: tl.associative_scan((d, p), 0, joined)[0],
        np.array(forward, np.int64), digits, powers,
    )  # fmt: skip
    check_value(
        lambda d, p: tl.associative_scan((d, p), 0, joined, reverse=True)[0],
        np.array(backward, np.int64), digits, powers,
    )  # fmt: skip


def test_running_sums_and_products_along_any_axis_both_ways():
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4) % 5 + 1
    for axis in range(3):
        back = np.flip(np.cumsum(np.flip(x, axis), axis, dtype=np.int32), axis)
        check_value(
            lambda x, axis=axis: (
                tl.cumsum(x, axis), tl.cumsum(x, axis, reverse=True), tl.cumprod(x, axis)
            ),
            [np.cumsum(x, axis, dtype=np.int32), back, np.cumprod(x, axis, dtype=np.int32)], x,
        )  # fmt: skip


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.float32, np.float64]
)
def test_floats_are_ordered_as_numbers(dtype):
    x = np.array([3, -np.inf, 0.5, np.inf, -2, 1, -0.25, 0]).astype(dtype)
    by = np.argsort(x.astype(np.float64), kind="stable")
    check_value(
        lambda x: (tl.sort(x), tl.topk(x, 3), tl.flip(x), tl.argsort(x)),
        [x[by], x[by][:-4:-1], x[::-1], by.astype(np.int32)], x,
    )  # fmt: skip


def test_histograms_count_in_i32_and_not_where_masked():
    x = np.array([0, 1, 1, 3, 3, 3, 2, 0], np.int32)
    mask = np.arange(8) < 6
    check_value(lambda x, m: tl.histogram(x, 4, mask=m), np.array([1, 2, 0, 3], np.int32), x, mask)
