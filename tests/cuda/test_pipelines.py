"""Loops whose loads are copied ahead: any number of turns gives NumPy's product, for any stages and
warps, masked, with addresses from the index or carried; and what the plans say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.targets.cuda import generate, sim
from mytriton.targets.cuda.generate import distribution
from mytriton.targets.cuda.options import Options
from mytriton.targets.cuda.pipeline import Pipeline, check, describe
from tests.support.cuda import compile_everywhere, traced
from tests.support.memory import aligned_copy, arguments_of

ml_dtypes = pytest.importorskip("ml_dtypes")


def by_index(
    a, b, c, M, N, K, sa, sb, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    T: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.int32 if a.dtype.element_ty.is_int() else tl.float32)
    for start in range(0, K, BK):
        inside = start + k < K
        left = tl.load(
            a + m[:, None] * sa + (start + k)[None, :],
            mask=(m < M)[:, None] & inside[None, :], other=0,
        )  # fmt: skip
        if T:
            turned = tl.load(
                b + n[:, None] * sb + (start + k)[None, :],
                mask=(n < N)[:, None] & inside[None, :], other=0,
            )  # fmt: skip
            right = tl.trans(turned)
        else:
            right = tl.load(
                b + (start + k)[:, None] * sb + n[None, :],
                mask=inside[:, None] & (n < N)[None, :], other=0,
            )  # fmt: skip
        acc = tl.dot(left, right, acc, input_precision="tf32")
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


def by_pointers(
    a, b, c, M, N, K, sa, sb, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    T: tl.constexpr,
):  # fmt: skip
    m = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    n = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    pa = a + (m[:, None] * sa + k[None, :])
    pb = b + (k[:, None] * sb + n[None, :])
    acc = tl.zeros((BM, BN), tl.float32)
    for turn in range(0, tl.cdiv(K, BK)):
        left = tl.load(pa, mask=k[None, :] < K - turn * BK, other=0.0)
        right = tl.load(pb, mask=k[:, None] < K - turn * BK, other=0.0)
        acc = tl.dot(left, right, acc)
        pa += BK
        pb += BK * sb
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], acc, mask=mask)


TYPES = {
    "f16": (np.float16, "f32", np.float32),
    "bf16": (ml_dtypes.bfloat16, "f32", np.float32),
    "f32": (np.float32, "f32", np.float32),
    "i8": (np.int8, "i32", np.int32),
}
NAMES = ("a", "b", "c", "M", "N", "K", "sa", "sb")


def run(kernel, name, shape, K, *, warps, stages, turned=False, order="forward"):
    """The product under cudasim and the source that made it."""
    (dtype, acc, wide), (M, N) = TYPES[name], shape
    rng = np.random.default_rng(K)
    width = -(-max(K, 1) // 16) * 16
    a = aligned_copy(rng.integers(-4, 5, (M, width)).astype(dtype))
    b = rng.integers(-4, 5, (N, width) if turned else (width, -(-N // 16) * 16)).astype(dtype)
    b, c = aligned_copy(b), aligned_copy(np.full((M, N), 99, wide))
    BM = BN = BK = 32
    function = traced(
        kernel, a=f"*{name}", b=f"*{name}", c=f"*{acc}", **dict.fromkeys(NAMES[3:], "i32"),
        BM=BM, BN=BN, BK=BK, T=turned,
    )  # fmt: skip
    numbers = dict(zip(NAMES[3:], (M, N, K, a.shape[1], b.shape[1])))
    aligned = {"a", "b", "c"} | {n for n, v in numbers.items() if v % 16 == 0}
    source = generate(function, num_warps=warps, num_stages=stages, aligned=frozenset(aligned))
    grid = (-(-M // BM), -(-N // BN), 1)
    given = arguments_of(function, (a, b, c, *numbers.values()))
    sim.run(source, grid, given, order=order)
    left, right = a[:, :K].astype(wide), (b.T if turned else b)[:K, :N].astype(wide)
    np.testing.assert_array_equal(c, left @ right, err_msg=source.text)
    return source


@pytest.mark.parametrize("kernel", [by_index, by_pointers])
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_every_number_of_turns(kernel, stages):
    for turns in range(6):
        source = run(kernel, "f16", (32, 32), 32 * turns, warps=4, stages=stages)
        assert source.kernel.count("copy_async<16>") == (2 if stages > 1 else 0)
    compile_everywhere(source)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_types_and_warps(name, warps):
    source = run(by_index, name, (64, 32), 128, warps=warps, stages=3, turned=True)
    assert source.kernel.count("copy_async<") == 2
    compile_everywhere(source)


@pytest.mark.parametrize("order", sim.ORDERS)
def test_masks_are_zeros(order):
    source = run(by_index, "f16", (48, 80), 112, warps=4, stages=3, order=order)
    assert "v" in source.kernel.split("copy_async<16>(")[1].rsplit(",", 1)[1]
    compile_everywhere(source)


def test_unaligned_arguments_are_loaded_in_their_turn():
    source = run(by_index, "f16", (33, 47), 61, warps=4, stages=3)
    assert "copy_async" not in source.kernel


def test_one_barrier_a_turn():
    source = run(by_index, "f16", (32, 32), 64, warps=4, stages=3)
    body = source.kernel.split("await_copies<1>();")[1].split("stage", 1)
    loop = source.kernel.split("int stage")[-1].split("\n    }")[0]
    assert body and loop.count("__syncthreads();") == 1


def tiles_that_stay(a, b, c, tiles, K, BLOCK: tl.constexpr):
    """A pipeline inside a loop over tiles."""
    i, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    for tile in range(tl.program_id(0), tiles, 2):
        acc = tl.zeros((BLOCK, BLOCK), tl.float32)
        for start in range(0, K, BLOCK):
            left = tl.load(a + (tile * BLOCK + i)[:, None] * K + (start + k)[None, :])
            right = tl.load(b + (start + k)[:, None] * BLOCK + i[None, :])
            acc = tl.dot(left, right, acc)
        tl.store(c + (tile * BLOCK + i)[:, None] * BLOCK + i[None, :], acc)


@pytest.mark.parametrize("order", sim.ORDERS)
def test_a_pipeline_in_a_loop(order):
    rng = np.random.default_rng(0)
    a = aligned_copy(rng.integers(-3, 4, (96, 64)).astype(np.float16))
    b = aligned_copy(rng.integers(-3, 4, (64, 32)).astype(np.float16))
    c = aligned_copy(np.zeros((96, 32), np.float32))
    function = traced(tiles_that_stay, a="*f16", b="*f16", c="*f32", tiles="i32", K="i32", BLOCK=32)
    source = generate(function, num_warps=4, aligned=frozenset("abcK"))
    assert "copy_async" in source.kernel
    compile_everywhere(source)
    sim.run(source, (2, 1, 1), arguments_of(function, (a, b, c, 3, 64)), order=order)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def chained(q, k, v, out, n, B: tl.constexpr, D: tl.constexpr):
    """Two products a turn, the second of what the first gives, and a left operand from outside."""
    i, j, d = tl.arange(0, B), tl.arange(0, B), tl.arange(0, D)
    left = tl.load(q + i[:, None] * D + d[None, :])
    acc = tl.zeros((B, D), tl.float32)
    for start in range(0, n, B):
        keys = tl.load(k + (start + j)[:, None] * D + d[None, :])
        values = tl.load(v + (start + j)[:, None] * D + d[None, :])
        scores = tl.dot(left, tl.trans(keys))
        scores -= tl.max(scores, 1)[:, None]
        acc += tl.dot(scores.to(tl.float16), values)
    tl.store(out + i[:, None] * D + d[None, :], acc)


@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("D", [32, 64])
def test_chained_products(warps, D):
    rng = np.random.default_rng(D)
    q, k, v = (
        aligned_copy(rng.integers(-1, 2, (rows, D)).astype(np.float16)) for rows in (64, 192, 192)
    )
    out = aligned_copy(np.zeros((64, D), np.float32))
    function = traced(chained, q="*f16", k="*f16", v="*f16", out="*f32", n="i32", B=64, D=D)
    source = generate(function, num_warps=warps, aligned=frozenset(["q", "k", "v", "out", "n"]))
    assert source.kernel.count("copy_async<16>") == 2
    compile_everywhere(source)
    sim.run(source, (1, 1, 1), arguments_of(function, (q, k, v, out, 192)))
    want = np.zeros((64, D), np.float32)
    for start in range(0, 192, 64):
        scores = q.astype(np.float32) @ k[start : start + 64].astype(np.float32).T
        scores -= scores.max(1, keepdims=True)
        want += scores @ v[start : start + 64].astype(np.float32)
    np.testing.assert_array_equal(out, want)


def writes_back(a, b, c, K, B: tl.constexpr):
    """What a turn reads may be what an earlier one wrote."""
    i, k = tl.arange(0, B), tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        left = tl.load(a + i[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * B + i[None, :])
        acc = tl.dot(left, right, acc)
        tl.store(b + (start + k + B)[:, None] * B + i[None, :], (acc * 0.125).to(tl.float16))
    tl.store(c + i[:, None] * B + i[None, :], acc)


def test_loads_stay_behind_writes_that_they_may_see():
    function = traced(writes_back, a="*f16", b="*f16", c="*f32", K="i32", B=16)
    source = generate(function, num_warps=1, aligned=frozenset("abcK"))
    assert source.kernel.count("copy_async<") == 1  # that of a; b is written
    overlapping = generate(function, num_warps=1, aligned=frozenset("abcK"), overlap=True)
    assert "copy_async<" not in overlapping.kernel
    rng = np.random.default_rng(0)
    a = aligned_copy(rng.integers(-2, 3, (16, 48)).astype(np.float16))
    b = aligned_copy(np.zeros((64, 16), np.float16))
    b[:16] = rng.integers(-2, 3, (16, 16))
    c, want_b, acc = aligned_copy(np.zeros((16, 16), np.float32)), b.astype(np.float32), 0
    for start in (0, 16, 32):
        left = a[:, start : start + 16].astype(np.float32)
        acc = acc + left @ want_b[start : start + 16]
        want_b[start + 16 : start + 32] = (acc * 0.125).astype(np.float16)
    sim.run(source, (1, 1, 1), arguments_of(function, (a, b, c, 48)))
    np.testing.assert_array_equal(c, acc)


# -- plans


def planned(kernel=by_index, **options) -> tuple[object, Pipeline]:
    function = traced(
        kernel, a="*f16", b="*f16", c="*f32", **dict.fromkeys(NAMES[3:], "i32"),
        BM=64, BN=64, BK=32, T=False,
    )  # fmt: skip
    made = distribution(function, Options(num_warps=4, aligned=frozenset(NAMES), **options))
    (pipeline,) = made.pipelines.values()
    return function, pipeline


def test_a_plan_as_text():
    function, pipeline = planned(num_stages=4)
    text = describe(function, [pipeline])
    assert text.splitlines()[0].startswith("4 stages of %")
    assert text.count("4096 bytes a stage, 16 a copy") == 2
    check(pipeline)


def test_carried_addresses_run_ahead():
    _, pipeline = planned(by_pointers)
    assert pipeline.carried
    check(pipeline)


def broken(pipeline: Pipeline):
    ops = pipeline.ahead
    yield dataclasses.replace(pipeline, stages=1)
    yield dataclasses.replace(pipeline, copies=())
    yield dataclasses.replace(pipeline, ahead=ops[::-1])
    yield dataclasses.replace(pipeline, ahead=(*ops, pipeline.loop))
    yield dataclasses.replace(pipeline, ahead=(*ops, pipeline.copies[0].load))
    for place in range(len(ops)):
        yield dataclasses.replace(pipeline, ahead=ops[:place] + ops[place + 1 :])


def test_unsound_plans_are_refused():
    _, pipeline = planned()
    for plan in broken(pipeline):
        with pytest.raises(AssertionError):
            check(plan)
