"""Rearranging, indexing, reducing, scanning and sorting blocks, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileTypeError, CompileValueError
from tests.support.block_functions import evaluate, trace

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


def same(got: Any, expected: Any) -> None:
    assert np.shape(got) == np.shape(expected)
    assert np.array_equal(got, expected, equal_nan=np.asarray(got).dtype.kind == "f")


def test_indexing() -> None:
    for index in (
        np.s_[0],
        np.s_[-1],
        np.s_[1, :, 2],
        np.s_[..., None],
        np.s_[:, None],
        np.s_[None, :, :, 1:3],
        np.s_[1, 2, 3],
        np.s_[..., 0],
        np.s_[:, 1:],
    ):
        same(evaluate(lambda x, index=index: x[index], X), X[index])


def test_indexing_refuses() -> None:
    for index in (5, np.s_[::2], np.s_[0, 0, 0, 0], 1.5):
        with pytest.raises((CompileValueError, CompileTypeError)):
            evaluate(lambda x, index=index: x[index], X)
    with pytest.raises(CompileTypeError, match=r"tl\.gather"):
        evaluate(lambda x: x[tl.program_id(0)], X)


def test_rearranging() -> None:
    same(evaluate(lambda x: x.reshape(4, 6), X), X.reshape(4, 6))
    same(evaluate(lambda x: tl.view(x, [6, 4]), X), X.reshape(6, 4))
    same(evaluate(lambda x: tl.reshape(x, (tl.constexpr(24),)), X), X.reshape(24))
    same(evaluate(lambda x: x.permute(2, 0, 1), X), X.transpose(2, 0, 1))
    same(evaluate(lambda x: tl.permute(x, (2, -3, 1)), X), X.transpose(2, 0, 1))
    same(evaluate(lambda x: tl.trans(x), X), X.swapaxes(1, 2))
    same(evaluate(lambda x: x.T, X[0]), X[0].T)
    same(evaluate(lambda x: tl.ravel(x), X), X.ravel())
    same(evaluate(lambda x: tl.expand_dims(x, (0, -1)), X), X[None, ..., None])
    same(evaluate(lambda x: tl.squeeze(tl.unsqueeze(x, 1), 1), X), X)
    same(evaluate(lambda x: tl.broadcast_to(x, 5, 4), X[0, :1]), np.broadcast_to(X[0, :1], (5, 4)))
    same(evaluate(lambda x: tl.flip(x, 0), X), X[::-1])
    same(evaluate(lambda x: x.flip(), X), X[..., ::-1])


def test_joining_and_splitting() -> None:
    a, b = X[0], X[1]
    same(evaluate(tl.join, a, b), np.stack([a, b], -1))
    same(evaluate(tl.interleave, a, b), np.stack([a, b], -1).reshape(3, 8))
    first, second = evaluate(lambda a, b: tl.split(tl.join(a, b)), a, b)
    same(first, a)
    same(second, b)
    same(evaluate(lambda a, b: tl.cat(a, b), a, b), np.concatenate([a, b]))
    same(evaluate(lambda a, b: tl.cat(a, b, dim=1, can_reorder=True), a, b), np.hstack([a, b]))
    low, high = evaluate(lambda x: x.split(), np.array([3, 4], np.int32))
    assert (low, high) == (3, 4)


def test_gather() -> None:
    index = np.array([[2, 0], [1, 1], [0, 2]], np.int32).T.copy()
    same(
        evaluate(lambda x, i: tl.gather(x, i, 1), X[0, :2, :3], index[:, :]),
        np.take_along_axis(X[0, :2, :3], index, 1),
    )


def test_shape_errors_name_the_shapes() -> None:
    with pytest.raises(CompileValueError, match=r"shape \(5, 5\) has 25 elements.*\(2, 3, 4\)"):
        evaluate(lambda x: x.reshape(5, 5), X)
    with pytest.raises(CompileValueError, match="axis 3 is out of range"):
        evaluate(lambda x: tl.sum(x, 3), X)
    with pytest.raises(CompileValueError, match="extents must be positive"):
        evaluate(lambda x: tl.zeros((0, 2), tl.int32), X)
    with pytest.raises(CompileTypeError, match="known when the kernel is compiled"):
        evaluate(lambda x: tl.arange(0, tl.program_id(0)), X)


def test_full_takes_numbers_and_scalars() -> None:
    assert evaluate(lambda x: tl.full((2,), -1, tl.uint8), X).tolist() == [255, 255]
    assert evaluate(lambda x: tl.full([2], x, tl.float32), np.int32(3)).tolist() == [3, 3]
    assert evaluate(lambda x: tl.full((), 2.5, tl.int32), X) == 2
    with pytest.raises(CompileValueError, match="must be a scalar"):
        evaluate(lambda x: tl.full((2,), x, tl.int32), X)
    with pytest.raises(CompileValueError, match="inf cannot become int32"):
        evaluate(lambda x: tl.full((2,), float("inf"), tl.int32), X)


# -- reductions


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("keep", [False, True])
def test_reductions(axis: Any, keep: bool) -> None:
    x = (X * 7) % 11 - 5
    options = {"axis": axis, "keep_dims": keep}
    same(evaluate(lambda x: tl.sum(x, **options), x), x.sum(axis, keepdims=keep))
    same(evaluate(lambda x: tl.max(x, **options), x), x.max(axis, keepdims=keep))
    same(evaluate(lambda x: tl.min(x, **options), x), x.min(axis, keepdims=keep))
    xor = np.bitwise_xor.reduce(x.ravel() if axis is None else x, 0 if axis is None else axis)
    same(evaluate(lambda x: tl.xor_sum(x, **options), x).ravel(), np.ravel(xor))
    same(evaluate(lambda x: tl.argmax(x, **options), x), x.argmax(axis, keepdims=keep))
    same(evaluate(lambda x: tl.argmin(x, **options), x), x.argmin(axis, keepdims=keep))


@pytest.mark.parametrize(
    ("dtype", "result"),
    [("int8", "int32"), ("uint8", "uint32"), ("bool", "uint32"), ("int64", "int64")],
)
def test_sums_of_narrow_ints_grow(dtype: str, result: str) -> None:
    x = np.ones(300, dtype) if dtype == "bool" else np.full(300, 127, dtype)
    got = evaluate(lambda x: tl.sum(x), x)
    assert got.dtype == result and got == x.sum(dtype=np.int64)


def test_sum_of_halves_is_rounded_once() -> None:
    x = np.full(4096, 1, np.float16)
    x[0] = 2048
    got = evaluate(lambda x: tl.sum(x, 0), x)
    assert got.dtype == np.float16 and got == np.float16(2048 + 4095)
    b = np.full(600, 1, ml_dtypes.bfloat16)
    assert evaluate(lambda x: tl.sum(x, 0), b) == ml_dtypes.bfloat16(600)
    assert evaluate(lambda x: tl.sum(x, 0, dtype=tl.float64), x).dtype == np.float64


def test_max_of_narrow_types_is_32_bits() -> None:
    assert evaluate(lambda x: tl.max(x), np.ones(4, np.float16)).dtype == np.float32
    assert evaluate(lambda x: tl.max(x), np.full(4, 200, np.uint8)).dtype == np.int32
    value, index = evaluate(lambda x: tl.max(x, 0, True), np.ones(4, np.float16))
    assert (value.dtype, index.dtype) == (np.float16, np.int32)


def test_nan_loses_and_the_first_of_equals_wins() -> None:
    nan = np.nan
    x = np.array([[nan, 2, 5, 5], [nan, nan, nan, nan], [1, nan, 1, 0]], np.float32)
    same(evaluate(lambda x: tl.max(x, 1), x), np.float32([5, nan, 1]))
    value, index = evaluate(lambda x: tl.max(x, 1, return_indices=True), x)
    same(value, np.float32([5, nan, 1]))
    assert index[[0, 2]].tolist() == [2, 0] and 0 <= index[1] < 4
    last = evaluate(lambda x: tl.argmax(x, 1, tie_break_left=False), x)
    assert last[0] in (2, 3) and last[2] in (0, 2)
    assert evaluate(lambda x: tl.argmin(x, 1), x)[[0, 2]].tolist() == [1, 3]


def test_reduce_by_any_function() -> None:
    """The composition of affine maps: tuples, not commutative."""

    def compose(a: Any, b: Any, c: Any, d: Any) -> Any:
        return a * c, b * c + d

    scale, shift = np.array([2, 3, 5], np.int32), np.array([1, 1, 2], np.int32)
    got = evaluate(lambda x, y: tl.reduce((x, y), 0, compose), scale, shift)
    assert [int(v) for v in got] == [30, ((0 * 2 + 1) * 3 + 1) * 5 + 2]
    with pytest.raises(CompileTypeError, match="must return"):
        evaluate(lambda x: tl.reduce(x, 0, lambda a, b: a / b), scale)
    with pytest.raises(CompileTypeError, match="must return 1 values"):
        evaluate(lambda x: tl.reduce(x, 0, lambda a, b: (a, b)), scale)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scans(axis: int, reverse: bool) -> None:
    side = slice(None, None, -1) if reverse else slice(None)
    flip = lambda a: a[(slice(None),) * axis + (side,)]  # noqa: E731
    x = X - 9
    same(evaluate(lambda x: tl.cumsum(x, axis, reverse), x), flip(flip(x).cumsum(axis)))
    same(evaluate(lambda x: x.cumprod(axis, reverse), x), flip(flip(x).cumprod(axis)))


def test_scan_types() -> None:
    assert (
        evaluate(lambda x: tl.cumsum(x), np.ones(4, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16
    )
    assert evaluate(lambda x: tl.cumsum(x), np.ones(4, bool)).tolist() == [1, 2, 3, 4]
    assert evaluate(lambda x: tl.cumsum(x), np.full(4, 100, np.int8)).tolist()[-1] == 400


def test_scan_of_pairs_keeps_order() -> None:
    last = lambda a, i, b, j: (tl.where(b >= 0, b, a), tl.where(b >= 0, j, i))  # noqa: E731
    x = np.array([3, -1, -1, 5, -1], np.int32)
    where = np.arange(5, dtype=np.int32)
    value, index = evaluate(lambda x, i: tl.associative_scan((x, i), 0, last), x, where)
    assert value.tolist() == [3, 3, 3, 5, 5] and index.tolist() == [0, 0, 0, 3, 3]


# -- order


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float32, np.float16, ml_dtypes.bfloat16])
def test_sorting(dtype: Any) -> None:
    x = np.random.default_rng(0).integers(0, 100, (3, 16)).astype(dtype)
    same(evaluate(lambda x: tl.sort(x), x), np.sort(x))
    same(evaluate(lambda x: tl.sort(x, 0, descending=True), x), np.sort(x, 0)[::-1])
    same(evaluate(lambda x: tl.topk(x, 4), x), np.sort(x)[:, ::-1][:, :4])
    order = evaluate(lambda x: tl.argsort(x), x)
    same(order, np.argsort(x, kind="stable"))
    same(evaluate(lambda x: tl.bitonic_merge(x), x), np.sort(x))


def test_histogram() -> None:
    x = np.array([0, 1, 1, 3, 7, -1, 1], np.int32)
    assert evaluate(lambda x: tl.histogram(x, 4), x).tolist() == [1, 3, 0, 1]
    kept = np.array([1, 1, 0, 1, 1, 1, 0], bool)
    assert evaluate(lambda x, m: x.histogram(4, m), x, kept).tolist() == [1, 1, 0, 1]


# -- the library


def test_softmax_and_sigmoid() -> None:
    x = np.random.default_rng(1).normal(size=(4, 8)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    got = evaluate(lambda x: tl.softmax(x, 1), x)
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(evaluate(tl.sigmoid, x), 1 / (1 + np.exp(-x)), rtol=1e-6)
    first = evaluate(lambda x: tl.softmax(x), x)
    np.testing.assert_allclose(first.sum(0), 1, rtol=1e-6)


def test_small_helpers() -> None:
    assert tl.cdiv(7, 2) == 4 and tl.cdiv(tl.constexpr(8), 2) == 4
    assert evaluate(lambda x: x.cdiv(4), np.array([7, 8, 9], np.int32)).tolist() == [2, 2, 3]
    swizzled = [
        evaluate(lambda i, j: tl.swizzle2d(i, j, 4, 4, 2), np.int32(i), np.int32(j))
        for i in range(4)
        for j in range(4)
    ]
    assert [(int(i), int(j)) for i, j in swizzled[:5]] == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]
    assert sorted((int(i), int(j)) for i, j in swizzled) == [
        (i, j) for i in range(4) for j in range(4)
    ]


def test_map_elementwise() -> None:
    x = np.arange(8, dtype=np.int32)
    low, high = evaluate(lambda x: tl.map_elementwise(lambda v: (v // 3, v % 3), x), x)
    same(low, x // 3)
    same(high, x % 3)
    swap = evaluate(lambda x: tl.map_elementwise(lambda a, b: (b, a), x, pack=2), x)
    assert swap.tolist() == [1, 0, 3, 2, 5, 4, 7, 6]


def test_hints_change_nothing() -> None:
    def body(x: Any) -> Any:
        tl.assume(tl.program_id(0) >= 0)
        tl.debug_barrier()
        return tl.max_contiguous(tl.multiple_of(tl.max_constancy(x, 1), 8), [4])

    x = np.arange(8, dtype=np.int32)
    same(evaluate(body, x), x)
    with pytest.raises(CompileValueError, match="2 positive values"):
        trace(lambda x: tl.multiple_of(x, 8), tl.block_type(tl.int32, [4, 4]))
