"""Reductions of any shape, dtype, axis and combining function."""

from __future__ import annotations

from functools import reduce as fold
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton.language as tl
from tests.support.block_functions import BlockFunction, check_everywhere
from tests.support.compare import Array, quiet, require_equal
from tests.support.dtypes import DTYPES, FLOATS, INTS

from .inputs import anything, dtypes, examples, mixed, seeds, shapes, small, special

axes = st.sampled_from([None, 0, 1, 2, -1])


def axis_of(axis: int | None, shape: tuple[int, ...]) -> int | None:
    return None if axis is None else -1 if axis == -1 else axis % len(shape)


def sum_dtype(name: str) -> np.dtype[Any]:
    """What docs/semantics.md says a sum has."""
    dtype = DTYPES[name]
    if dtype.kind == "i" and dtype.itemsize < 4:
        return np.dtype(np.int32)
    return np.dtype(np.uint32) if dtype.kind in "bu" and dtype.itemsize < 4 else dtype


@examples(12)
@given(shapes(), axes, dtypes(["int1", *INTS]), st.booleans(), seeds)
def test_sums_of_ints_wrap(shape, axis, name, keep, seed):
    axis, wide = axis_of(axis, shape), sum_dtype(name)

    def reference(x: Array) -> Array:
        return x.sum(axis, dtype=wide, keepdims=keep)

    inputs = [[small(name, shape, seed)], [anything(name, shape, seed)]]
    check_everywhere(lambda x: tl.sum(x, axis, keep_dims=keep), reference, *inputs)


@examples(12)
@given(shapes(), axes, dtypes(FLOATS), seeds)
def test_sums_of_floats_are_rounded_once(shape, axis, name, seed):
    """Whole numbers whose sums are exact in f32: all that is left is the last rounding."""
    axis = axis_of(axis, shape)

    def reference(x: Array) -> Array:
        return x.astype(np.float64).sum(axis).astype(DTYPES[name])

    check_everywhere(lambda x: tl.sum(x, axis), reference, [small(name, shape, seed)])


@examples(6)
@given(shapes(), axes, dtypes(["fp16", "bf16", "fp32", "fp64"]), seeds)
def test_sums_of_floats_are_as_near_as_their_order_allows(shape, axis, name, seed):
    axis = axis_of(axis, shape)
    x = np.random.default_rng(seed).standard_normal(shape).astype(DTYPES[name])
    exact = x.astype(np.float64).sum(axis)
    size = np.abs(x.astype(np.float64)).sum(axis)
    unit = {"fp16": 2.0**-11, "bf16": 2.0**-8, "fp32": 2.0**-24, "fp64": 2.0**-53}[name]
    work = 2.0**-53 if name == "fp64" else 2.0**-24
    kernel = BlockFunction(lambda x: tl.sum(x, axis), [x])
    for target, (got,) in kernel.everywhere([x]):
        limit = x.size * work * size + unit * np.abs(exact) + 1e-300
        assert (np.abs(got.astype(np.float64) - exact) <= limit).all(), target


def extreme_dtype(name: str) -> np.dtype[Any]:
    dtype = DTYPES[name]
    if dtype.itemsize >= 4:
        return dtype
    return np.dtype(np.int32 if dtype.kind in "biu" else np.float32)


@examples(15)
@given(shapes(), axes, dtypes(["int1", *INTS, *FLOATS]), st.booleans(), seeds)
def test_extremes_skip_nan(shape, axis, name, keep, seed):
    axis, wide = axis_of(axis, shape), extreme_dtype(name)

    def reference(x: Array) -> list[Array]:
        x = x.astype(wide)
        return [f.reduce(x, axis, keepdims=keep) for f in (np.fmax, np.fmin)]

    def body(x: Any) -> Any:
        return tl.max(x, axis, keep_dims=keep), tl.min(x, axis, keep_dims=keep)

    check_everywhere(body, reference, *mixed(name, shape, seed))


