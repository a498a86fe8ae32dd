"""`tl.core`: the names that Triton keeps there, for code that imports them from there."""

# ruff: noqa: F401, F403 - gathering names is what this file does

from ..ir.types import PointerType, ScalarType, VectorType
from .block_pointers import *
from .constexpr import builtin, const, constexpr
from .constexpr import unwrap as _unwrap_if_constexpr
from .creation import *
from .debug import *
from .descriptors import *
from .dot import *
from .dtypes import *
from .extra.inline_asm import *
from .loops import *
from .math import *
from .memory import *
from .reductions import *
from .scalars import constexpr_function
from .shapes import *
from .tensor import tensor, to_tensor
from .tuples import *

extern = builtin
CONSTEXPR_0 = constexpr(0)
"""A default of known value 0, which libraries' kernels name."""
