"""Promotion, operators and casts: the types that meet, and the numbers that come out."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileTypeError, CompileValueError
from mytriton.ir.types import BY_TRITON_NAME, PointerType, VectorType
from tests.support.block_functions import evaluate, text, trace


def result_type(function: Callable[..., Any], *names: str) -> str:
    """The dtype's name of a function of blocks of these dtypes."""
    seen = []
    blocks = [VectorType((4,), BY_TRITON_NAME[name]) for name in names]
    trace(lambda *given: seen.append(function(*given).dtype.name), *blocks)
    return str(seen[0])


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        ("int1", "int8", "int8"),
        ("int8", "int32", "int32"),
        ("int8", "uint8", "uint8"),
        ("int32", "uint8", "int32"),
        ("uint32", "int32", "uint32"),
        ("int64", "uint32", "int64"),
        ("int32", "fp16", "fp16"),
        ("int64", "bf16", "fp32"),
        ("fp16", "bf16", "fp16"),
        ("fp16", "fp32", "fp32"),
        ("bf16", "fp64", "fp64"),
        ("fp8e5", "fp8e4nv", "fp16"),
        ("fp8e5", "fp16", "fp16"),
        ("fp8e5", "bf16", "fp32"),
        ("fp8e5", "fp8e5", "fp8e5"),
    ],
)
def test_two_tensors(left: str, right: str, result: str) -> None:
    assert result_type(operator.mul, left, right) == result
    assert result_type(operator.mul, right, left) == result


@pytest.mark.parametrize(
    ("number", "dtype", "result"),
    [
        (2, "int8", "int8"),
        (2.0, "fp16", "fp16"),
        (2, "bf16", "bf16"),
        (2.0, "int32", "fp32"),
        (2.0, "int64", "fp32"),
        (2, "int1", "int32"),
        (True, "int8", "int8"),
        (2.0, "fp64", "fp64"),
        (2**40, "int1", "int64"),
    ],
)
def test_a_python_number_never_widens(number: Any, dtype: str, result: str) -> None:
    assert result_type(lambda x: x * number, dtype) == result
    assert result_type(lambda x: number + x, dtype) == result


def test_a_number_that_does_not_fit_is_named() -> None:
    with pytest.raises(CompileValueError, match=r"300 does not fit uint8 \(0 to 255\)"):
        result_type(lambda x: x + 300, "uint8")
    with pytest.raises(CompileValueError, match="-1 does not fit uint32"):
        result_type(lambda x: x == -1, "uint32")


def test_a_half_times_a_number_stays_half_and_overflows() -> None:
    x = np.array([60000, 1], np.float16)
    assert evaluate(lambda x: x * 2, x).tolist() == [np.inf, 2]


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int1", "fp16", "bf16", "fp8e5", "fp32"])
def test_division_is_in_f32(dtype: str) -> None:
    assert result_type(operator.truediv, dtype, dtype) == "fp32"


def test_true_division_of_ints() -> None:
    x, y = np.array([1, -7, 5], np.int64), np.array([3, 2, 0], np.int64)
    with np.errstate(divide="ignore"):
        assert (evaluate(operator.truediv, x, y) == (x.astype("f4") / y.astype("f4"))).all()


def test_whole_division_is_c() -> None:
    x, y = np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])
    assert evaluate(operator.floordiv, x, y).tolist() == [3, -3, -3, 3]
    assert evaluate(operator.mod, x, y).tolist() == [1, -1, 1, -1]


def test_remainder_of_floats_is_fmod() -> None:
    x, y = np.array([5.5, -5.5, 1], np.float32), np.array([2, 2, np.inf], np.float32)
    assert evaluate(operator.mod, x, y).tolist() == [1.5, -1.5, 1]


def test_whole_division_refuses_floats_and_mixed_signs() -> None:
    with pytest.raises(CompileTypeError, match="//: ints are needed"):
        result_type(operator.floordiv, "fp32", "fp32")
    for symbol in (operator.floordiv, operator.mod):
        with pytest.raises(CompileTypeError, match="because they have different signedness"):
            result_type(symbol, "int32", "uint32")


def test_bools_add_modulo_two() -> None:
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    expected = {operator.add: a ^ b, operator.sub: a ^ b, operator.mul: a & b}
    for function, result in expected.items():
        assert (evaluate(function, a, b) == result).all()
    assert evaluate(operator.lt, a, b).tolist() == [False, True, False, False]
    assert evaluate(tl.minimum, a, b).tolist() == [False, False, False, True]
    assert evaluate(tl.maximum, a, b).tolist() == [False, True, True, True]
    assert (evaluate(operator.neg, a) == a).all()


def test_bitwise_refuses_floats() -> None:
    with pytest.raises(CompileTypeError, match="&: ints or bools are needed"):
        result_type(operator.and_, "fp32", "fp32")


def test_comparison_with_none_is_pythons() -> None:
    def body(x: Any) -> None:
        assert (x == None) is False  # noqa: E711
        assert (x != None) is True  # noqa: E711
        assert (x != tl.constexpr(None)) is True

    trace(body, PointerType(tl.float32))


def test_pointers_compare_as_addresses() -> None:
    shown = text(lambda p, q: tl.device_print("", p < q), *[PointerType(tl.float32)] * 2)
    assert "cast p0 {to=u64}" in shown and "cmp_lt" in shown


@pytest.mark.parametrize("body", [lambda p, n: p < n, lambda p, n: n == p, lambda p, n: p <= 5])
def test_a_pointer_is_not_compared_with_a_number(body: Any) -> None:
    with pytest.raises(CompileTypeError, match="a pointer cannot be compared with a number"):
        trace(body, PointerType(tl.int64), tl.int32)


