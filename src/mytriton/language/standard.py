"""`tl.standard`: the names that Triton keeps there, for code that imports them from there.

One idea: a façade over `library` and `shapes`; nothing is defined here.
"""

# ruff: noqa: F401 - gathering names is what this file does

from . import core, math
from .blocks import zeros, zeros_like
from .constexpr import constexpr_function
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
    sort_impl,
    sum,
    swizzle2d,
    topk,
    xor_sum,
)
from .shapes import flip, interleave, ravel, squeeze, unsqueeze
