"""`triton.testing`: timing a call, and comparing arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime.timing import do_bench

__all__ = ["assert_close", "do_bench"]


def assert_close(
    x: Any, y: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = ""
) -> None:
    """Raises AssertionError unless |x - y| <= atol + rtol·|y| everywhere, NaN equal to NaN.

    x, y: arrays or tensors of shapes that broadcast. atol is 1e-2 and rtol 0 unless given.
    """
    left, right = (np.asarray(value, np.float64) for value in (x, y))
    atol, rtol = 1e-2 if atol is None else atol, 0.0 if rtol is None else rtol
    np.testing.assert_allclose(left, right, atol=atol, rtol=rtol, err_msg=err_msg)
