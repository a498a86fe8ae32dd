"""Reductions, scans, sorts, counts and products against NumPy, in any order the function allows."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mytriton.ir.build import emit
from mytriton.ir.fold import constant
from mytriton.ir.types import BY_IR_NAME, F16, F32, I32, I64, element_of
from tests.support.build import at, kernel, launch, ptr, region, several


def place(x: Any, shape: tuple[int, ...]) -> Any:
    """The pointers to a row-major array of this shape."""
    return emit("reshape", at(x, 0, int(np.prod(shape))), shape=shape)


def loaded(x: Any, *shape: int) -> Any:
    return emit("load", place(x, shape), None, None)


def stored(out: Any, value: Any) -> None:
    shape = getattr(value.ty, "shape", ())
    several("store", place(out, shape) if shape else out, value, None)


def run_pairs(name: str, n: int, **attrs: Any) -> tuple[np.ndarray, np.ndarray]:
    """The affine maps x → a·x + b, composed left to right (which does not commute), modulo 2^64."""

    def compose(a: Any, b: Any, c: Any, d: Any) -> Any:
        return emit("mul", a, c), emit("add", emit("mul", b, c), d)

    def body(a: Any, b: Any, first: Any, second: Any) -> None:
        made = region(compose, I64, I64, I64, I64)
        values = loaded(a, n), loaded(b, n)
        results = several(name, *values, regions=(made,), axis=0, **attrs)
        stored(first, results[0])
        stored(second, results[1])

    random = np.random.default_rng(n)
    a, b = random.integers(-9, 9, (2, n))
    outputs = np.zeros((2, n), np.int64)
    launch(kernel(body, **dict.fromkeys("abcd", ptr("i64"))), a, b, *outputs)
    order = range(n)[:: -1 if attrs.get("reverse") else 1]
    expected = np.zeros((2, n), np.int64)
    with np.errstate(over="ignore"):
        for number, i in enumerate(order):
            if number == 0:
                expected[:, i] = a[i], b[i]
            else:
                before = expected[:, order[number - 1]]
                expected[:, i] = before[0] * a[i], before[1] * a[i] + b[i]
    return outputs, expected


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 64, 100])
def test_reduce_keeps_left_to_right_order(n: int) -> None:
    got, expected = run_pairs("reduce", n)
    assert got[:, 0].tolist() == expected[:, -1].tolist()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 64, 100])
def test_scan_keeps_order_both_ways(n: int, reverse: bool) -> None:
    got, expected = run_pairs("scan", n, reverse=reverse)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_reduce_and_scan_along_an_axis(axis: int) -> None:
    shape = (2, 3, 5)
    rest = tuple(extent for number, extent in enumerate(shape) if number != axis)

    def body(x: Any, total: Any, running: Any) -> None:
        add = region(lambda a, b: emit("add", a, b), I32, I32)
        stored(total, several("reduce", loaded(x, *shape), regions=(add,), axis=axis)[0])
        stored(running, several("scan", loaded(x, *shape), regions=(add,), axis=axis)[0])

    x = np.random.default_rng(1).integers(-99, 99, shape).astype(np.int32)
    total, running = np.zeros(rest, np.int32), np.zeros(shape, np.int32)
    launch(kernel(body, **dict.fromkeys("abc", ptr("i32"))), x, total, running)
    np.testing.assert_array_equal(total, x.sum(axis))
    np.testing.assert_array_equal(running, x.cumsum(axis))


def test_a_reduction_of_f16_rounds_at_every_step() -> None:
    def body(x: Any, out: Any) -> None:
        add = region(lambda a, b: emit("add", a, b), F16, F16)
        stored(out, several("reduce", loaded(x, 4), regions=(add,), axis=0)[0])

    x, out = np.array([2048, 1, 1, 1], np.float16), np.zeros(1, np.float16)
    launch(kernel(body, x=ptr("f16"), out=ptr("f16")), x, out)
    assert out[0] == np.float16(2050)  # (2048 + 1 → 2048) + (1 + 1)


def test_a_combine_function_may_branch() -> None:
    """The element of greatest magnitude, by an `if` in the combine function."""

    def pick(a: Any, b: Any) -> Any:
        larger = emit("cmp_ge", emit("abs", a), emit("abs", b))
        branches = region(lambda: a), region(lambda: b)
        return several("if", larger, regions=branches)[0]

    def body(x: Any, out: Any) -> None:
        function = region(pick, I32, I32)
        stored(out, several("reduce", loaded(x, 3, 4), regions=(function,), axis=1)[0])

    x = np.array([[1, -5, 3, 5], [0, 2, 1, -2], [7, 1, -8, 3]], np.int32)
    out = np.zeros(3, np.int32)
    launch(kernel(body, x=ptr("i32"), out=ptr("i32")), x, out)
    assert out.tolist() == [-5, 2, -8]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["i1", "u4", "f4", "?"])
def test_sort_is_stable_and_carries_its_companions(dtype: str, descending: bool) -> None:
    element = {"i1": "i8", "u4": "u32", "f4": "f32", "?": "bool"}[dtype]

    def body(x: Any, keys: Any, places: Any) -> None:
        index = emit(
            "broadcast", emit("reshape", emit("arange", start=0, end=9), shape=(1, 9)), shape=(2, 9)
        )
        made = several("sort", loaded(x, 2, 9), index, axis=1, descending=descending)
        stored(keys, made[0])
        stored(places, made[1])

    x = np.random.default_rng(3).integers(-3, 4, (2, 9)).astype(dtype)
    keys, places = np.zeros_like(x), np.zeros(x.shape, np.int32)
    launch(kernel(body, x=ptr(element), k=ptr(element), p=ptr("i32")), x, keys, places)
    for row, key, index in zip(x.tolist(), keys.tolist(), places.tolist()):
        expected = sorted(range(9), key=lambda i: row[i], reverse=descending)
        assert index == expected
        assert key == [row[i] for i in expected]


@pytest.mark.parametrize("descending", [False, True])
def test_sort_orders_floats_as_numbers_with_nans_last(descending: bool) -> None:
    def body(x: Any, out: Any) -> None:
        stored(out, several("sort", loaded(x, 6), axis=0, descending=descending)[0])

    x = np.array([np.nan, 1, -np.inf, -2, np.inf, -0.0], ml_dtypes.bfloat16)
    out = np.zeros_like(x)
    launch(kernel(body, x=ptr("bf16"), out=ptr("bf16")), x, out)
    numbers = [-np.inf, -2, -0.0, 1, np.inf]
    expected = [*(numbers[::-1] if descending else numbers), np.nan]
    np.testing.assert_array_equal(out.astype(np.float32), np.float32(expected))


def test_histogram_counts_what_is_inside_and_not_masked() -> None:
    def body(x: Any, mask: Any, out: Any) -> None:
        stored(out, emit("histogram", loaded(x, 50), loaded(mask, 50), bins=8))

    random = np.random.default_rng(2)
    x, mask = random.integers(-3, 12, 50).astype(np.int32), random.random(50) < 0.7
    out = np.zeros(8, np.int32)
    launch(kernel(body, x=ptr("i32"), mask=ptr("bool"), out=ptr("i32")), x, mask, out)
    assert out.tolist() == [int(((x == value) & mask).sum()) for value in range(8)]


def test_gather_along_an_axis() -> None:
    def body(x: Any, index: Any, out: Any) -> None:
        stored(out, emit("gather", loaded(x, 3, 4), loaded(index, 3, 6), axis=1))

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    index = np.random.default_rng(0).integers(0, 4, (3, 6))
    out = np.zeros((3, 6), np.float32)
    launch(kernel(body, x=ptr("f32"), i=ptr("i64"), out=ptr("f32")), x, index, out)
    np.testing.assert_array_equal(out, np.take_along_axis(x, index, 1))


# -- dot


def run_dot(
    left: np.ndarray, right: np.ndarray, acc: np.ndarray, types: tuple[str, str], **attrs: Any
) -> np.ndarray:
    def body(a: Any, b: Any, c: Any) -> None:
        values = loaded(a, *left.shape), loaded(b, *right.shape), loaded(c, *acc.shape)
        stored(c, emit("dot", *values, **attrs))

    out = acc.copy()
    launch(kernel(body, a=ptr(types[0]), b=ptr(types[0]), c=ptr(types[1])), left, right, out)
    return out


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 7), (16, 16, 16)])
@pytest.mark.parametrize(("element", "dtype"), [("f16", "f2"), ("bf16", ml_dtypes.bfloat16)])
def test_dot_of_small_floats_is_rounded_once_to_f32(
    element: str, dtype: Any, shape: tuple[int, int, int]
) -> None:
    m, n, k = shape
    random = np.random.default_rng(0)
    left = random.standard_normal((2, m, k)).astype(dtype)
    right = random.standard_normal((2, k, n)).astype(dtype)
    acc = random.standard_normal((2, m, n)).astype(np.float32)
    expected = left.astype(np.float64) @ right.astype(np.float64) + acc
    got = run_dot(left, right, acc, (element, "f32"))
    np.testing.assert_array_equal(got, expected.astype(np.float32))


def test_dot_of_bytes_is_exact_and_wraps() -> None:
    left = np.full((2, 4), -128, np.int8)
    right = np.full((4, 2), -128, np.int8)
    acc = np.full((2, 2), 2**31 - 1, np.int32)
    got = run_dot(left, right, acc, ("i8", "i32"))
    assert got.tolist() == [[2**31 - 1 + 4 * 16384 - 2**32] * 2] * 2


def test_dot_of_wide_ints_wraps() -> None:
    random = np.random.default_rng(0)
    left, right = random.integers(-(2**31), 2**31, (2, 4, 4)).astype(np.int32)
    exact = left.astype(object) @ right.astype(object)
    got = run_dot(left, right, np.zeros((4, 4), np.int32), ("i32", "i32"))
    wrapped = (exact + 2**31) % 2**32 - 2**31
    assert got.tolist() == wrapped.tolist()


@pytest.mark.parametrize(
    ("precision", "bound"),
    [("ieee", 0), ("tf32", 1e-3), ("tf32x3", 2e-6), ("bf16x3", 1e-4), ("bf16x6", 2e-6)],
)
def test_dot_of_f32_at_the_precision_named(precision: str, bound: float) -> None:
    random = np.random.default_rng(5)
    left, right = random.uniform(0.5, 1, (2, 16, 16)).astype(np.float32)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    zero = np.zeros((16, 16), np.float32)
    got = run_dot(left, right, zero, ("f32", "f32"), precision=precision)
    error = np.abs(got / exact - 1).max()
    assert error <= bound + 2.0**-24
    assert bound == 0 or error > bound * 1e-3


def test_tf32_rounds_operands_to_ten_bits_ties_to_even() -> None:
    ulp = 2.0**-10
    left = np.array([[1 + ulp / 2, 1 + 3 * ulp / 2, 1 + ulp / 2 + 2**-20]], np.float32)
    got = run_dot(
        left.T.copy(),
        np.ones((1, 1), "f4"),
        np.zeros((3, 1), "f4"),
        ("f32", "f32"),
        precision="tf32",
    )
    assert got.ravel().tolist() == [1, 1 + 2 * ulp, 1 + ulp]


def test_infinities_survive_every_precision() -> None:
    left = np.array([[np.inf, 1]], np.float32)
    for precision in ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"):
        got = run_dot(
            left, np.ones((2, 1), "f4"), np.zeros((1, 1), "f4"), ("f32", "f32"), precision=precision
        )
        assert got[0, 0] == np.inf


def test_scalars_of_a_constant_combine_function() -> None:
    def body(x: Any, out: Any) -> None:
        always = region(lambda a, b: constant(7.0, F32), F32, F32)
        stored(out, several("reduce", loaded(x, 2, 3), regions=(always,), axis=1)[0])

    out = np.zeros(2, np.float32)
    launch(kernel(body, x=ptr("f32"), out=ptr("f32")), np.zeros(6, np.float32), out)
    assert out.tolist() == [7, 7]
    assert element_of(ptr("f32")).element is BY_IR_NAME["f32"]
