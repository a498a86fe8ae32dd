"""Loads, stores and atomics: which lanes touch memory, in which order, and what is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mytriton.errors import KernelMemoryError
from mytriton.ir.build import emit
from mytriton.ir.fold import constant
from mytriton.ir.numeric import held_dtype
from mytriton.ir.types import BF16, BOOL, BY_IR_NAME, F32, I8, I32, I64, PointerType
from mytriton.targets.interpret import run
from mytriton.targets.memory import Buffer
from tests.support.build import at, kernel, launch, ptr, several
from tests.support.memory import buffer


def copy_kernel(element: str, count: int, shift: int = 0) -> Any:
    """out[i] = x[i + shift] for i < n of `count` lanes."""

    def body(x: Any, out: Any, n: Any) -> None:
        mask = emit("cmp_lt", emit("arange", start=0, end=count), n)
        value = emit("load", at(x, shift, shift + count), mask, None)
        several("store", at(out, 0, count), value, mask)

    return kernel(body, x=ptr(element), out=ptr(element), n=I32)


@pytest.mark.parametrize("element", ["bool", "i8", "u16", "i32", "u64", "f16", "f32", "f64"])
@pytest.mark.parametrize("n", [0, 1, 7, 8])
def test_copies_of_every_width(element: str, n: int) -> None:
    dtype = held_dtype(BY_IR_NAME[element]) if element != "f16" else np.dtype(np.float16)
    x = (np.arange(8) * 3 % 5).astype(dtype)
    out = np.full(8, 1, dtype)
    launch(copy_kernel(element, 8), x, out, n)
    assert out.tolist() == [*x[:n].tolist(), *[1] * (8 - n)]


def test_masked_lanes_give_other_or_zero_and_are_never_looked_at() -> None:
    def body(x: Any, out: Any) -> None:
        lanes = emit("arange", start=0, end=4)
        mask = emit("cmp_lt", lanes, constant(1, I32))
        far = emit("addptr", x, emit("mul", lanes, constant(1 << 28, I32)))
        several("store", at(out, 0, 4), emit("load", far, mask, None), None)
        several("store", at(out, 4, 8), emit("load", far, mask, constant(5, I32)), None)
        several("store", emit("addptr", out, emit("mul", lanes, lanes)), lanes, mask)

    out = np.full(8, 9, np.int32)
    launch(kernel(body, x=ptr("i32"), out=ptr("i32")), np.array([7], np.int32), out)
    assert out.tolist() == [0, 0, 0, 0, 7, 5, 5, 5]


def test_an_access_outside_names_op_line_lane_program_and_element() -> None:
    x, out = np.zeros(100, np.float32), np.zeros(108, np.float32)
    with pytest.raises(KernelMemoryError) as caught:
        launch(copy_kernel("f32", 8, 97), x, out, 6)
    text = str(caught.value)
    assert text.startswith("load: lane 3 of program (0, 0, 0) reads 4 bytes at element 100 of `x`")
    assert "(100 elements of f32)" in text
    assert "kernel.py:7" in text


@pytest.mark.parametrize(("shift", "element"), [(-5, -5), (3, 1)])
def test_the_nearest_buffer_is_named(shift: int, element: int) -> None:
    def body(x: Any) -> None:
        several("store", at(x, shift, shift + 2), constant(1, I8), None)

    memory = np.zeros(64, np.uint8)
    x = memory[30:33]
    with pytest.raises(KernelMemoryError, match=rf"writes 1 bytes at element {shift} of `x`"):
        launch(kernel(body, x=ptr("i8")), x)
    assert not memory.any()


def test_a_null_pointer_is_named_by_its_address() -> None:
    with pytest.raises(KernelMemoryError, match="the address 0x8, which is in no array"):
        run(copy_kernel("i32", 1, 2), [Buffer(ptr("i32"), 0, None, None)] * 2 + [1], (1, 1, 1))


def test_a_read_only_array_is_not_written() -> None:
    x = np.zeros(4, np.int32)
    arguments = [buffer(x, ptr("i32")), buffer(x + 1, ptr("i32"), writable=False), 4]
    with pytest.raises(KernelMemoryError, match="read-only"):
        run(copy_kernel("i32", 4), arguments, (1, 1, 1))


def test_bytes_before_the_first_element_belong_to_the_array() -> None:
    x, out = np.arange(10, dtype=np.int32), np.zeros(5, np.int32)
    start = Buffer(ptr("i32"), x.ctypes.data + 20, 20, x, before=20)
    run(copy_kernel("i32", 5, -5), [start, buffer(out, ptr("i32")), 5], (1, 1, 1))
    assert out.tolist() == [0, 1, 2, 3, 4]


def test_unaligned_elements() -> None:
    memory, out = np.arange(64, dtype=np.uint8), np.zeros(4, np.int64)
    launch(copy_kernel("i64", 4), memory[3:35], out, 4)
    assert out.tolist() == memory[3:35].view(np.int64).tolist()


def test_elements_at_mixed_alignments_and_in_two_arrays() -> None:
    def body(x: Any, y: Any, out: Any) -> None:
        lanes = emit("arange", start=0, end=4)
        odd = emit("cmp_eq", emit("mod", lanes, constant(2, I32)), constant(1, I32))
        bases = [emit("broadcast", pointer, shape=(4,)) for pointer in (y, x)]
        place = emit("addptr", emit("select", odd, *bases), lanes)
        pointers = emit("bitcast", place, to=ptr("i16"))
        several("store", at(out, 0, 4), emit("load", pointers, None, None), None)

    x, y = np.arange(8, dtype=np.uint8), np.arange(100, 108, dtype=np.uint8)
    out = np.zeros(4, np.int16)
    launch(kernel(body, x=ptr("u8"), y=ptr("u8"), out=ptr("i16")), x, y, out)
    assert [(value & 255, value >> 8) for value in out.tolist()] == [
        (0, 1),
        (101, 102),
        (2, 3),
        (103, 104),
    ]


def test_of_repeated_addresses_in_one_store_the_last_lane_wins() -> None:
    def body(out: Any) -> None:
        lanes = emit("arange", start=0, end=9)
        place = emit("addptr", out, emit("mod", lanes, constant(2, I32)))
        several("store", place, lanes, emit("cmp_ne", lanes, constant(8, I32)))

    out = np.zeros(2, np.int32)
    launch(kernel(body, out=ptr("i32")), out)
    assert out.tolist() == [6, 7]


def test_a_store_sees_none_of_its_own_statements_writes() -> None:
    """x[1:5] = x[0:4] shifts by one, though the arguments overlap."""
    x = np.arange(5, dtype=np.int32)
    launch(copy_kernel("i32", 4), x[:4], x[1:], 4)
    assert x.tolist() == [0, 0, 1, 2, 3]


def test_offsets_past_two_gigabytes() -> None:
    """The array is 3 GiB of untouched pages, so only the ones written exist."""

    def body(x: Any, n: Any) -> None:
        far = emit("addptr", x, n)
        several("store", at(far, -2, 2), constant(7, I8), None)
        several("store", x, emit("load", far, None, None), None)

    x = np.empty(3 << 30, np.uint8)
    x[0] = 0
    launch(kernel(body, x=PointerType(I8), n=I64), x, (1 << 31) + 5)
    assert x[0] == 7
    assert x[(1 << 31) + 3 : (1 << 31) + 7].tolist() == [7, 7, 7, 7]


def test_pointers_loaded_from_memory_lead_to_other_arrays() -> None:
    def body(table: Any, out: Any) -> None:
        pointers = emit("load", at(table, 0, 3), None, None)
        second = emit("addptr", pointers, constant(1, I32))
        several("store", at(out, 0, 3), emit("load", second, None, None), None)

    arrays = [np.array([n, n * 10], np.int32) for n in (3, 4, 5)]
    table = np.array([array.ctypes.data for array in arrays], np.int64)
    out = np.zeros(3, np.int32)
    launch(kernel(body, table=PointerType(ptr("i32")), out=ptr("i32")), table, out)
    assert out.tolist() == [30, 40, 50]


# -- atomics


def atomic_kernel(kind: str, element: str, lanes: int, places: int) -> Any:
    """old[i] = what atomic `kind` of value[i] at x[i % places] finds, where mask[i]."""

    def body(x: Any, value: Any, mask: Any, old: Any) -> None:
        index = emit("mod", emit("arange", start=0, end=lanes), constant(places, I32))
        given = emit("load", at(value, 0, lanes), None, None)
        active = emit("load", at(mask, 0, lanes), None, None)
        found = emit("atomic", emit("addptr", x, index), given, active, kind=kind)
        several("store", at(old, 0, lanes), found, None)

    pointers = {name: ptr(element) for name in ("x", "value", "old")}
    return kernel(
        body, x=pointers["x"], value=pointers["value"], mask=ptr("bool"), old=ptr(element)
    )


ATOMIC_REFERENCE = {
    "add": lambda a, b: a + b,
    "max": np.maximum,
    "min": np.minimum,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "xchg": lambda a, b: b,
}


@pytest.mark.parametrize("places", [1, 3, 20])
@pytest.mark.parametrize(
    ("kind", "element", "dtype"),
    [(kind, e, d) for kind in ATOMIC_REFERENCE for e, d in (("i32", "i4"), ("u64", "u8"))]
    + [(kind, e, d) for kind in ("add", "max", "xchg") for e, d in (("f32", "f4"), ("f16", "f2"))]
    + [("add", "bf16", ml_dtypes.bfloat16), ("add", "i8", "i1"), ("min", "f64", "f8")],
)
def test_atomics_act_lane_after_lane(kind: str, element: str, dtype: Any, places: int) -> None:
    dtype = np.dtype(dtype)
    random = np.random.default_rng(places)
    x = random.integers(0, 100, places).astype(dtype)
    value = random.integers(0, 300, 20).astype(np.int64).astype(dtype)
    mask = random.random(20) < 0.8
    old, expected_old, expected = np.zeros(20, dtype), np.zeros(20, dtype), x.copy()
    with np.errstate(over="ignore"):
        for lane in np.flatnonzero(mask):
            expected_old[lane] = expected[lane % places]
            made = ATOMIC_REFERENCE[kind](expected[lane % places], value[lane])
            expected[lane % places] = made
    launch(atomic_kernel(kind, element, 20, places), x, value, mask, old)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(old, expected_old)


def test_float_atomics_round_after_every_lane() -> None:
    x = np.array([2048], np.float16)
    value, old = np.ones(8, np.float16), np.zeros(8, np.float16)
    launch(atomic_kernel("add", "f16", 8, 1), x, value, np.ones(8, bool), old)
    assert x[0] == 2048


def cas_kernel(element: str, lanes: int) -> Any:
    def body(x: Any, expected: Any, value: Any, old: Any) -> None:
        index = emit("mod", emit("arange", start=0, end=lanes), constant(2, I32))
        given = [emit("load", at(p, 0, lanes), None, None) for p in (expected, value)]
        found = emit("atomic_cas", emit("addptr", x, index), *given)
        several("store", at(old, 0, lanes), found, None)

    return kernel(body, **dict.fromkeys(("x", "expected", "value", "old"), ptr(element)))


def test_compare_and_swap_of_repeated_addresses() -> None:
    x, old = np.array([0, 5], np.int32), np.zeros(6, np.int32)
    expected = np.array([0, 0, 1, 5, 1, 6], np.int32)
    value = np.array([1, 9, 2, 6, 3, 7], np.int32)
    launch(cas_kernel("i32", 6), x, expected, value, old)
    assert old.tolist() == [0, 5, 1, 5, 2, 6]
    assert x.tolist() == [2, 7]


def test_compare_and_swap_compares_bits() -> None:
    x = np.array([-0.0, np.nan], np.float32)
    old = np.zeros(2, np.float32)
    launch(cas_kernel("f32", 2), x, np.array([0.0, np.nan], np.float32), np.ones(2, "f4"), old)
    assert np.signbit(x[0]) and x[1] == 1


def test_small_floats_are_numbers_in_the_kernel() -> None:
    def body(x: Any, out: Any) -> None:
        value = emit("load", at(x, 0, 4), None, None)
        several("store", at(out, 0, 4), emit("add", value, value), None)

    x = np.array([1.0, -0.5, np.inf, 3.390625], ml_dtypes.bfloat16)
    out = np.zeros(4, ml_dtypes.bfloat16)
    launch(kernel(body, x=PointerType(BF16), out=PointerType(BF16)), x, out)
    np.testing.assert_array_equal(out, x + x)


def test_any_byte_but_zero_is_true() -> None:
    def body(x: Any, out: Any) -> None:
        truth = emit("load", at(x, 0, 3), None, None)
        several("store", at(out, 0, 3), emit("cast", truth, to=F32), None)

    x, out = np.array([0, 2, 255], np.uint8), np.zeros(3, np.float32)
    launch(kernel(body, x=PointerType(BOOL), out=ptr("f32")), x, out)
    assert out.tolist() == [0, 1, 1]


def test_bytes_of_a_value() -> None:
    def body(out: Any) -> None:
        bits = emit("bitcast", constant(1.5, F32), to=I32)
        several("store", emit("addptr", out, constant(0, I64)), bits, constant(True, BOOL))

    out = np.zeros(1, np.int32)
    launch(kernel(body, out=ptr("i32")), out)
    assert out[0] == np.float32(1.5).view(np.int32)
