"""Types and promotion, rule by rule; docs/semantics.md says which rule is which test.

Elsewhere: types of arguments in tests/runtime/test_seed.py and test_launch.py, every cast in
tests/targets/test_numbers.py and tests/properties/test_casts.py.
"""

from __future__ import annotations

import operator

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError, CompileTypeError, CompileValueError
from tests.support.backends import run_everywhere
from tests.support.block_functions import check_everywhere, check_value, type_of
from tests.support.dtypes import DTYPES

KINDS = {"b": 0, "i": 1, "u": 1}


def kind(name):
    return KINDS.get(DTYPES[name].kind, 2)


def promoted(left, right):
    """The rule of two tensors, said a second time."""
    if kind(left) != kind(right):
        higher = left if kind(left) > kind(right) else right
        return "fp32" if higher == "bf16" else higher
    a, b = DTYPES[left], DTYPES[right]
    if kind(left) < 2:
        if a.itemsize != b.itemsize:
            return left if a.itemsize > b.itemsize else right
        return left if a.kind == "u" else right
    for wide in ("fp64", "fp32"):
        if wide in (left, right):
            return wide
    if left == right:
        return left
    return "fp16" if "fp16" in (left, right) or "bf16" not in (left, right) else "fp32"


@pytest.mark.parametrize("left", DTYPES)
def test_two_tensors_meet_in_the_higher_kind_and_the_wider_type(left):
    for right in DTYPES:
        meet = promoted(left, right)
        x = np.array([0, 1, 1, 0]).astype(DTYPES[left])
        y = np.array([1, 0, 1, 0]).astype(DTYPES[right])
        wide = [a.astype(DTYPES[meet]) for a in (x, y)]
        check_everywhere(
            lambda x, y: tl.where(x < y, x, y), lambda *_, w=wide: np.minimum(*w), [x, y]
        )
        check_everywhere(
            lambda x, y: (x == y) | (x > y), lambda x, y: x.astype(int) >= y.astype(int), [x, y]
        )


@pytest.mark.parametrize("name", ["fp16", "bf16", "int8", "uint8", "fp32", "int64"])
def test_a_number_takes_the_tensors_type(name):
    x = np.array([1, 2, 3, 100]).astype(DTYPES[name])
    check_value(lambda x: x * 2, x * x.dtype.type(2), x)
    check_value(lambda x: 2 + x, x + x.dtype.type(2), x)


def test_a_float_number_lifts_ints_to_f32():
    x = np.array([1, 2, 2**24 + 1, -5], np.int64)
    check_value(lambda x: x * 0.5, x.astype(np.float32) * np.float32(0.5), x)


def test_a_half_times_two_overflows_as_a_half():
    x = np.array([60000, 1], np.float16)
    check_value(lambda x: x * 2, np.array([np.inf, 2], np.float16), x)
    check_value(lambda x: x * 2.0, np.array([np.inf, 2], np.float16), x)


def test_a_number_that_does_not_fit_is_an_error_that_names_it():
    x = np.zeros(4, np.uint8)
    with pytest.raises(CompileValueError, match="300"):
        type_of(lambda x: x + 300, x)
    with pytest.raises(CompileValueError, match="-1"):
        type_of(lambda x: x == -1, x)


def test_division_of_ints_is_true_and_in_f32():
    x, y = np.array([1, -7, 5, 2**24 + 1], np.int32), np.array([3, 2, 0, 1], np.int32)
    with np.errstate(divide="ignore"):
        check_value(lambda x, y: x / y, x.astype(np.float32) / y.astype(np.float32), x, y)


