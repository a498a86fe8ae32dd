"""Scans of any shape, dtype, axis, direction and combining function."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton.language as tl
from tests.support.block_functions import check_everywhere
from tests.support.compare import Array
from tests.support.dtypes import DTYPES, INTS

from .inputs import anything, dtypes, examples, seeds, shapes, small
from .test_reductions import COMBINE, as_tuple, sum_dtype


def backward(x: Array, axis: int, reverse: bool) -> Array:
    return np.flip(x, axis) if reverse else x


@pytest.mark.parametrize("scan", ["cumsum", "cumprod"])
@examples(12)
@given(shapes(), st.integers(0, 2), dtypes(["int1", *INTS]), st.booleans(), seeds)
def test_running_sums_and_products_of_ints_wrap(scan, shape, axis, name, reverse, seed):
    axis %= len(shape)

    def reference(x: Array) -> Array:
        wide = backward(x, axis, reverse).astype(sum_dtype(name))
        return backward(getattr(np, scan)(wide, axis, dtype=wide.dtype), axis, reverse)

    body = getattr(tl, scan)
    inputs = [[small(name, shape, seed)], [anything(name, shape, seed)]]
    check_everywhere(lambda x: body(x, axis, reverse=reverse), reference, *inputs)


@examples(10)
@given(
    shapes(),
    st.integers(0, 2),
    dtypes(["fp8e4nv", "fp8e5", "fp16", "bf16", "fp32", "fp64"]),
    st.booleans(),
    seeds,
)
def test_running_sums_of_floats_are_rounded_once_each(shape, axis, name, reverse, seed):
    axis %= len(shape)

    def reference(x: Array) -> Array:
        wide = backward(x.astype(np.float64), axis, reverse)
        return backward(np.cumsum(wide, axis), axis, reverse).astype(DTYPES[name])

    check_everywhere(
        lambda x: tl.cumsum(x, axis, reverse), reference, [small(name, shape, seed, 2)]
    )


@examples(6)
@given(shapes(), st.integers(0, 2), st.booleans(), seeds)
def test_running_products_of_signs_and_powers(shape, axis, reverse, seed):
    axis %= len(shape)
    x = np.random.default_rng(seed).choice([1.0, -1, 0.5, 2, -0.0], shape).astype(np.float32)

    def reference(x: Array) -> Array:
        wide = backward(x, axis, reverse)
        return backward(np.cumprod(wide, axis, dtype=np.float32), axis, reverse)

    check_everywhere(lambda x: tl.cumprod(x, axis, reverse), reference, [x])


@examples(8)
@given(shapes(), st.integers(0, 2), dtypes(["int8", "uint8", "fp16", "int32"]), seeds)
def test_the_type_to_sum_in(shape, axis, name, seed):
    axis %= len(shape)
    x = small(name, shape, seed)
    for asked, wide in ((tl.int64, np.int64), (tl.float32, np.float32), (tl.int16, np.int16)):
        check_everywhere(
            lambda x, asked=asked: (tl.cumsum(x, axis, dtype=asked), tl.sum(x, axis, dtype=asked)),
            lambda x, wide=wide: (
                np.cumsum(x.astype(wide), axis, dtype=wide),
                x.astype(wide).sum(axis, dtype=wide),
            ),
            [x],
        )


@pytest.mark.parametrize("combine", COMBINE)
@examples(6)
@given(shapes(), st.integers(0, 2), dtypes(["int32", "uint32", "int64"]), st.booleans(), seeds)
def test_any_function_in_order(combine, shape, axis, name, reverse, seed):
    axis %= len(shape)
    count, function = COMBINE[combine]
    inputs = [anything(name, shape, seed + i) for i in range(count)]

    def reference(*values: Array) -> list[Array]:
        rows = list(zip(*(np.moveaxis(v, axis, 0) for v in values)))
        rows = rows[::-1] if reverse else rows
        made = list(accumulate(rows, lambda p, q: as_tuple(function(*p, *q))))
        made = made[::-1] if reverse else made
        return [np.moveaxis(np.array(column), 0, axis) for column in zip(*made)]

    def body(*values: Any) -> Any:
        return tl.associative_scan(values, axis, function, reverse=reverse)

    check_everywhere(body, reference, inputs)


@examples(6)
@given(shapes(), st.integers(0, 2), dtypes(["fp16", "fp32", "int32"]), st.booleans(), seeds)
def test_running_maxima(shape, axis, name, reverse, seed):
    axis %= len(shape)
    x = small(name, shape, seed, 100)

    def reference(x: Array) -> Array:
        return backward(np.fmax.accumulate(backward(x, axis, reverse), axis), axis, reverse)

    def body(x: Any) -> Any:
        return tl.associative_scan(x, axis, lambda a, b: tl.maximum(a, b), reverse=reverse)

    check_everywhere(body, reference, [x])
