"""Kernels that the explorer's tests explain."""

import mytriton as triton
import mytriton.language as tl


@triton.jit
def squared(x):
    return x * x


@triton.jit
def scale(x, out, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    for _ in range(n):
        twice = tl.load(factor) * 2.0
        value = squared(value) + twice
    tl.store(out + i, value + (n - n), mask=i < n)