def nearest_f32(number: int) -> float:
    """The f32 nearest to an int beyond 2**24, ties to even, in exact arithmetic."""
    excess = abs(number).bit_length() - 24
    kept, rest = divmod(abs(number), 1 << excess)
    half = 1 << excess - 1
    kept += rest > half or (rest == half and kept % 2)
    return float(kept << excess) * (1 if number > 0 else -1)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_becomes_f32_with_one_rounding(sign: int) -> None:
    zero = np.zeros(1, np.float32)
    rng = np.random.default_rng(0)
    hard = [2**54 + 2**30 + 1, 2**54 + 2**30, 2**54 + 3 * 2**30 - 1, 2**63 - 1, 2**60 + 2**36 + 1]
    for base, low in rng.integers(-1, 2, (9, 2)):
        hard.append((2**23 + int(base)) * 2**39 + 2**38 + int(low))
    for number in (sign * value for value in hard if value < 2**63):
        got = evaluate(lambda x: x + number, zero)  # noqa: B023
        assert float(got[0]) == nearest_f32(number), number


def test_pointer_arithmetic() -> None:
    pointer = PointerType(tl.float32)
    for function in (lambda p: p + 1.5, lambda p: p + p, lambda p: p * 2, lambda p: p - p):
        with pytest.raises(CompileTypeError):
            trace(function, pointer)
    shown = text(lambda p: tl.store(2 + p - 1, 0.0), pointer)
    assert "addptr p0, 2" in shown and "addptr %0, -1" in shown


def test_casts() -> None:
    x = np.array([256, -1, 0, 300], np.int32)
    assert evaluate(lambda x: x.to(tl.int1), x).tolist() == [True, True, False, True]
    assert evaluate(lambda x: x.to(tl.uint8), x).tolist() == [0, 255, 0, 44]
    f = np.array([1e20, -1e20, np.nan, -1.9], np.float32)
    assert evaluate(lambda x: x.to(tl.int32), f).tolist() == [2**31 - 1, -(2**31), 0, -1]
    bits = np.array([1.0, -0.0], np.float32)
    same = evaluate(lambda x: x.to(tl.uint32, bitcast=True), bits)
    assert (same == bits.view(np.uint32)).all()


def test_rounding_of_casts() -> None:
    x = np.array([1 + 2**-8 + 2**-20, -(1 + 2**-8 + 2**-20)], np.float32)
    near = evaluate(lambda x: x.to(tl.bfloat16), x).astype(np.float32)
    zero = evaluate(lambda x: x.to(tl.bfloat16, fp_downcast_rounding="rtz"), x).astype("f4")
    assert near.tolist() == [1 + 2**-7, -1 - 2**-7] and zero.tolist() == [1, -1]
    with pytest.raises(CompileValueError, match="only for truncating fp conversions"):
        evaluate(lambda x: x.to(tl.float64, fp_downcast_rounding="rtz"), x)


def test_bitcast_keeps_the_width() -> None:
    with pytest.raises(CompileTypeError, match="bitcast keeps the width"):
        result_type(lambda x: x.to(tl.int16, bitcast=True), "fp32")


def test_shapes_broadcast_from_the_last_axis() -> None:
    x, y = np.arange(3, dtype=np.int32), np.arange(6, dtype=np.int32).reshape(2, 3)
    assert (evaluate(operator.add, x, y) == x + y).all()
    column = np.arange(2, dtype=np.int32).reshape(2, 1)
    assert (evaluate(operator.mul, column, x) == column * x).all()
    with pytest.raises(CompileValueError, match=r"\(3,\) and \(2,\) do not broadcast"):
        evaluate(operator.add, x, column.reshape(2))


def test_where_promotes_and_broadcasts() -> None:
    condition = np.array([[True], [False]])
    x, y = np.array([1, 2], np.int32), np.array([0.5, 1.5], np.float16)
    got = evaluate(tl.where, condition, x, y)
    assert got.dtype == np.float16 and got.tolist() == [[1, 2], [0.5, 1.5]]
    both = evaluate(lambda c: tl.where(c, 1.0, 0), condition)
    assert both.dtype == np.float32 and both.tolist() == [[1], [0]]


def test_minimum_maximum_and_clamp_of_nan() -> None:
    x, y = np.array([np.nan, 1, np.nan], np.float32), np.array([2, np.nan, np.nan], np.float32)
    assert np.array_equal(evaluate(tl.minimum, x, y), [2, 1, np.nan], equal_nan=True)
    every = tl.PropagateNan.ALL
    assert np.isnan(evaluate(lambda x, y: tl.maximum(x, y, propagate_nan=every), x, y)).all()
    assert evaluate(lambda x: tl.clamp(x, 0.0, 5.0), x)[:2].tolist() == [0, 1]
    assert np.isnan(evaluate(lambda x: tl.clamp(x, 0.0, 5.0, every), x)[0])


def test_a_runtime_value_is_no_python_condition() -> None:
    with pytest.raises(CompileTypeError, match="known only at run time"):
        trace(lambda x: bool(x > 0), VectorType((4,), tl.float32))
    with pytest.raises(CompileTypeError, match="cannot be unpacked"):
        trace(lambda x: tuple(x), VectorType((4,), tl.float32))


def test_powers() -> None:
    x = np.array([-2, 3], np.int32)
    assert evaluate(lambda x: x**3, x).tolist() == [-8, 27]
    f = np.array([2.0, 9.0], np.float32)
    assert evaluate(lambda x: x**0.5, f)[1] == 3 and evaluate(lambda x: 2.0**x, f)[0] == 4
    assert evaluate(abs, x).tolist() == [2, 3]
    with pytest.raises(CompileTypeError, match="operands of type i32 are not allowed"):
        evaluate(lambda x: x**x, x)
