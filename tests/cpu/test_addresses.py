"""Addresses that are contiguous, strided, wrapped or masked: the same memory is touched."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl


@triton.jit
def strided_kernel(x, out, rows, columns, sr, sc, BM: tl.constexpr, BN: tl.constexpr):
    r, c = tl.arange(0, BM)[:, None], tl.arange(0, BN)[None, :]
    mask = (r < rows) & (c < columns)
    tl.store(out + r * BN + c, tl.load(x + r * sr + c * sc, mask, other=-1.0), mask)


@pytest.mark.parametrize("block", [(8, 32), (3, 5), (16, 1), (1, 16), (5, 48)])
@pytest.mark.parametrize("strides", [(64, 1), (1, 64), (70, 3), (0, 1), (1, 0), (0, 0)])
def test_runtime_strides(block, strides):
    x = np.random.default_rng(0).standard_normal(8000).astype(np.float32)
    (rows, columns), out = (max(1, extent - 1) for extent in block), np.zeros(block, np.float32)
    strided_kernel[(1,)](x, out, rows, columns, *strides, BM=block[0], BN=block[1], target="cpu")
    r, c = np.ogrid[:rows, :columns]
    expected = np.zeros(block, np.float32)
    expected[:rows, :columns] = x[r * strides[0] + c * strides[1]]
    np.testing.assert_array_equal(out, expected)


@triton.jit
def window_kernel(x, out, start, low, high, BLOCK: tl.constexpr):
    offsets = start + tl.arange(0, BLOCK)
    mask = (offsets >= low) & (offsets < high)
    value = tl.load(x + offsets, mask, other=7)
    tl.store(out + tl.arange(0, BLOCK), value)


@pytest.mark.parametrize(("start", "low", "high"), [
    (0, 0, 100), (-10, 0, 50), (-100, 0, 100), (60, 0, 100), (-5, -3, 200), (0, 90, 10),
    (2**31 - 50, 0, 100), (2**31 - 1, -(2**31), -(2**31) + 3), (-(2**31), 0, 100),
])  # fmt: skip
@pytest.mark.parametrize("block", [64, 100])
def test_masks_with_two_ends_and_offsets_that_wrap(start, low, high, block):
    memory = np.arange(500, dtype=np.int32)
    out = np.zeros(block, np.int32)
    offsets = (start + np.arange(block)).astype(np.int64)
    wrapped = (offsets + 2**31) % 2**32 - 2**31
    inside = (wrapped >= low) & (wrapped < high)
    place = 200 + np.where(inside, wrapped, 0)
    if np.any((place < 0) | (place >= memory.size)):
        pytest.skip("this window would leave the array")
    window_kernel[(1,)](memory[200:], out, start, low, high, BLOCK=block, target="cpu")
    np.testing.assert_array_equal(out, np.where(inside, memory[place], 7))


@triton.jit
def modulo_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % n
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.load(x + offsets))


@pytest.mark.parametrize("n", [1, 7, 64, 100, 256])
def test_offsets_that_go_round(n):
    x, out = np.arange(n, dtype=np.float32), np.zeros(256, np.float32)
    modulo_kernel[(4,)](x, out, n, BLOCK=64, target="cpu")
    np.testing.assert_array_equal(out, x[np.arange(256) % n])


@triton.jit
def bool_kernel(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) ^ True)


def test_a_bool_in_memory_is_any_byte_but_zero():
    x = np.array([0, 1, 2, 128, 255] * 13, np.uint8)
    out = np.zeros(65, np.uint8)
    bool_kernel[(1,)](x.view(np.bool_), out.view(np.bool_), BLOCK=65, target="cpu")
    np.testing.assert_array_equal(out, (x == 0).astype(np.uint8))


@triton.jit
def pointers_kernel(table, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    places = tl.load(table + offsets).to(tl.pointer_type(tl.float32))
    tl.store(out + offsets, tl.load(places) + tl.load(places + 1))


def test_addresses_out_of_memory():
    x, order = np.arange(100, dtype=np.float32), np.random.default_rng(0).permutation(90)[:64]
    table = (x.ctypes.data + 4 * order).astype(np.int64)
    out = np.zeros(64, np.float32)
    pointers_kernel[(1,)](table, out, BLOCK=64, target="cpu")
    np.testing.assert_array_equal(out, 2 * order + 1)


@triton.jit
def moving_kernel(x, out, turns, step, BLOCK: tl.constexpr):
    pointers, counts = x + tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(turns):
        total += tl.load(pointers) * counts
        pointers += step
        counts += 3
    tl.store(out + tl.arange(0, BLOCK), total + tl.load(pointers))


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_blocks_that_a_loop_moves(turns):
    x, out = np.arange(400, dtype=np.float32), np.zeros(48, np.float32)
    moving_kernel[(1,)](x, out, turns, 9, BLOCK=48, target="cpu")
    lane = np.arange(48)
    expected = sum((x[lane + 9 * t] * (lane + 3 * t) for t in range(turns)), x[lane + 9 * turns])
    np.testing.assert_array_equal(out, expected)


@triton.jit
def alias_kernel(table, x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    p = tl.load(table).to(tl.pointer_type(tl.float32)) + i
    before = tl.load(p)
    tl.store(x + i, before + 1)
    tl.store(out + i, tl.load(p))


@triton.jit
def scalar_alias_kernel(table, x, out, B: tl.constexpr):
    p = tl.load(table).to(tl.pointer_type(tl.float32))
    before = tl.load(p)
    tl.store(x, before + 1)
    tl.store(out, tl.load(p))


@triton.jit
def number_alias_kernel(address: tl.int64, x, out, B: tl.constexpr):
    p = address.to(tl.pointer_type(tl.float32))
    before = tl.load(p)
    tl.store(x, before + 1)
    tl.store(out, tl.load(p))


@pytest.mark.parametrize("target", ["interpret", "cpu"])
@pytest.mark.parametrize("kernel", [alias_kernel, scalar_alias_kernel, number_alias_kernel])
def test_an_address_from_elsewhere_may_be_an_arguments(kernel, target):
    x, out = np.arange(5, 37, dtype=np.float32), np.zeros(32, np.float32)
    expected = x + 1
    table = x.ctypes.data if kernel is number_alias_kernel else np.array([x.ctypes.data])
    kernel[(1,)](table, x, out, B=32, target=target)
    count = 32 if kernel is alias_kernel else 1
    np.testing.assert_array_equal(out[:count], expected[:count])
    np.testing.assert_array_equal(x[:count], expected[:count])


@triton.jit
def names_kernel(dummy, größe, 出力, arena, job, never, B: tl.constexpr):
    start, entry = tl.arange(0, B), tl.load(dummy)
    tl.store(出力 + start, entry + start, mask=start < größe)
    tl.store(arena, entry + größe, mask=größe > job)
    tl.store(dummy, 77, mask=größe > 100)
    tl.store(never, 78, mask=größe > 100)


@pytest.mark.parametrize("target", ["interpret", "cpu"])
def test_parameters_may_have_any_name(target):
    dummy, out, arena, never = (np.full(16, 3, np.int32) for _ in range(4))
    names_kernel[(1,)](dummy, 5, out, arena, 4, never, B=16, target=target)
    assert dummy.tolist() == never.tolist() == [3] * 16
    assert out.tolist() == [3, 4, 5, 6, 7] + [3] * 11
    assert arena.tolist() == [8] + [3] * 15


@triton.jit
def größer(x, out, B: tl.constexpr):
    é = tl.arange(0, B)
    tl.store(out + é, tl.load(x + é) + 1)


def test_a_kernel_may_have_any_name():
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    größer[(1,)](x, out, B=16, target="cpu")
    np.testing.assert_array_equal(out, x + 1)
