"""`tl.core`: the names that Triton keeps there, for code that imports them from there.

One idea: a façade over the small modules; nothing is defined here.
"""

# ruff: noqa: F401 - gathering names is what this file does

from ..ir.types import PointerType, ScalarType, VectorType
from .asm import inline_asm_elementwise
from .blocks import (
    TRITON_MAX_TENSOR_NUMEL,
    PropagateNan,
    add,
    arange,
    broadcast,
    broadcast_to,
    cast,
    clamp,
    full,
    maximum,
    minimum,
    mul,
    num_programs,
    program_id,
    sub,
    to_tensor,
    where,
)
from .constexpr import builtin, const, constexpr, constexpr_function
from .constexpr import unwrap as _unwrap_if_constexpr
from .debug import (
    assume,
    debug_barrier,
    device_assert,
    device_print,
    expect_zero,
    max_constancy,
    max_contiguous,
    multiple_of,
    static_assert,
    static_print,
)
from .dot import dot, dot_scaled
from .dtypes import *  # noqa: F403
from .loops import condition, range, static_range
from .memory import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_poll,
    atomic_store,
    atomic_xchg,
    atomic_xor,
    load,
    store,
)
from .reduce import associative_scan, histogram, map_elementwise, reduce
from .shapes import cat, expand_dims, gather, join, permute, reshape, split, trans, view
from .tensor import tensor
from .tuples import aggregate_replace, slice, tuple
from .windows import (
    advance,
    load_tensor_descriptor,
    make_block_ptr,
    make_tensor_descriptor,
    store_tensor_descriptor,
    tensor_descriptor,
    tensor_descriptor_type,
)

extern = builtin
CONSTEXPR_0 = constexpr(0)
"""A default of known value 0, which libraries' kernels name."""
