"""What properties are tried on: shapes, dtypes, and numbers of every kind.

One idea: hypothesis draws what shapes a kernel (few, shrinkable choices); the numbers come from a
seeded generator, since a thousand of them drawn one by one would take all the time.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.support.compare import Array
from tests.support.dtypes import DTYPES

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 100, 128, 1000]
LARGEST = 4096
"""Elements of a block at most."""

seeds = st.integers(0, 2**20)


def examples(few: int) -> Any:
    """So many examples in `make test` (some 750 in all), fifteen times as many in `make fuzz`."""
    fuzz = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
    return settings(max_examples=15 * few if fuzz else few)


@st.composite
def shapes(draw: Any, least: int = 1, most: int = 3, largest: int = LARGEST) -> tuple[int, ...]:
    """A shape of that rank whose elements are not too many."""
    rank = draw(st.integers(least, most))
    left = largest
    shape: list[int] = []
    for _ in range(rank):
        extent = draw(st.sampled_from([e for e in EXTENTS if e <= left]))
        shape.append(extent)
        left //= extent
    return tuple(draw(st.permutations(shape)))


def dtypes(names: list[str]) -> Any:
    return st.sampled_from(names)


def small(name: str, shape: tuple[int, ...], seed: int, top: int = 4) -> Array:
    """Whole numbers from -top to top (from 0, where there are no negative ones): sums and products
    of some of them are exact in every order."""
    dtype = DTYPES[name]
    low = 0 if dtype.kind in "bu" else -top
    high = 1 if dtype.kind == "b" else top
    return np.random.default_rng(seed).integers(low, high + 1, shape).astype(dtype)


def anything(name: str, shape: tuple[int, ...], seed: int) -> Array:
    """Every bit pattern alike: infinities, NaNs, subnormal numbers, both zeros."""
    dtype = DTYPES[name]
    random = np.random.default_rng(seed)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    bits = random.integers(0, 1 << 8 * dtype.itemsize, shape, f"u{dtype.itemsize}")
    return bits.view(dtype)


def special(name: str, shape: tuple[int, ...], seed: int) -> Array:
    """Few different numbers, many of them equal, and every special one."""
    dtype = DTYPES[name]
    random = np.random.default_rng(seed)
    if dtype.kind in "biu":
        info = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        pool = np.array([*info, 0, 1, *([] if dtype.kind == "b" else [2, info[1] - 1])], dtype)
    else:
        with np.errstate(all="ignore"):
            pool = np.array([0.0, -0.0, 1, -1, 1.5, np.inf, -np.inf, np.nan, 2], dtype)
    return pool[random.integers(0, len(pool), shape)]


def mixed(name: str, shape: tuple[int, ...], seed: int) -> list[list[Array]]:
    """One input of each kind."""
    return [[kind(name, shape, seed)] for kind in (small, special, anything)]
