"""Products by tensor cores and by fused multiply-adds give NumPy's product, wherever the operands
lie: rows along K or across it, transposed, in registers of another product."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.targets.cuda import generate, sim
from tests.support.cuda import compile_everywhere, traced
from tests.support.memory import aligned_copy, arguments_of

ml_dtypes = pytest.importorskip("ml_dtypes")


def product(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A_T: tl.constexpr,
    B_T: tl.constexpr, TF32: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    if A_T:
        left = tl.trans(tl.load(a + k[:, None] * M + m[None, :]))
    else:
        left = tl.load(a + m[:, None] * K + k[None, :])
    if B_T:
        right = tl.trans(tl.load(b + n[:, None] * K + k[None, :]))
    else:
        right = tl.load(b + k[:, None] * N + n[None, :])
    acc = tl.load(c + m[:, None] * N + n[None, :])
    total = tl.dot(left, right, acc, input_precision="tf32" if TF32 else "ieee")
    tl.store(c + m[:, None] * N + n[None, :], total)


TYPES = {
    "f16": (np.float16, "f32", np.float32),
    "bf16": (ml_dtypes.bfloat16, "f32", np.float32),
    "f32": (np.float32, "f32", np.float32),
    "i8": (np.int8, "i32", np.int32),
    "u8": (np.uint8, "i32", np.int32),
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, "f32", np.float32),
    "f8e5m2": (ml_dtypes.float8_e5m2, "f32", np.float32),
    "f64": (np.float64, "f64", np.float64),
}
SHAPES = [(16, 8, 32), (64, 32, 64), (16, 128, 32), (128, 16, 32), (12, 20, 24)]


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("name", TYPES)
def test_products_are_numpy_s(name, warps, turned):
    dtype, acc, acc_dtype = TYPES[name]
    rng = np.random.default_rng(len(name) + warps)
    M, N, K = SHAPES[(warps + 2 * turned[0] + turned[1] + len(name)) % len(SHAPES)]
    low, high = (-8, 8) if np.dtype(dtype).kind != "u" else (0, 16)
    a, b = (rng.integers(low, high, shape).astype(dtype) for shape in ((M, K), (K, N)))
    c = rng.integers(-9, 9, (M, N)).astype(acc_dtype)
    want = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    function = traced(
        product, a=f"*{name}", b=f"*{name}", c=f"*{acc}", M=M, N=N, K=K, A_T=turned[0],
        B_T=turned[1], TF32=name == "f32",
    )  # fmt: skip
    known = frozenset() if warps == 4 else frozenset("abc")
    source = generate(function, num_warps=warps, aligned=known)
    compile_everywhere(source)
    stored = (a.T if turned[0] else a, b.T if turned[1] else b, c)
    given = tuple(map(aligned_copy, stored))
    c = given[2]
    sim.run(source, (1, 1, 1), arguments_of(function, given), order=f"shuffle:{warps}")
    np.testing.assert_array_equal(c, want)
    assert ("mma_" in source.kernel) == (name != "f64" and SHAPES[-1] != (M, N, K))
