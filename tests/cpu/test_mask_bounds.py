"""Masks that become the bounds of a loop: at the ends of 64 bits, in reduced axes, reshaped."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import run_everywhere

COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@triton.jit
def compare_kernel(out, start, limit, T: tl.constexpr, OP: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    offsets, limit = start.to(T) + lanes, limit.to(T)
    if OP == "<":
        mask = offsets < limit
    elif OP == "<=":
        mask = offsets <= limit
    elif OP == ">":
        mask = offsets > limit
    else:
        mask = limit <= offsets
    tl.store(out + lanes, 1, mask=mask)


ENDS = [-(2**63), -(2**63) + 5, -5, 0, 7, 2**31 - 9, 2**63 - 40, 2**63 - 3, 2**63 - 1]
TOPS = [0, 5, 2**32 - 3, 2**63 - 3, 2**63 + 5, 2**64 - 40, 2**64 - 20, 2**64 - 1]
TYPES = {"signed": (np.int64, ENDS), "unsigned": (np.uint64, TOPS)}


@pytest.mark.parametrize("op", COMPARE)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("n", [1, 16, 50])
def test_limits_at_the_ends_of_64_bits(op, kind, n):
    dtype, numbers = TYPES[kind]
    wide = tl.int64 if kind == "signed" else tl.uint64
    for start in numbers:
        for limit in numbers:
            with np.errstate(over="ignore"):
                offsets = dtype(start) + np.arange(n).astype(dtype)
            got = np.zeros(n, np.int32)
            compare_kernel[(1,)](got, start, limit, T=wide, OP=op, N=n, target="cpu")
            want = COMPARE[op](offsets, dtype(limit)).astype(np.int32)
            np.testing.assert_array_equal(got, want, f"{start} {op} {limit}")


@triton.jit
def rows_kernel(x, out, n, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + r * N + c, mask=r * N + c < n, other=0)
    if AXIS == 0:
        tl.store(out + tl.arange(0, N), tl.sum(value, axis=0))
    else:
        tl.store(out + tl.arange(0, M), tl.sum(value, axis=1))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(4, 64), (3, 40), (16, 16), (7, 1), (64, 3)])
def test_a_limit_that_changes_along_the_reduced_axis(axis, shape):
    x = np.arange(1, shape[0] * shape[1] + 1, dtype=np.int32)
    for n in (0, 1, 37, shape[0] * shape[1] - 1, shape[0] * shape[1]):
        kept = np.where(np.arange(x.size) < n, x, 0).reshape(shape)
        out = np.zeros(shape[1 - axis], np.int32)
        run_everywhere(
            rows_kernel, (1,), x, out, n, M=shape[0], N=shape[1], AXIS=axis,
            expected={"out": kept.sum(axis)}, skip=("cudasim",),
        )  # fmt: skip


@triton.jit
def reshaped_kernel(x, out, n, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    mask = tl.reshape((r < n) & (c < 5), (M * N,))
    lanes = tl.arange(0, M * N)
    tl.store(out + lanes, tl.load(x + lanes, mask=mask, other=-1), mask=mask)


@pytest.mark.parametrize("shape", [(8, 8), (5, 9), (2, 32), (64, 1)])
@pytest.mark.parametrize("n", [0, 3, 64])
def test_a_mask_that_was_reshaped(shape, n):
    x, out = np.arange(shape[0] * shape[1], dtype=np.int32), np.full(shape, 7, np.int32)
    r, c = np.indices(shape)
    want = np.where((r < n) & (c < 5), x.reshape(shape), 7).ravel()
    run_everywhere(
        reshaped_kernel, (1,), x, out.ravel(), n, M=shape[0], N=shape[1],
        expected={"out": want}, skip=("cudasim",),
    )  # fmt: skip


@triton.jit
def dot_kernel(x, out, FORM: tl.constexpr):
    r, c = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    a, z = tl.load(x + r * 16 + c), tl.zeros((16, 16), tl.float32)
    if FORM == "z a":
        d = tl.dot(z, a)
    elif FORM == "a a a":
        d = tl.dot(a, a, a)
    elif FORM == "a z z":
        d = tl.dot(a, z, z)
    else:
        d = tl.dot(a, tl.trans(a), tl.trans(a))
    tl.store(out + r * 16 + c, d)


@pytest.mark.parametrize("form", ["z a", "a a a", "a z z", "a t t"])
def test_an_operand_that_is_also_the_accumulator(form):
    a, z = np.random.default_rng(0).integers(-3, 4, (16, 16)).astype(np.float32), np.float32(0)
    want = {"z a": z * a, "a a a": a @ a + a, "a z z": z * a, "a t t": a @ a.T + a.T}[form]
    run_everywhere(
        dot_kernel, (1,), a.ravel(), np.zeros(256, np.float32), FORM=form,
        expected={"out": want.ravel()}, skip=("cudasim",),
    )  # fmt: skip