def test_whole_division_and_remainder_are_those_of_c():
    x, y = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    check_value(lambda x, y: x // y, np.array([3, -3, -3, 3], np.int32), x, y)
    check_value(lambda x, y: x % y, np.array([1, -1, 1, -1], np.int32), x, y)


def test_remainder_of_floats_is_fmod():
    x, y = np.array([5.5, -5.5, 1, 0.3], np.float32), np.array([2, 2, np.inf, 0.1], np.float32)
    check_value(lambda x, y: x % y, np.fmod(x, y), x, y)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_division_of_small_floats_is_in_f32(dtype):
    x, y = np.array([1, 2, -3, 7]).astype(dtype), np.array([3, 7, 5, 0.5]).astype(dtype)
    check_value(lambda x, y: x / y, x.astype(np.float32) / y.astype(np.float32), x, y)


def test_right_shifts_are_arithmetic_of_signed_and_logical_of_unsigned():
    x, n = np.array([-8, -1, 2**31 - 1, 5], np.int32), np.array([1, 31, 30, 0], np.int32)
    check_value(lambda x, n: x >> n, x >> n, x, n)
    u = x.view(np.uint32)
    check_value(lambda u, n: u >> n, u >> n.astype(np.uint32), u, n)
    assert type_of(lambda u, n: u >> n, u, n) == "uint32"


SHIFTED = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("left", SHIFTED)
def test_shifts_promote_as_and_does(left):
    """The sign bit of the left operand's own type decides what `>>` shifts in."""
    for right in SHIFTED:
        a, b = DTYPES[left], DTYPES[right]
        meet = DTYPES[promoted(left, right)]
        bits = 8 * meet.itemsize
        x = np.array([1, 3, 100, 0, 0], a)
        x[3:] = np.iinfo(a).max, np.iinfo(a).min
        n = np.array([0, 1, 2, 3, 7], b)
        wide = [int(v) for v in x]
        wanted = [(v << int(k)) % 2**bits for v, k in zip(wide, n)]
        check_value(lambda x, n: x << n, np.array(wanted, f"u{meet.itemsize}").view(meet), x, n)
        wanted = [(v >> int(k)) % 2**bits for v, k in zip(wide, n)]
        check_value(lambda x, n: x >> n, np.array(wanted, f"u{meet.itemsize}").view(meet), x, n)


def test_a_count_past_the_width_shifts_all_out():
    x, n = np.array([-128, 127, 1, -1], np.int32), np.array([256, 32, 257, -1], np.int32)
    check_value(lambda x, n: x >> n, np.array([-1, 0, 0, -1], np.int32), x, n)
    check_value(lambda x, n: x << n, np.zeros(4, np.int32), x, n)


def test_bools_shift_and_divide_as_bools():
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    check_value(lambda a, b: a << b, a & ~b, a, b)
    check_value(lambda a, b: a >> b, a & ~b, a, b)
    ones = np.ones(4, bool)
    check_value(lambda a, b: a // b, a, a, ones)
    check_value(lambda a, b: a % b, np.zeros(4, bool), a, ones)
    check_value(lambda a: abs(a), a, a)


def test_bools_count_modulo_two_and_are_ordered():
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    check_value(lambda a, b: a + b, a ^ b, a, b)
    check_value(lambda a, b: a * b, a & b, a, b)
    check_value(lambda a, b: a < b, ~a & b, a, b)


@triton.jit
def to_bools_kernel(x, out, cast):
    lanes = tl.arange(0, 8)
    value = tl.load(x + lanes)
    tl.store(out + lanes, value)
    tl.store(cast + lanes, value.to(tl.int1).to(tl.int32))


def test_an_int_as_a_bool_is_whether_it_is_zero():
    x = np.array([0, 1, 2, 256, -1, 65536, 0, 512], np.int32)
    run_everywhere(
        to_bools_kernel, (1,), x, np.zeros(8, bool), np.zeros(8, np.int32),
        expected={"out": x != 0, "cast": x != 0},
    )  # fmt: skip


@triton.jit
def wrapping_kernel(out, stride):
    pid = tl.program_id(0)
    tl.store(out + pid, pid * stride)
    small = (pid + 100).to(tl.int8)
    tl.store(out + 4 + pid, small + small)


def test_integer_arithmetic_wraps_at_its_width():
    products = [(p * (2**31 - 1) + 2**31) % 2**32 - 2**31 for p in range(4)]
    small = [(2 * (p + 100) + 128) % 256 - 128 for p in range(4)]
    run_everywhere(
        wrapping_kernel, (4,), np.zeros(8, np.int32), 2**31 - 1,
        expected={"out": products + small},
    )  # fmt: skip


@triton.jit
def arguments_kernel(out, small, large, huge, half, flag, nothing):
    tl.static_assert(small.dtype == tl.int32 and large.dtype == tl.int64)
    tl.static_assert(huge.dtype == tl.uint64 and half.dtype == tl.float32)
    tl.static_assert(flag.dtype == tl.int1 and nothing is None)
    tl.store(out, small + 0)
    tl.store(out + 1, large + 1)
    tl.store(out + 2, (huge - 2**63).to(tl.int64))
    tl.store(out + 3, (half.to(tl.float64) * 4).to(tl.int64))
    tl.store(out + 4, flag)


def test_arguments_have_the_least_type_that_holds_them():
    run_everywhere(
        arguments_kernel, (1,), np.zeros(5, np.int64), -5, 2**31, 2**63 + 7, 0.25, True, None,
        expected={"out": [-5, 2**31 + 1, 7, 1, 1]},
    )  # fmt: skip


@triton.jit
def annotated_kernel(out, n: tl.int64, x: tl.float16):
    tl.static_assert(n.dtype == tl.int64 and x.dtype == tl.float16)
    tl.store(out, n * 2**30)
    tl.store(out + 1, (x.to(tl.float32) * 4096).to(tl.int64))


def test_an_annotation_decides():
    run_everywhere(
        annotated_kernel, (1,), np.zeros(2, np.int64), 8, 0.1,
        expected={"out": [2**33, int(np.float32(np.float16(0.1)) * 4096)]},
    )  # fmt: skip


@triton.jit
def loop_variable_kernel(out, scale, n):
    for i in range(n):
        tl.store(out + i, i.to(tl.float32) * scale.to(tl.float32))


def test_loop_variables_and_float_arguments_are_tensors():
    run_everywhere(
        loop_variable_kernel, (1,), np.zeros(4, np.float32), 1.5, 4,
        expected={"out": [0, 1.5, 3, 4.5]},
    )  # fmt: skip


def test_and_or_not_of_blocks_are_of_each_element():
    x = np.arange(8, dtype=np.int32)

    def body(x):
        return (x > 1).logical_and(x), (x > 5).logical_or(x == 0), (x > 3).logical_not()

    check_value(body, [(x > 1) & (x != 0), (x > 5) | (x == 0), x <= 3], x)


@triton.jit
def words_kernel(x, out, p):
    lanes = tl.arange(0, 8)
    value = tl.load(x + lanes)
    keep = (value > 1 and not value == 4) or value == 0
    inside = 1 < value < 6
    if p is not None and tl.load(p) > 0:  # p is None: its load is never written
        keep = value < 0
    tl.store(out + lanes, keep.to(tl.int32) + 2 * inside.to(tl.int32))


def test_words_and_chains_mean_both_and_short_circuit_over_python_values():
    x = np.arange(8, dtype=np.int32)
    keep, inside = ((x > 1) & (x != 4)) | (x == 0), (x > 1) & (x < 6)
    run_everywhere(
        words_kernel, (1,), x, np.zeros(8, np.int32), None, expected={"out": keep + 2 * inside}
    )
    run_everywhere(
        words_kernel, (1,), x, np.zeros(8, np.int32), np.array([1], np.int32),
        expected={"out": 2 * inside},
    )  # fmt: skip


@triton.jit
def if_block_kernel(x):
    if tl.load(x + tl.arange(0, 8)) > 0:
        tl.store(x, 1)


def test_an_if_on_a_block_is_an_error():
    with pytest.raises(CompileError, match="block"):
        if_block_kernel[(1,)](np.zeros(8, np.int32), target="interpret")


def test_whole_division_of_mixed_signs_is_refused():
    x, y = np.zeros(4, np.int32), np.ones(4, np.uint32)
    for symbol in (operator.floordiv, operator.mod):
        with pytest.raises(CompileTypeError, match="signedness"):
            type_of(symbol, x, y)
