"""Every pair of dtypes, on any bit pattern, in every rounding, and as bits."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton.language as tl
from tests.support.block_functions import check_everywhere
from tests.support.compare import Array
from tests.support.dtypes import DTYPES, FLOATS, INTS

from .inputs import anything, dtypes, examples, seeds, special

every = dtypes(["int1", *INTS, *FLOATS])


@cache
def table(name: str) -> tuple[Array, Array]:
    """The finite values of a float type of at most 16 bits in order, and their bits (one zero)."""
    dtype = DTYPES[name]
    bits = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}")
    values = bits.view(dtype).astype(np.float64)
    kept = np.isfinite(values) & ~((values == 0) & np.signbit(values))
    order = np.argsort(values[kept])
    return values[kept][order], bits[kept][order]


def nearest(name: str, number: float, zero: bool) -> float:
    """A finite f64 (or sticky f64) rounded to the type: to nearest even, or toward zero."""
    values, bits = table(name)
    size, top = abs(number), values[-1]
    has_infinity = name != "fp8e4nv"
    gap = top - values[-2]
    if size >= top + gap / 2 and not zero:
        past = math.inf if has_infinity else math.nan
        even = bits[-1] % 2 == 0
        return math.copysign(top if size == top + gap / 2 and even else past, number)
    if size >= top:
        return math.copysign(top, number)
    above = int(np.searchsorted(values, size, "right"))
    low, high = values[above - 1], values[above]
    middle = (low + high) / 2
    up = not zero and (size > middle or (size == middle and bits[above - 1] % 2 == 1))
    return math.copysign(high if up else low, number)


def sticky(number: int) -> float:
    """An int as f64, odd in its last bit if it is not exact: roundings to fewer bits see on which
    side of a tie it is."""
    excess = max(abs(number).bit_length() - 53, 0)
    whole, rest = divmod(abs(number), 1 << excess)
    return math.copysign(float((whole | (rest != 0)) << excess), number)


def to_float(x: Array, name: str, zero: bool = False) -> Array:
    dtype = DTYPES[name]
    if name in ("fp32", "fp64") and not zero:
        return x.astype(dtype)
    if name == "fp32":
        near = x.astype(dtype)
        past = np.abs(near.astype(np.float64)) > np.abs(x.astype(np.float64))
        return np.where(past & np.isfinite(x), np.nextafter(near, np.float32(0)), near)
    numbers = [sticky(int(v)) for v in x.ravel()] if x.dtype.kind in "iub" else x.ravel().tolist()
    made = [
        v if math.isnan(v) else infinite(name, v) if math.isinf(v) else nearest(name, v, zero)
        for v in map(float, numbers)
    ]
    return np.array(made, np.float64).astype(dtype).reshape(x.shape)


def infinite(name: str, value: float) -> float:
    return value if name != "fp8e4nv" else math.nan


def to_int(x: Array, name: str) -> Array:
    """Toward zero, saturating; NaN is 0."""
    info = np.iinfo(DTYPES[name])
    made = []
    for value in x.astype(np.float64).ravel().tolist():
        if math.isnan(value):
            made.append(0)
        elif math.isinf(value):
            made.append(info.max if value > 0 else info.min)
        else:
            made.append(min(max(int(value), info.min), info.max))
    return np.array(made, DTYPES[name]).reshape(x.shape)


def converted(x: Array, name: str) -> Array:
    target = DTYPES[name]
    if target.kind == "b":
        return x != 0
    if name in FLOATS:
        return to_float(x, name)
    return x.astype(target) if x.dtype.kind in "biu" else to_int(x, name)


@examples(60)
@given(every, every, st.sampled_from([1, 3, 17, 257]), seeds)
def test_every_pair(source, target, size, seed):
    inputs = [[kind(source, (size,), seed)] for kind in (anything, special)]
    # Near the target's own numbers, and half way between them.
    if source in ("fp32", "fp64") and target in ("fp8e4nv", "fp8e5", "fp16", "bf16"):
        values = table(target)[0]
        middle = (values[1:] + values[:-1]) / 2
        some = np.random.default_rng(seed).choice(np.concatenate([values, middle]), size)
        inputs.append([some.astype(DTYPES[source])])
    check_everywhere(
        lambda x: x.to(tl.dtype(target)),
        lambda x: converted(x, target),
        *inputs,
        signs=target in FLOATS and source in FLOATS,
    )


@pytest.mark.parametrize("target", ["fp8e4nv", "fp8e5", "fp16", "bf16", "fp32"])
@examples(5)
@given(dtypes(["fp16", "bf16", "fp32", "fp64"]), seeds)
def test_rounding_toward_zero(target, source, seed):
    if DTYPES[target].itemsize >= DTYPES[source].itemsize:
        source = "fp64"
    inputs = [[kind(source, (100,), seed)] for kind in (anything, special)]
    check_everywhere(
        lambda x: x.to(tl.dtype(target), fp_downcast_rounding="rtz"),
        lambda x: to_float(x, target, zero=True),
        *inputs,
    )


@examples(25)
@given(every, st.integers(0, 9), seeds)
def test_bitcasts_keep_the_bits(source, choice, seed):
    width = DTYPES[source].itemsize
    same = [n for n in [*INTS, *FLOATS] if DTYPES[n].itemsize == width]
    if source == "int1":
        return
    target = same[choice % len(same)]
    x = anything(source, (65,), seed)
    unsigned = np.dtype(f"u{width}")

    def body(x: Any) -> Any:
        return x.to(tl.dtype(target), bitcast=True).to(tl.dtype(f"uint{8 * width}"), bitcast=True)

    if source in FLOATS or target in FLOATS:  # a NaN may become any NaN of its sign
        x = special(source, (65,), seed)
        for name in {source, target} & set(FLOATS):
            with np.errstate(invalid="ignore"):  # signalling NaNs
                x = x[~np.isnan(x.view(DTYPES[name]).astype(np.float64))]
    check_everywhere(body, lambda x: x.view(unsigned), [x])


@examples(15)
@given(dtypes(FLOATS), dtypes(INTS), dtypes(FLOATS), seeds)
def test_chains(first, second, third, seed):
    """Casts do not merge: each rounds, wraps or saturates by itself."""
    names = (second, third, first)

    def body(x: Any) -> Any:
        for name in names:
            x = x.to(tl.dtype(name))
        return x

    def reference(x: Array) -> Array:
        for name in names:
            x = converted(x, name)
        return x

    check_everywhere(
        body, reference, [anything(first, (100,), seed)], [special(first, (100,), seed)]
    )
