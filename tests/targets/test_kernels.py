"""The kernels everybody writes first, at odd sizes, on every target."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import available, blocks, launch, run_everywhere

SIZES = [1, 2, 255, 256, 257, 1000]


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n

    x_values = tl.load(x + offsets, mask=mask, other=0.0)
    y_values = tl.load(y + offsets, mask=mask, other=0.0)

    tl.store(out + offsets, x_values + y_values, mask=mask)


@pytest.mark.parametrize("n", SIZES)
def test_add(n):
    x, y, out = numbers(3, n)
    run_everywhere(
        add_kernel, blocks(n, 256), x, y, out, n, BLOCK=256, expected={"out": x + y}, signs=True
    )


@pytest.mark.parametrize("grid", [(1,), (4,), lambda meta: (meta["BLOCK"] // 64,)])
def test_programs_past_the_end_do_nothing(grid):
    x, y, out = numbers(3, 100)
    run_everywhere(add_kernel, grid, x, y, out, 100, BLOCK=128, expected={"out": x + y})


@pytest.mark.parametrize("n", [0, -1])
def test_an_empty_mask_touches_nothing(n):
    x, y, out = numbers(3, 4)
    run_everywhere(add_kernel, (2,), x, y, out, n, BLOCK=256, expected={"out": out})


@pytest.mark.parametrize("block", [1, 2, 3, 100, 1000])
def test_blocks_of_any_width(block):
    x, y, out = numbers(3, 777)
    run_everywhere(
        add_kernel, blocks(777, block), x, y, out, 777, BLOCK=block, expected={"out": x + y}
    )


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask)
    tl.store(out + offsets, tl.maximum(value, 0.0), mask=mask)


@pytest.mark.parametrize("n", SIZES)
def test_relu(n):
    x = numbers(n)
    x[0] = np.nan  # Triton's rule: the other operand
    expected = np.fmax(x, np.float32(0))
    run_everywhere(
        relu_kernel, blocks(n, 256), x, np.ones_like(x), n, BLOCK=256, expected={"out": expected}
    )


@triton.jit
def sigmoid_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask)
    tl.store(out + offsets, 1.0 / (1.0 + tl.exp(-value)), mask=mask)


@pytest.mark.parametrize("n", SIZES)
def test_sigmoid(n):
    x = numbers(n) * 30
    x[0] = -200.0
    expected = 1 / (1 + np.exp(-x.astype(np.float64)))
    run_everywhere(
        sigmoid_kernel,
        blocks(n, 256),
        x,
        np.zeros_like(x),
        n,
        BLOCK=256,
        expected={"out": expected},
        rtol=1e-6,
        atol=1e-38,
    )


@triton.jit
def softmax_kernel(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    mask = lanes < columns
    value = tl.load(x + row * stride + lanes, mask=mask, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * stride + lanes, power / tl.sum(power, axis=0), mask=mask)


@pytest.mark.parametrize(("rows", "columns", "block"), [(1, 1, 1), (3, 5, 8), (7, 781, 1024)])
def test_softmax(rows, columns, block):
    x = numbers(rows, columns) * 10
    power = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    run_everywhere(
        softmax_kernel,
        (rows,),
        x,
        np.zeros_like(x),
        columns,
        columns,
        BLOCK=block,
        expected={"out": power / power.sum(1, keepdims=True)},
        rtol=1e-5,
        atol=1e-37,
    )


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * columns
    out += row * columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        lanes = start + tl.arange(0, BLOCK)
        total += tl.load(x + lanes, mask=lanes < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        lanes = start + tl.arange(0, BLOCK)
        value = tl.load(x + lanes, mask=lanes < columns, other=0.0).to(tl.float32)
        value = tl.where(lanes < columns, value - mean, 0.0)
        square += value * value
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        lanes = start + tl.arange(0, BLOCK)
        mask = lanes < columns
        value = tl.load(x + lanes, mask=mask, other=0.0).to(tl.float32)
        w, b = tl.load(weight + lanes, mask=mask), tl.load(bias + lanes, mask=mask)
        tl.store(out + lanes, (value - mean) * scale * w + b, mask=mask)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 100), (2, 300)])
def test_layer_norm(rows, columns, dtype):
    x = numbers(rows, columns).astype(dtype)
    weight, bias = numbers(2, columns, seed=1)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(1, keepdims=True)
    scale = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    run_everywhere(
        layer_norm_kernel,
        (rows,),
        x,
        weight,
        bias,
        np.zeros_like(x),
        columns,
        1e-5,
        BLOCK=128,
        expected={"out": centred * scale * weight + bias},
        rtol=2e-3 if dtype == np.float16 else 2e-5,
        atol=2e-3 if dtype == np.float16 else 2e-5,
    )


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_pointers = a + rows[:, None] * K + inner[None, :]
    b_pointers = b + inner[:, None] * N + columns[None, :]
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        a_mask = (rows[:, None] < M) & (inner[None, :] < left)
        b_mask = (inner[:, None] < left) & (columns[None, :] < N)
        x = tl.load(a_pointers, mask=a_mask, other=0)
        y = tl.load(b_pointers, mask=b_mask, other=0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
        a_pointers += BK
        b_pointers += BK * N
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], acc.to(c.dtype.element_ty), mask=mask)


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (16, 16, 16), (33, 17, 50)])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-5), (np.float16, 1e-3), (np.int8, 0)])
def test_matmul(m, n, k, dtype, rtol):
    random = np.random.default_rng(m)
    ints = dtype == np.int8
    a, b = (
        random.integers(-128, 128, shape).astype(dtype)
        if ints
        else random.standard_normal(shape).astype(dtype)
        for shape in ((m, k), (k, n))
    )
    c = np.zeros((m, n), np.int32 if ints else dtype)
    wide = np.int64 if ints else np.float64
    run_everywhere(
        matmul_kernel,
        (triton.cdiv(m, 16), triton.cdiv(n, 32)),
        a,
        b,
        c,
        m,
        n,
        k,
        BM=16,
        BN=32,
        BK=16,
        ACC=tl.int32 if ints else tl.float32,
        expected={"c": a.astype(wide) @ b.astype(wide)},
        rtol=rtol,
        atol=rtol * 4,
    )


LANE_BY_LANE = ["cudasim"]
"""Where each lane is a thread of its own, which may store before another has loaded."""


@triton.jit
def shift_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + 1, mask=mask)


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 3])
def test_overlapping_arguments_read_before_they_write(shift):
    """In one program all loads of a statement come before its stores: x[i + shift] = x[i] + 1."""
    base = np.arange(100, dtype=np.int32)
    source, target = slice(10, 74), slice(10 + shift, 74 + shift)
    expected = base.copy()
    expected[target] = base[source] + 1
    for name in available(skip=LANE_BY_LANE):
        memory = base.copy()
        launch(name, shift_kernel, (1,), memory[source], memory[target], 64, BLOCK=64)
        np.testing.assert_array_equal(memory, expected, err_msg=name)
