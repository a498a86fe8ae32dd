"""The NumPy dtype of each element type, by Triton's name."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import mytriton.language as tl
from mytriton.ir.types import ScalarType

DTYPES: dict[str, np.dtype[Any]] = {
    "int1": np.dtype(np.bool_),
    **{f"{s}int{b}": np.dtype(f"{s}int{b}") for s in ("", "u") for b in (8, 16, 32, 64)},
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8e5": np.dtype(ml_dtypes.float8_e5m2),
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp32": np.dtype(np.float32),
    "fp64": np.dtype(np.float64),
}
TRITON = {dtype: name for name, dtype in DTYPES.items()}
"""Triton's name of each NumPy dtype."""

INTS = [name for name in DTYPES if "int" in name and name != "int1"]
FLOATS = [name for name in DTYPES if "fp" in name or name == "bf16"]
WIDE_FLOATS = ["fp16", "bf16", "fp32", "fp64"]


def element_type(dtype: Any) -> ScalarType:
    """The element type of a NumPy dtype."""
    return tl.dtype(TRITON[np.dtype(dtype)])
