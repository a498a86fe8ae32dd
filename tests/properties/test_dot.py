"""Matrix products of any dtype, extents, rank, accumulator and precision."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton.language as tl
from tests.support.block_functions import BlockFunction, check_everywhere
from tests.support.compare import Array
from tests.support.dtypes import DTYPES

from .inputs import dtypes, examples, seeds, small

extents = st.sampled_from([1, 2, 3, 5, 8, 16, 17, 32, 33, 64])
FLOATS = ["fp8e4nv", "fp8e5", "fp16", "bf16", "fp32", "fp64"]


def shapes_of(m: int, n: int, k: int, batch: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    front = (batch,) if batch else ()
    return (*front, m, k), (*front, k, n)


@examples(25)
@given(extents, extents, extents, st.sampled_from([0, 1, 3]), dtypes(FLOATS), seeds)
def test_products_that_are_exact(m, n, k, batch, name, seed):
    """Whole numbers: every order of summation gives the same."""
    left, right = shapes_of(m, n, k, batch)
    wide = np.dtype(np.float64 if name == "fp64" else np.float32)

    def reference(x: Array, y: Array) -> Array:
        return (x.astype(np.float64) @ y.astype(np.float64)).astype(wide)

    check_everywhere(
        lambda x, y: tl.dot(x, y), reference, [small(name, left, seed), small(name, right, seed)]
    )


@examples(15)
@given(extents, extents, extents, st.sampled_from([0, 2]), st.booleans(), seeds)
def test_products_of_ints_wrap(m, n, k, batch, mixed, seed):
    left, right = shapes_of(m, n, k, batch)
    random = np.random.default_rng(seed)
    x = random.integers(-128, 128, left).astype(np.int8)
    y = random.integers(0, 256, right).astype(np.uint8 if mixed else np.int8)
    acc = random.integers(-(2**31), 2**31, (*left[:-1], n)).astype(np.int32)

    def reference(x: Array, y: Array, acc: Array) -> Array:
        return acc + x.astype(np.int32) @ y.astype(np.int32)

    check_everywhere(lambda x, y, acc: tl.dot(x, y, acc), reference, [x, y, acc])


@examples(12)
@given(extents, extents, extents, dtypes(["fp16", "bf16", "fp32"]), st.booleans(), seeds)
def test_accumulators(m, n, k, name, half, seed):
    """The result has the accumulator's dtype, and is rounded to it."""
    kind = "fp16" if half else "fp32"
    left, right = shapes_of(m, n, k, 0)
    acc = small(kind, (m, n), seed, 100)

    def reference(x: Array, y: Array, acc: Array) -> Array:
        exact = acc.astype(np.float64) + x.astype(np.float64) @ y.astype(np.float64)
        return exact.astype(DTYPES[kind])

    inputs = [small(name, left, seed, 2), small(name, right, seed, 2), acc]
    check_everywhere(lambda x, y, acc: tl.dot(x, y, acc=acc), reference, inputs)
    if half:
        check_everywhere(
            lambda x, y: tl.dot(x, y, out_dtype=tl.float16),
            lambda x, y: (x.astype(np.float64) @ y.astype(np.float64)).astype(np.float16),
            inputs[:2],
        )


def rounded(x: Array, bits: int) -> Array:
    """f32 numbers with so many fraction bits kept, to nearest."""
    wide = x.astype(np.float64)
    step = np.exp2(np.frexp(wide)[1] - 1.0 - bits)
    return np.rint(wide / step) * step


LEFT_OUT = {"ieee": 0, "tf32": 0, "tf32x3": 2.0**-20, "bf16x3": 2.0**-14, "bf16x6": 2.0**-20}
"""How much of |x| |y| a precision may leave out of the product of the numbers it means."""


@pytest.mark.parametrize("precision", LEFT_OUT)
@examples(5)
@given(extents, extents, extents, seeds)
def test_precisions(precision, m, n, k, seed):
    random = np.random.default_rng(seed)
    x = random.standard_normal((m, k)).astype(np.float32)
    y = random.standard_normal((k, n)).astype(np.float32)
    meant = [rounded(a, 10) if precision == "tf32" else a.astype(np.float64) for a in (x, y)]
    exact, size = meant[0] @ meant[1], np.abs(meant[0]) @ np.abs(meant[1])
    kernel = BlockFunction(lambda x, y: tl.dot(x, y, input_precision=precision), [x, y])
    for target, (got,) in kernel.everywhere([x, y]):
        limit = ((k + 2) * 2.0**-23 + LEFT_OUT[precision]) * size
        assert (np.abs(got - exact) <= limit).all(), target
    if precision == "tf32" and m * n > 30:
        assert (np.abs(exact - x.astype(np.float64) @ y) > 2.0**-18 * size).any(), "no rounding"


# -- scaled products

CODES = {
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
}


def operand(form: str, rows: int, k: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Rows of a format, as given to the kernel (rows, K) and as numbers."""
    if form in ("bf16", "fp16"):
        made = random.integers(-4, 5, (rows, k)).astype(DTYPES[form])
        return made, made.astype(np.float64)
    if form == "e2m1":
        codes = random.integers(0, 16, (rows, k)).astype(np.uint8)
        packed = codes[:, 0::2] | codes[:, 1::2] << 4
        return packed, codes.view(CODES[form]).astype(np.float64)
    small_values = np.array([0, 1, -1, 2, 0.5, -3, 4], CODES[form])
    made = small_values[random.integers(0, 7, (rows, k))]
    return made.view(np.uint8), made.astype(np.float64)


def scale(rows: int, groups: int, random: np.random.Generator) -> tuple[Array, Array]:
    code = random.integers(124, 131, (rows, groups)).astype(np.uint8)
    return code, np.exp2(code.astype(np.float64) - 127)


@examples(20)
@given(
    st.sampled_from([1, 3, 16, 17]),
    st.sampled_from([1, 2, 16, 33]),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(["e2m1", "e4m3", "e5m2", "bf16", "fp16"]),
    st.sampled_from(["e2m1", "e4m3", "e5m2", "bf16", "fp16"]),
    st.tuples(st.booleans(), st.booleans()),
    seeds,
)
def test_scaled_products(m, n, groups, left, right, scaled, seed):
    """Powers of two times few values: exact."""
    k, random = 32 * groups, np.random.default_rng(seed)
    (x, x_number), (y, y_number) = operand(left, m, k, random), operand(right, n, k, random)
    inputs = [x, np.ascontiguousarray(y.T)]
    for rows, number, wanted in ((m, x_number, scaled[0]), (n, y_number, scaled[1])):
        code, factor = scale(rows, groups, random)
        inputs.append(code)
        if wanted:
            number *= np.repeat(factor, 32, 1)
    exact = (x_number @ y_number.T).astype(np.float32)

    def body(x: Any, y: Any, x_scale: Any, y_scale: Any) -> Any:
        scales = x_scale if scaled[0] else None, y_scale if scaled[1] else None
        return tl.dot_scaled(x, scales[0], left, y, scales[1], right)

    check_everywhere(body, lambda *_: exact, inputs)
