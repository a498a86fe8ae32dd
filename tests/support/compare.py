"""Equality of arrays as the tests mean it: NaNs are equal, and zeros unless their sign counts."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def differences(got: Array, want: Any, rtol: float, atol: float, signs: bool) -> str:
    """How two arrays differ in value, '' if not; `signs`: -0.0 is not 0.0."""
    try:
        wide = np.float64 if got.dtype.kind not in "iub" else got.dtype
        with np.errstate(all="ignore"):  # signalling NaNs
            left, right = got.astype(wide), np.asarray(want).astype(wide)
        if rtol or atol:
            np.testing.assert_allclose(left, right, rtol, atol, equal_nan=True)
        else:
            np.testing.assert_array_equal(left, right)
        if signs:
            numbers = ~np.isnan(right)
            np.testing.assert_array_equal(np.signbit(left)[numbers], np.signbit(right)[numbers])
    except AssertionError as error:
        return str(error)
    return ""


def require_equal(
    got: Array, want: Any, what: str, rtol: float = 0.0, atol: float = 0.0, signs: bool = False
) -> None:
    """Equal in shape, dtype and value."""
    want = np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert got.dtype == want.dtype, f"{what}: {got.dtype} is not {want.dtype}"
    difference = differences(got, want, rtol, atol, signs)
    assert not difference, f"{what}: {difference}"


def quiet(x: Array) -> Array:
    """The same with each NaN the usual one: NumPy's fmax does not skip a signalling NaN."""
    if x.dtype.kind in "biu":
        return x
    with np.errstate(all="ignore"):
        return np.where(np.isnan(x), np.array(np.nan, x.dtype), x)
