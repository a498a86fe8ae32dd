"""How far two results are apart, in units of the last place of the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np

from mytriton.ir.numeric import Array
from mytriton.ir.types import ScalarType

FAR = 1e30
Wide = np.longdouble
"""More exponents than float64, so that nothing here overflows."""


def ulps(element: ScalarType, got: Array, want: Any) -> Array:
    """The distance element by element; FAR where only one is NaN, or zeros differ in sign.

    An infinity counts as the power of two past the largest finite value. `want` may be wider
    (longdouble) than the type.
    """
    got = np.asarray(got)
    if element.kind != "f":
        return np.where(got == want, 0.0, FAR)
    far = np.isnan(got) != np.isnan(want)
    far |= (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want))
    with np.errstate(all="ignore"):
        apart = np.abs(_finite(element, got) - _finite(element, want)) / unit(element, want)
    return np.where(far, FAR, np.where(np.isnan(got), 0.0, apart)).astype(np.float64)


def _end(element: ScalarType) -> Any:
    return np.ldexp(Wide(1), int(np.frexp(Wide(element.max_finite))[1]))


def _finite(element: ScalarType, value: Any) -> Any:
    return np.clip(np.asarray(value).astype(Wide), -_end(element), _end(element))


def unit(element: ScalarType, value: Any) -> Any:
    """The unit of the last place of each value."""
    size = np.minimum(np.nan_to_num(np.abs(np.asarray(value).astype(Wide))), element.max_finite)
    exponent = np.maximum(np.frexp(size)[1] - 1, 1 - element.bias)
    return np.ldexp(Wide(1), exponent - element.mantissa)
