"""Loads, stores, atomics, block pointers and descriptors: shapes that meet, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileTypeError, CompileValueError
from mytriton.ir.types import PointerType, VectorType
from tests.support.block_functions import interpret_body, text, trace

F32P = PointerType(tl.float32)


def test_a_row_stored_through_a_square_repeats() -> None:
    out = np.zeros((3, 4), np.float32)

    def kernel(out: Any) -> None:
        pointers = out + tl.arange(0, 3)[:, None] * 4 + tl.arange(0, 4)
        tl.store(pointers, tl.arange(0, 4), mask=tl.arange(0, 3)[:, None] > 0)

    interpret_body(kernel, out)
    assert out.tolist() == [[0] * 4, [0, 1, 2, 3], [0, 1, 2, 3]]


def test_pointers_stretch_to_a_larger_mask() -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros((2, 4), np.float32)

    def kernel(x: Any, out: Any) -> None:
        mask = (tl.arange(0, 2) > 0)[:, None] & (tl.arange(0, 4) < 3)
        rows = tl.load(x + tl.arange(0, 4), mask=mask, other=-1)
        tl.store(out + tl.arange(0, 8).reshape(2, 4), rows)

    interpret_body(kernel, x, out)
    assert out.tolist() == [[-1] * 4, [0, 1, 2, -1]]


def test_a_block_through_one_pointer_is_refused() -> None:
    with pytest.raises(CompileValueError, match="one scalar pointer"):
        trace(lambda p: tl.store(p, tl.arange(0, 4)), F32P)
    with pytest.raises(CompileValueError, match="one scalar pointer"):
        trace(lambda p: tl.load(p, tl.arange(0, 4) < 2), F32P)
    with pytest.raises(CompileValueError, match="does not fit"):
        trace(lambda p: tl.store(p + tl.arange(0, 2)[:, None], tl.zeros((2, 4), tl.int32)), F32P)


@pytest.mark.parametrize(
    "body",
    [
        lambda p: tl.load(3),
        lambda p: tl.load(tl.arange(0, 4)),
        lambda p: tl.store(tl.program_id(0), 1),
        lambda p: tl.load(p, mask=tl.program_id(0)),
        lambda p: tl.store(PointerType, 1),
    ],
)
def test_what_is_no_pointer_or_mask(body: Any) -> None:
    with pytest.raises(CompileTypeError):
        trace(body, F32P)


def test_keywords_are_checked() -> None:
    for body in (
        lambda p: tl.load(p, cache_modifier=".xx"),
        lambda p: tl.load(p, eviction_policy="first"),
        lambda p: tl.store(p, 1, cache_modifier=".ca"),
        lambda p: tl.atomic_add(p, 1, sem="strong"),
        lambda p: tl.atomic_add(p, 1, scope="warp"),
        lambda p: tl.load(p, boundary_check=(0,)),
        lambda p: tl.load(p, other=0),
    ):
        with pytest.raises(CompileValueError):
            trace(body, F32P)
    shown = text(
        lambda p: tl.store(
            p, tl.load(p, volatile=True, cache_modifier=".cg"), eviction_policy="evict_first"
        ),
        F32P,
    )
    assert "volatile" in shown and ".cg" in shown and "evict_first" in shown


def test_const_pointers_are_not_stored_through() -> None:
    with pytest.raises(CompileTypeError, match="const"):
        trace(lambda p: tl.store(p, 1), PointerType(tl.float32, const=True))


def test_stores_convert() -> None:
    flags, small = np.zeros(3, bool), np.zeros(3, np.uint8)

    def kernel(flags: Any, small: Any) -> None:
        i = tl.arange(0, 3)
        tl.store(flags + i, i * 256)
        tl.store(small + i, i * 256 + 1.75)

    interpret_body(kernel, flags, small)
    assert flags.tolist() == [False, True, True] and small.tolist() == [1, 255, 255]


def test_a_load_of_a_bool_pointer_is_bool() -> None:
    seen: list[Any] = []
    trace(lambda p: seen.append(tl.load(p + tl.arange(0, 4)).type), PointerType(tl.int1))
    assert seen == [VectorType((4,), tl.int1)]


def test_atomics() -> None:
    x = np.array([5, 5, 5, 0], np.int32)
    old = np.zeros((4, 4), np.int32)

    def kernel(x: Any, old: Any) -> None:
        lane = tl.arange(0, 4)
        tl.store(old + lane, tl.atomic_add(x + lane // 4, 1, sem="relaxed", scope="cta"))
        tl.store(old + 4 + lane, tl.atomic_max(x + 1 + lane * 0, lane * 3, mask=lane < 3))
        tl.store(old + 8 + lane, tl.atomic_xchg(x + lane, lane, mask=lane == 2))
        tl.store(old + 12, tl.atomic_cas(x + 3, 0, 9))

    interpret_body(kernel, x, old)
    assert x.tolist() == [9, 6, 2, 9]
    assert sorted(old[0]) == [5, 6, 7, 8] and old[2, 2] == 5 and old[3, 0] == 0


def test_atomic_load_store_poll() -> None:
    x, out = np.array([3], np.int32), np.zeros(2, np.int32)

    def kernel(x: Any, out: Any) -> None:
        tl.atomic_store(x, tl.atomic_load(x) + 1)
        tl.store(out, tl.atomic_poll(x, 4))

    interpret_body(kernel, x, out)
    assert x[0] == 4 and out[0] == 4


# -- block pointers


def window(x: Any, rows: int, cols: int, offsets: Any, block: Any) -> Any:
    return tl.make_block_ptr(x, (rows, cols), (cols, 1), offsets, block, (1, 0))


@pytest.mark.parametrize("check", [(0, 1), [1, 0], (-1, -2)])
@pytest.mark.parametrize("padding", ["", "zero", "nan"])
def test_block_pointers_pad_and_clip(check: Any, padding: str) -> None:
    x, out = np.arange(40, dtype=np.float32).reshape(5, 8), np.full((5, 8), -1, np.float32)

    def kernel(x: Any, out: Any) -> None:
        source = tl.advance(window(x, 5, 8, (0, 0), (4, 4)), (3, 6))
        block = tl.load(source, boundary_check=check, padding_option=padding)
        tl.store(window(out, 5, 8, (0, 0), (4, 4)), block)
        target = window(out, 5, 8, (0, 0), (4, 4)).advance((3, 6))
        tl.store(target, block, boundary_check=check)

    interpret_body(kernel, x, out)
    pad = np.nan if padding == "nan" else 0
    expected = np.full((4, 4), pad, np.float32)
    expected[:2, :2] = x[3:, 6:]
    after = np.full((5, 8), -1, np.float32)
    after[:4, :4] = expected
    after[3:, 6:] = x[3:, 6:]
    assert np.array_equal(out, after, equal_nan=True)


def test_block_pointers_of_column_major_arrays_and_runtime_sizes() -> None:
    x, out = np.arange(15, dtype=np.int32).reshape(3, 5), np.zeros((4, 4), np.int32)

    def kernel(x: Any, out: Any, n: Any, m: Any) -> None:
        source = tl.make_block_ptr(x, (m, n), (1, m), (1, 0), (4, 4), (0, 1))
        whole = tl.make_block_ptr(out, (4, 4), (4, 1), (0, 0), (4, 4), (1, 0))
        whole.store(source.load(boundary_check=(0, 1)))

    interpret_body(kernel, x, out, 3, 5)
    expected = np.zeros((4, 4), np.int32)
    expected[:, :3] = x.T[1:5]
    assert (out == expected).all()


def test_block_pointer_errors() -> None:
    with pytest.raises(CompileValueError, match="2 values are needed"):
        trace(lambda p: tl.make_block_ptr(p, (4,), (1, 1), (0, 0), (2, 2), (1, 0)), F32P)
    with pytest.raises(CompileValueError, match="no mask or other"):
        trace(lambda p: tl.load(window(p, 4, 4, (0, 0), (2, 2)), mask=True), F32P)
    with pytest.raises(CompileValueError, match="padding_option"):
        trace(lambda p: tl.load(window(p, 4, 4, (0, 0), (2, 2)), padding_option="one"), F32P)
    with pytest.raises(CompileTypeError, match="needs a block pointer"):
        trace(lambda p: tl.advance(p, (0, 1)), F32P)
    with pytest.raises(CompileValueError, match="'nan' needs floats"):
        pointer = PointerType(tl.int32)
        trace(lambda p: tl.load(window(p, 4, 4, (0, 0), (2, 2)), padding_option="nan"), pointer)


# -- descriptors


def test_descriptors() -> None:
    x, out = np.arange(40, dtype=np.float32).reshape(5, 8), np.full((5, 8), -1, np.float32)

    def kernel(x: Any, out: Any) -> None:
        source = tl.make_tensor_descriptor(x, [5, 8], [8, 1], [2, 4])
        target = tl.make_tensor_descriptor(out, [5, 8], [8, 1], [2, 4])
        target.store([4, 6], source.load([4, 6]) + 100)
        tl.store_tensor_descriptor(target, [-1, 0], tl.load_tensor_descriptor(source, [-1, 0]))
        target.atomic_add([2, 2], tl.full((2, 4), 1.0, tl.float32))

    interpret_body(kernel, x, out)
    expected = np.full((5, 8), -1, np.float32)
    expected[4, 6:] = x[4, 6:] + 100
    expected[0, :4] = x[0, :4]
    expected[2:4, 2:6] += 1
    assert (out == expected).all()


def test_descriptors_gather_and_scatter() -> None:
    x, out = np.arange(40, dtype=np.float32).reshape(5, 8), np.zeros((5, 8), np.float32)

    def kernel(x: Any, out: Any) -> None:
        rows = 4 - tl.arange(0, 4) * 2
        block = tl.make_tensor_descriptor(x, [5, 8], [8, 1], [1, 4]).gather(rows, 2)
        tl.make_tensor_descriptor(out, [5, 8], [8, 1], [1, 4]).scatter(block, rows + 1, 6)

    interpret_body(kernel, x, out)
    expected = np.zeros((5, 8), np.float32)
    for row in (2, 0):
        expected[row + 1, 6:] = x[row, 2:4]
    assert (out == expected).all()


def test_static_checks() -> None:
    trace(lambda p: tl.static_assert(tl.constexpr(1) == 1), F32P)
    with pytest.raises(AssertionError, match="static_assert failed: too small"):
        trace(lambda p: tl.static_assert(False, "too small"), F32P)


def test_static_print(capsys: pytest.CaptureFixture[str]) -> None:
    trace(lambda p: tl.static_print("pointer", p, tl.constexpr(3), sep="|"), F32P)
    assert capsys.readouterr().out == "pointer|tensor<ptr<f32>>|3\n"


def test_device_print_and_assert_are_ops() -> None:
    def body(p: Any) -> None:
        tl.device_print("value", tl.load(p), hex=True)
        tl.device_assert(tl.load(p) > 0, "positive", mask=tl.program_id(0) == 0)

    shown = text(body, F32P)
    assert "print" in shown and "assert" in shown and "positive" in shown
