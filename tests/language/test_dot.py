"""Matrix products: dtypes, accumulators, precision, ranks, and scaled formats."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileTypeError, CompileValueError
from mytriton.ir.types import VectorType
from tests.support.block_functions import evaluate, text, trace

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        (np.float16, np.float32),
        (ml_dtypes.bfloat16, np.float32),
        (ml_dtypes.float8_e4m3fn, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int8, np.int32),
        (np.uint8, np.int32),
    ],
)
def test_dtypes(dtype: Any, result: Any) -> None:
    a, b = (RANDOM.integers(0, 5, shape).astype(dtype) for shape in ((3, 5), (5, 2)))
    got = evaluate(tl.dot, a, b)
    assert got.dtype == result
    assert (got == a.astype(np.float64) @ b.astype(np.float64)).all()


def test_mixed_pairs() -> None:
    a, b = RANDOM.integers(0, 5, (4, 4)), RANDOM.integers(-5, 5, (4, 4))
    eight = evaluate(tl.dot, a.astype(np.uint8), b.astype(np.int8))
    assert eight.dtype == np.int32 and (eight == a @ b).all()
    e4, e5 = a.astype(ml_dtypes.float8_e4m3fn), b.astype(ml_dtypes.float8_e5m2)
    assert (evaluate(tl.dot, e4, e5) == e4.astype(float) @ e5.astype(float)).all()
    with pytest.raises(CompileTypeError, match="one dtype, got fp16 and fp32"):
        evaluate(tl.dot, a.astype(np.float16), b.astype(np.float32))


def test_rank_three_and_accumulators() -> None:
    a, b = RANDOM.normal(size=(2, 3, 4)), RANDOM.normal(size=(2, 4, 5))
    acc = RANDOM.normal(size=(2, 3, 5))
    np.testing.assert_allclose(evaluate(tl.dot, a, b, acc), a @ b + acc, rtol=1e-12)
    half = (a[0].astype(np.float16), b[0].astype(np.float16), np.ones((3, 5), np.float16))
    got = evaluate(lambda a, b, c: tl.dot(a, b, acc=c, out_dtype=tl.float16), *half)
    assert got.dtype == np.float16
    assert evaluate(lambda a, b: tl.dot(a, b, out_dtype=tl.float16), *half[:2]).dtype == np.float16
    with pytest.raises(CompileTypeError, match="acc is fp16"):
        evaluate(lambda a, b, c: tl.dot(a, b, c, out_dtype=tl.float32), *half)


def test_precision_is_the_target_s_unless_asked() -> None:
    square = VectorType((16, 16), tl.float32)

    def shown(**options: Any) -> str:
        return text(lambda a, b: tl.dot(a, b, **options).sum(), square, square)

    assert "precision" not in shown() and "ieee" in shown(allow_tf32=False)
    assert "tf32" in shown(allow_tf32=True) and "tf32x3" in shown(input_precision="TF32x3")
    with pytest.raises(CompileValueError, match="input_precision must be one of"):
        shown(input_precision="fp8")
    with pytest.raises(CompileValueError, match="not both"):
        shown(input_precision="ieee", allow_tf32=True)
    half = VectorType((16, 16), tl.float16)
    assert "tf32" not in text(lambda a, b: tl.dot(a, b, allow_tf32=True).sum(), half, half)


def test_shapes_that_do_not_fit() -> None:
    for a, b in (((2, 3), (2, 3)), ((2,), (2, 2)), ((2, 2, 2), (3, 2, 2)), ((2, 2), (1, 2, 2))):
        with pytest.raises(CompileValueError, match="dot needs"):
            trace(tl.dot, VectorType(a, tl.float32), VectorType(b, tl.float32))


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def unpack(packed: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    parts = np.stack([packed & 15, packed >> 4], axis + 1)
    shape = list(packed.shape)
    shape[axis] *= 2
    return E2M1[parts.reshape(shape)]


@pytest.mark.parametrize("k_pack", [True, False])
def test_scaled_fp4(k_pack: bool) -> None:
    m, n, k = 4, 6, 64
    left = RANDOM.integers(0, 256, (m, k // 2) if k_pack else (m // 2, k)).astype(np.uint8)
    right = RANDOM.integers(0, 256, (k // 2, n) if k_pack else (k, n // 2)).astype(np.uint8)
    a_scale = RANDOM.integers(120, 134, (m, k // 32)).astype(np.uint8)
    b_scale = RANDOM.integers(120, 134, (n, k // 32)).astype(np.uint8)

    def body(a: Any, sa: Any, b: Any, sb: Any) -> Any:
        packed = {"lhs_k_pack": k_pack, "rhs_k_pack": k_pack}
        return tl.dot_scaled(a, sa, "e2m1", b, sb, "e2m1", **packed)

    a = unpack(left, 1 if k_pack else 0) * np.repeat(2.0 ** (a_scale - 127.0), 32, 1)
    b = unpack(right, 0 if k_pack else 1) * np.repeat(2.0 ** (b_scale - 127.0), 32, 1).T
    np.testing.assert_allclose(evaluate(body, left, a_scale, right, b_scale), a @ b, rtol=1e-6)


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("e4m3", ml_dtypes.float8_e4m3fn),
        ("e5m2", ml_dtypes.float8_e5m2),
        ("bf16", ml_dtypes.bfloat16),
        ("fp16", np.float16),
    ],
)
@pytest.mark.parametrize("as_bytes", [False, True])
def test_scaled_formats(form: str, dtype: Any, as_bytes: bool) -> None:
    a = RANDOM.normal(size=(4, 32)).astype(dtype)
    b = RANDOM.normal(size=(32, 3)).astype(dtype)
    scale = RANDOM.integers(125, 130, (4, 1)).astype(np.uint8)
    given = (a.view(np.uint8), b.view(np.uint8)) if as_bytes and a.itemsize == 1 else (a, b)
    got = evaluate(
        lambda a, s, b: tl.dot_scaled(a, s, form, b, None, form), given[0], scale, given[1]
    )
    expected = (a.astype(float) * 2.0 ** (scale - 127.0)) @ b.astype(float)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_a_nan_scale_and_bad_formats() -> None:
    ones, scale = np.ones((2, 32), ml_dtypes.float8_e5m2), np.array([[255], [0]], np.uint8)
    got = evaluate(
        lambda a, s, b: tl.dot_scaled(a, s, "e5m2", b, None, "e5m2"), ones, scale, ones.T
    )
    assert np.isnan(got[0]).all() and (got[1] == 32 * 2.0**-127).all()
    with pytest.raises(CompileValueError, match="format must be one of"):
        evaluate(lambda a, b: tl.dot_scaled(a, None, "e3m3", b, None, "e5m2"), ones, ones.T)


@pytest.mark.parametrize("batch", [(2,), (2, 3), (1, 2, 2)])
def test_any_leading_axes_are_a_batch(batch: tuple[int, ...]) -> None:
    a = RANDOM.integers(-5, 5, (*batch, 3, 4)).astype(np.float32)
    b = RANDOM.integers(-5, 5, (*batch, 4, 2)).astype(np.float32)
    acc = RANDOM.integers(-5, 5, (*batch, 3, 2)).astype(np.float32)
    assert (evaluate(tl.dot, a, b) == a @ b).all()
    assert (evaluate(tl.dot, a, b, acc) == a @ b + acc).all()
    assert (evaluate(lambda a, b: tl.dot(a, b, acc=1), a, b) == a @ b + 1).all()


@pytest.mark.parametrize("asked", [tl.float32, tl.float16, tl.int32, None])
def test_products_of_bytes_are_i32_whatever_is_asked(asked: Any) -> None:
    a = RANDOM.integers(-128, 128, (4, 8)).astype(np.int8)
    b = RANDOM.integers(-128, 128, (8, 4)).astype(np.int8)
    exact = a.astype(np.int32) @ b.astype(np.int32)
    got = evaluate(lambda a, b: tl.dot(a, b, out_dtype=asked), a, b)
    assert got.dtype == np.int32 and (got == exact).all()
    got = evaluate(lambda a, b, c: tl.dot(a, b, c, out_dtype=asked), a, b, exact)
    assert (got == 2 * exact).all()