@pytest.mark.parametrize("left", [True, False])
@examples(10)
@given(shapes(), st.integers(0, 2), dtypes(["int1", *INTS, *FLOATS]), seeds)
def test_places_of_extremes(left, shape, axis, name, seed):
    """The first of equals, or any of them; of only NaN, some place inside."""
    axis %= len(shape)
    inputs = [[kind(name, shape, seed)] for kind in (small, special, anything)]
    kernel = BlockFunction(
        lambda x: (
            tl.argmax(x, axis, tie_break_left=left),
            tl.argmin(x, axis, tie_break_left=left),
            *tl.max(x, axis, return_indices=True, return_indices_tie_break_left=left),
        ),
        inputs[0],
    )
    for (x,) in inputs:
        wide = quiet(x).astype(extreme_dtype(name))
        for target, (top, low, value, place) in kernel.everywhere([x]):
            require_place(wide, top, axis, np.fmax, left, target)
            require_place(wide, low, axis, np.fmin, left, target)
            require_place(wide, place, axis, np.fmax, left, target)
            best = np.fmax.reduce(wide, axis)
            np.testing.assert_array_equal(value.astype(best.dtype), best, target)


def require_place(x: Array, place: Array, axis: int, pick: Any, left: bool, target: str) -> None:
    best = pick.reduce(x, axis, keepdims=True)
    assert place.dtype == np.int32
    assert ((place >= 0) & (place < x.shape[axis])).all(), target
    equal = x == best
    known = equal.any(axis)  # else only NaN
    chosen = np.take_along_axis(equal, np.expand_dims(place, axis).astype(np.int64), axis)
    assert chosen.squeeze(axis)[known].all(), target
    if left:
        first = equal.argmax(axis).astype(np.int32)
        assert (place == first)[known].all(), target


@examples(8)
@given(shapes(), axes, dtypes(INTS), seeds)
def test_bits_of_all(shape, axis, name, seed):
    axis = axis_of(axis, shape)

    def reference(x: Array) -> list[Array]:
        return [f.reduce(x, axis) for f in (np.bitwise_xor, np.bitwise_or, np.bitwise_and)]

    def body(x: Any) -> Any:
        every = tl.reduce(x, axis, lambda a, b: a & b)
        return tl.xor_sum(x, axis), tl.reduce_or(x, axis), every

    check_everywhere(body, reference, [anything(name, shape, seed)])


def affine(a: Any, b: Any, c: Any, d: Any) -> Any:
    """x → a·x + b, then x → c·x + d: associative, not commutative."""
    return a * c, b * c + d


def matrix(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    """The product of 2 × 2 matrices by rows."""
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


COMBINE = {
    "first": (1, lambda a, b: a),
    "last": (1, lambda a, b: b),
    "affine": (2, affine),
    "matrix": (4, matrix),
}


@pytest.mark.parametrize("combine", COMBINE)
@examples(5)
@given(shapes(), st.integers(0, 2), dtypes(["int32", "uint32", "int64"]), st.booleans(), seeds)
def test_any_function_in_order(combine, shape, axis, name, keep, seed):
    axis %= len(shape)
    count, function = COMBINE[combine]
    inputs = [anything(name, shape, seed + i) for i in range(count)]

    def reference(*values: Array) -> list[Array]:
        rows = zip(*(np.moveaxis(v, axis, 0) for v in values))
        result = fold(lambda p, q: as_tuple(function(*p, *q)), rows)
        return [np.expand_dims(np.array(r), axis) if keep else np.array(r) for r in result]

    check_everywhere(lambda *v: tl.reduce(v, axis, function, keep_dims=keep), reference, inputs)


def as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@examples(6)
@given(shapes(most=1), st.integers(1, 40), st.booleans(), seeds)
def test_histogram_counts_what_is_inside(shape, bins, masked, seed):
    random = np.random.default_rng(seed)
    x = random.integers(-5, bins + 5, shape).astype(np.int32)
    mask = random.integers(0, 2, shape).astype(bool) if masked else np.ones(shape, bool)

    def reference(x: Array, mask: Array) -> Array:
        inside = x[mask & (x >= 0) & (x < bins)]
        return np.bincount(inside, minlength=bins).astype(np.int32)

    def body(x: Any, m: Any) -> Any:
        return tl.histogram(x, bins, mask=m) if masked else tl.histogram(x, bins)

    check_everywhere(body, reference, [x, mask])


def test_require_equal_can_fail():
    one = np.array([1.0, np.nan], np.float32)
    require_equal(one, one.copy(), "same")
    for other in (one.astype(np.float64), one[:1], np.array([2, np.nan], np.float32)):
        with pytest.raises(AssertionError):
            require_equal(one, other, "different")
    with pytest.raises(AssertionError):
        require_equal(np.zeros(1), -np.zeros(1), "signs", signs=True)
