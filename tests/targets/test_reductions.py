"""Reductions, scans, sorts and counts on hostile rows, on every target."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import outcomes, run_everywhere

NAN = np.nan


@triton.jit
def extremes_kernel(x, values, places, columns, BLOCK: tl.constexpr):
    """max, min, argmax, argmin of each row, the last two with the first and with any of equals."""
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + lanes)
    tl.store(values + row * 2, tl.max(value, axis=0))
    tl.store(values + row * 2 + 1, tl.min(value, axis=0))
    tl.store(places + row * 2, tl.argmax(value, axis=0))
    tl.store(places + row * 2 + 1, tl.argmin(value, axis=0))


ROWS = np.array(
    [
        [3, 1, 3, 1, 2, 3, 1, 1],
        [5, 5, 5, 5, 5, 5, 5, 5],
        [NAN, 2, 7, NAN, 2, 7, 0, 0],
        [-np.inf, NAN, NAN, -np.inf, NAN, NAN, NAN, NAN],
        [np.inf, -np.inf, NAN, np.inf, -np.inf, 0, 0, 0],
        [NAN, NAN, NAN, NAN, NAN, NAN, NAN, -1],
    ],
    np.float32,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_extremes_skip_nan_and_take_the_first_of_equals(dtype):
    x = ROWS.astype(dtype)
    values = np.stack([np.nanmax(x, 1), np.nanmin(x, 1)], 1)
    places = np.stack([np.nanargmax(x, 1), np.nanargmin(x, 1)], 1).astype(np.int32)
    run_everywhere(
        extremes_kernel,
        (len(x),),
        x,
        np.zeros_like(values),
        np.zeros_like(places),
        8,
        BLOCK=8,
        expected={"values": values, "places": places},
    )


def test_a_row_of_nan_gives_nan_and_a_place_inside():
    x = np.full((1, 8), NAN, np.float32)
    values, places = np.zeros((1, 2), np.float32), np.full((1, 2), -1, np.int32)
    for target, got in outcomes(extremes_kernel, (1,), x, values, places, 8, BLOCK=8):
        assert np.isnan(got["values"]).all(), target
        assert ((got["places"] >= 0) & (got["places"] < 8)).all(), target


@triton.jit
def sums_kernel(x, total, running, backward, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    place = rows * N + columns
    value = tl.load(x + place)
    rest = tl.arange(0, M if AXIS == 1 else N)
    tl.store(total + rest, tl.sum(value, axis=AXIS).to(total.dtype.element_ty))
    tl.store(running + place, tl.cumsum(value, AXIS).to(running.dtype.element_ty))
    tl.store(backward + place, tl.cumsum(value, AXIS, reverse=True).to(running.dtype.element_ty))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8", "f4", "f8"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (4, 16), (3, 5)])
def test_sums_along_an_axis(m, n, axis, dtype):
    """Small whole numbers: every order of summation is exact."""
    x = np.random.default_rng(m).integers(0, 20, (m, n)).astype(dtype)
    wide = np.dtype(np.int64 if x.dtype.kind in "iu" else np.float64)
    backward = np.flip(np.cumsum(np.flip(x, axis), axis, wide), axis)
    rest = m if axis == 1 else n
    run_everywhere(
        sums_kernel,
        (1,),
        x,
        np.zeros(rest, wide),
        np.zeros((m, n), wide),
        np.zeros((m, n), wide),
        M=m,
        N=n,
        AXIS=axis,
        expected={
            "total": x.sum(axis, wide),
            "running": np.cumsum(x, axis, wide),
            "backward": backward,
        },
    )


@triton.jit
def compose(a, b, c, d):
    """The map x → a·x + b, then x → c·x + d: associative, not commutative."""
    return a * c, b * c + d


@triton.jit
def affine_kernel(a, b, total, running, N: tl.constexpr, REVERSE: tl.constexpr):
    lanes = tl.arange(0, N)
    maps = tl.load(a + lanes), tl.load(b + lanes)
    p, q = tl.reduce(maps, 0, compose)
    tl.store(total, p)
    tl.store(total + 1, q)
    p, q = tl.associative_scan(maps, 0, compose, reverse=REVERSE)
    tl.store(running + lanes, p)
    tl.store(running + N + lanes, q)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 16, 64, 128])
def test_functions_that_do_not_commute(n, reverse):
    a, b = np.random.default_rng(n).integers(-3, 4, (2, n)).astype(np.int32)

    def steps(order):
        p, q, made = 1, 0, {}
        for i in order:
            p, q = p * int(a[i]), q * int(a[i]) + int(b[i])
            made[i] = p, q
        return made

    total = steps(range(n))[n - 1]
    running = steps(range(n)[::-1] if reverse else range(n))
    columns = [[running[i][k] for i in range(n)] for k in (0, 1)]
    wrap = np.vectorize(lambda v: (v + 2**31) % 2**32 - 2**31, otypes=[np.int64])
    run_everywhere(
        affine_kernel,
        (1,),
        a,
        b,
        np.zeros(2, np.int32),
        np.zeros((2, n), np.int32),
        N=n,
        REVERSE=reverse,
        expected={
            "total": wrap(np.array(total, object)),
            "running": wrap(np.array(columns, object)),
        },
    )


@triton.jit
def sort_kernel(x, out, N: tl.constexpr, DESCENDING: tl.constexpr):
    place = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + place, tl.sort(tl.load(x + place), descending=DESCENDING))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f2", "f4", "f8"])
def test_sort_orders_numbers(dtype, descending):
    x = np.random.default_rng(1).integers(-50 if dtype[0] != "u" else 0, 50, (3, 32)).astype(dtype)
    if dtype[0] == "f":
        x[1, :4] = np.inf, -np.inf, 0.5, -0.25
    expected = np.sort(x, axis=1)[:, :: -1 if descending else 1]
    run_everywhere(
        sort_kernel,
        (3,),
        x,
        np.zeros_like(x),
        N=32,
        DESCENDING=descending,
        expected={"out": expected},
    )


@triton.jit
def histogram_kernel(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    mask = lanes < n
    counts = tl.histogram(tl.load(x + lanes, mask=mask, other=0), BINS, mask=mask)
    tl.store(out + tl.arange(0, BINS), counts)


@pytest.mark.parametrize("n", [0, 1, 100, 128])
def test_histogram_counts_unmasked_lanes(n):
    x = np.random.default_rng(n).integers(0, 16, 128).astype(np.int32)
    expected = np.bincount(x[:n], minlength=16)
    run_everywhere(
        histogram_kernel,
        (1,),
        x,
        np.zeros(16, np.int32),
        n,
        BLOCK=128,
        BINS=16,
        expected={"out": expected},
    )


@triton.jit
def add_and_larger(total, most, value, other):
    return total + value, tl.maximum(most, other)


@triton.jit
def pair_kernel(x, out, B: tl.constexpr):
    value = tl.load(x + tl.arange(0, B))
    total, most = tl.reduce((value, value), 0, add_and_larger)
    tl.store(out, total)
    tl.store(out + 1, most)


@pytest.mark.parametrize("block", [1, 40, 64])
def test_a_sum_and_a_maximum_in_one_reduction(block):
    x = np.arange(block, dtype=np.float32) - 50
    expected = {"out": [x.sum(), x.max()]}
    run_everywhere(pair_kernel, (1,), x, np.zeros(2, np.float32), B=block, expected=expected)


@triton.jit
def product_kernel(x, y, acc, out, M: tl.constexpr):
    i = tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    product = tl.dot(tl.load(x + i), tl.load(y + i), tl.load(acc + i), input_precision="ieee")
    tl.store(out + i, product)


@pytest.mark.parametrize("target", ["interpret", "cpu"])
@pytest.mark.parametrize(("left", "right"), [(-0.0, 1.0), (0.0, 1.0), (0.0, -1.0), (-0.0, -1.0)])
@pytest.mark.parametrize("acc", [0.0, -0.0])
def test_a_product_of_zeros_has_the_sign_of_the_sum(target, left, right, acc):
    """-0.0 only where the accumulator and every product are -0.0 (IEEE 754, section 6.3)."""
    x, y, start = (np.full((16, 16), value, np.float32) for value in (left, right, acc))
    out = np.ones((16, 16), np.float32)
    product_kernel[(1,)](x, y, start, out, M=16, target=target)
    expected = np.float32(acc) + np.float32(left) * np.float32(right)
    assert (out == 0).all() and (np.signbit(out) == np.signbit(expected)).all()
