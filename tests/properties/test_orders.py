"""Sorting, choosing and turning around along any axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton.language as tl
from tests.support.block_functions import check_everywhere
from tests.support.compare import Array
from tests.support.dtypes import FLOATS, INTS

from .inputs import anything, dtypes, examples, mixed, seeds, shapes, small, special

names = dtypes(["int1", *INTS, *FLOATS])


def order(x: Array, axis: int, descending: bool) -> Array:
    """The stable order of numbers, NaN last both ways."""
    wide = x.astype(np.float64) if x.dtype.kind not in "biu" else x
    if wide.dtype.kind == "f":
        key = -wide if descending else wide
    else:
        key = ~wide if descending else wide
    return np.argsort(key, axis, kind="stable")


@pytest.mark.parametrize("descending", [False, True])
@examples(12)
@given(shapes(), st.integers(0, 2), names, seeds)
def test_sort(descending, shape, axis, name, seed):
    axis %= len(shape)

    def reference(x: Array) -> Array:
        return np.take_along_axis(x, order(x, axis, descending), axis)

    def body(x):
        return tl.sort(x, axis, descending=descending)

    check_everywhere(body, reference, *mixed(name, shape, seed), signs=name != "int1")


@pytest.mark.parametrize("descending", [False, True])
@examples(8)
@given(shapes(), st.integers(0, 2), names, seeds)
def test_argsort_is_stable(descending, shape, axis, name, seed):
    axis %= len(shape)
    check_everywhere(
        lambda x: tl.argsort(x, axis, descending=descending),
        lambda x: order(x, axis, descending).astype(np.int32),
        *mixed(name, shape, seed),
    )


@pytest.mark.parametrize("descending", [True, False])
@examples(10)
@given(shapes(), st.integers(0, 2), st.integers(1, 1000), names, seeds)
def test_topk(descending, shape, axis, k, name, seed):
    axis %= len(shape)
    k = 1 + k % shape[axis]

    def reference(x: Array) -> Array:
        chosen = order(x, axis, descending).take(range(k), axis)
        return np.take_along_axis(x, chosen, axis)

    inputs = [[kind(name, shape, seed)] for kind in (small, special, anything)]
    check_everywhere(lambda x: tl.topk(x, k, axis, descending=descending), reference, *inputs)


@examples(10)
@given(shapes(), st.integers(0, 2), names, seeds)
def test_flip(shape, axis, name, seed):
    axis %= len(shape)
    check_everywhere(
        lambda x: tl.flip(x, axis), lambda x: np.flip(x, axis), [anything(name, shape, seed)]
    )


@examples(6)
@given(shapes(), st.integers(0, 2), st.booleans(), dtypes(["int32", "fp16", "fp32"]), seeds)
def test_bitonic_merge(shape, axis, descending, name, seed):
    """Of what rises and then falls."""
    axis %= len(shape)
    x = np.sort(small(name, shape, seed, 50), axis)
    half = shape[axis] // 2
    head, tail = np.split(x, [half], axis)
    x = np.concatenate([head, np.flip(tail, axis)], axis)
    check_everywhere(
        lambda x: tl.bitonic_merge(x, axis, descending=descending),
        lambda x: np.take_along_axis(x, order(x, axis, descending), axis),
        [x],
    )
