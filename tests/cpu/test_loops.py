"""How many loops a kernel becomes, and what its text shows."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.host import host
from mytriton.targets.cpu.launch import machine_code


def vector_loops(kernel, *arguments, **constexprs) -> int:
    """The number of unmasked lane loops in the kernel's LLVM text."""
    text = kernel[(1,)](*arguments, target="cpu", **constexprs).llvm
    bodies = re.split(r"^(?=lanes[.\d]*:)", text, flags=re.M)[1:]
    return sum("masked" not in body.split("\nend")[0] for body in bodies)


@triton.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + offsets, power / tl.sum(power, axis=0), mask)


def test_softmax_is_three_loops():
    x = np.zeros(1024, np.float32)
    assert vector_loops(softmax_kernel, x, x.copy(), 1024, BLOCK=1024) == 3


@triton.jit
def chain_kernel(x, y, out, other, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets)
    for _ in tl.static_range(5):
        value = tl.exp(value) + tl.load(y + offsets)
    tl.store(out + offsets, value)
    tl.store(other + offsets, -value)


def test_an_elementwise_chain_is_one_loop():
    x, y, out, other = np.zeros((4, 512), np.float32)
    assert vector_loops(chain_kernel, x, y, out, other, BLOCK=512) == 1


@triton.jit
def matmul_kernel(a, b, out, K, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    a_ptrs, b_ptrs = a + rows * K + columns, b + rows * N + columns
    total = tl.zeros((N, N), tl.float32)
    for _ in range(0, K, N):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += N
        b_ptrs += N * N
    tl.store(out + rows * N + columns, total)


def test_a_matmul_stores_no_pointers_and_adds_in_place():
    a, b = np.random.default_rng(0).standard_normal((2, 64 * 32)).astype(np.float32)
    out = np.zeros((32, 32), np.float32)
    text = matmul_kernel[(1,)](a, b, out, 64, N=32, target="cpu").llvm
    assert not re.search(r"store <\d+ x ptr>", text)
    assert len(re.findall(r"\.home = getelementptr", text)) == 1  # the operands are packed
    assert "%panels = getelementptr" in text and "%rows = getelementptr" in text
    np.testing.assert_allclose(out, a.reshape(32, 64) @ b.reshape(64, 32), rtol=1e-4, atol=1e-4)


def test_the_text_is_named_after_the_ir_and_there_is_assembly():
    x = np.zeros(64, np.float32)
    result = softmax_kernel[(1,)](x, x.copy(), 64, BLOCK=64, target="cpu")
    assert re.search(r"%v\d+ = fsub <\d+ x float>", result.llvm)
    assert "program" in result.asm["asm"] and "ret" in result.asm["asm"]


@triton.jit
def affine(a0, b0, a1, b1):
    return a1 * a0, a1 * b0 + b1


@triton.jit
def compose_kernel(a, b, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    first, second = tl.reduce((tl.load(a + offsets), tl.load(b + offsets)), AXIS, affine)
    lanes = tl.arange(0, N if AXIS == 0 else M)
    tl.store(out + 2 * lanes, first)
    tl.store(out + 2 * lanes + 1, second)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 3), (5, 64), (64, 5), (7, 100), (2, 129)])
def test_a_reduction_that_does_not_commute_keeps_its_order(shape, axis):
    a, b = np.random.default_rng(0).integers(0, 50, (2, *shape)).astype(np.int64)
    out = np.zeros((shape[1 - axis], 2), np.int64)
    compose_kernel[(1,)](a, b, out, M=shape[0], N=shape[1], AXIS=axis, target="cpu")
    first, second = np.moveaxis(a, axis, 0)[0], np.moveaxis(b, axis, 0)[0]
    for k in range(1, shape[axis]):
        ak, bk = np.moveaxis(a, axis, 0)[k], np.moveaxis(b, axis, 0)[k]
        with np.errstate(over="ignore"):
            first, second = ak * first, ak * second + bk
    np.testing.assert_array_equal(out, np.stack([first, second], 1))


def test_text_whose_values_do_not_dominate_their_uses_is_refused(monkeypatch):
    """LLVM's parser takes such text; its verifier does not."""
    monkeypatch.setenv("MYTRITON_CHECK", "1")
    text = """define void @run(i1 %c) {
  br i1 %c, label %one, label %two
one:
  %x = add i32 1, 2
  br label %two
two:
  %y = add i32 %x, 1
  ret void
}
"""
    with pytest.raises(RuntimeError, match="dominate"):
        machine_code.optimised(text, host())
