"""`import mytriton.language as tl`: the public names of the language.

One idea: this file only gathers. What a name means is in the module it comes from; the functions of
the op table's public rows come from `math.FUNCTIONS`, so a new row needs no line here.
"""

# ruff: noqa: F401 - gathering names is what this file does

import sys

from . import core, extra, math, random, semantics, standard, target_info
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
    div_rn,
    fdiv,
    full,
    maximum,
    minimum,
    mul,
    num_programs,
    program_id,
    sub,
    to_tensor,
    where,
    zeros,
    zeros_like,
)
from .constexpr import const, constexpr, constexpr_function
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
from .library import (
    _log2,
    argmax,
    argmin,
    argsort,
    bitonic_merge,
    cdiv,
    cumprod,
    cumsum,
    max,
    min,
    reduce_or,
    sigmoid,
    softmax,
    sort,
    sum,
    swizzle2d,
    topk,
    xor_sum,
)
from .loops import condition, range, static_range
from .math import sqrt_rn
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
from .random import (
    pair_uniform_to_normal,
    philox,
    philox_impl,
    rand,
    rand4x,
    randint,
    randint4x,
    randn,
    randn4x,
    uint_to_uniform_float,
)
from .reduce import associative_scan, histogram, map_elementwise, reduce
from .shapes import (
    cat,
    expand_dims,
    extract_slice,
    flip,
    gather,
    interleave,
    join,
    permute,
    ravel,
    reshape,
    split,
    squeeze,
    trans,
    unsqueeze,
    view,
)
from .tensor import tensor
from .tuples import aggregate_replace, slice, tuple
from .windows import (
    _experimental_descriptor_load,
    _experimental_descriptor_store,
    advance,
    load_tensor_descriptor,
    make_block_ptr,
    make_tensor_descriptor,
    store_tensor_descriptor,
    tensor_descriptor,
    tensor_descriptor_type,
)
from .windows import make_tensor_descriptor as _experimental_make_tensor_descriptor

globals().update(math.FUNCTIONS)
# What Triton's own modules hold of one another, for code that finds it there.
vars(math)["core"], vars(random)["math"], vars(random)["tl"] = core, math, sys.modules[__name__]
