"""Numbers on which implementations tend to differ."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def edge_values(dtype: Any) -> Array:
    """The ends of a dtype's range, zeros, ties, infinities, NaN and what lies beside them."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = info.min, info.max
        near = [low, low + 1, high - 1, high, 0, 1, 2, 3, 7, 31, 64, high // 2]
        more = [-1, -2, -7] if dtype.kind == "i" else [high - 6]
        return np.array(near + more, dtype)
    tiny, top = (float(np.finfo(np.float32).smallest_subnormal), float(np.finfo(np.float32).max))
    values = [0.0, 1.0, 0.5, 1.5, 3.0, 1e-3, 100.25, 65504.0, 65536.0, 1e30, tiny, top, np.inf]
    with np.errstate(all="ignore"):
        both = np.array([*values, *(-v for v in values), np.nan], np.float64)
        return both.astype(np.float32).astype(dtype)


def pairs(values: Array) -> tuple[Array, Array]:
    """Every ordered pair of the values, as two arrays."""
    left, right = np.meshgrid(values, values)
    return np.ascontiguousarray(left.ravel()), np.ascontiguousarray(right.ravel())
