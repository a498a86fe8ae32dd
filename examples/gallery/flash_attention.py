"""Flash attention with a causal mask, forward and backward.

One idea: softmax is streamed over blocks of keys (running maximum and sum in base 2), so the
length × length scores never exist in memory. The backward pass recomputes them block by block from
the stored logarithm of each row's sum.

Programs: axis 1 is one (batch, head). On axis 0, forward and dq: a block of queries, looping over
the keys up to the diagonal; dk and dv: a block of keys, looping over the queries from it.
"""

import math

import torch

import mytriton as triton
import mytriton.language as tl

BLOCK = 32


@triton.jit
def tile(ptr, rows, cols, length, width):
    """Load the rows of a (length, width) matrix as a block, zero outside."""
    mask = (rows[:, None] < length) & (cols[None, :] < width)
    return tl.load(ptr + rows[:, None] * width + cols[None, :], mask=mask, other=0.0)


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, log_sum_ptr, length, width, scale,
    BLOCK: tl.constexpr, BLOCK_WIDTH: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length
    start = tl.program_id(0) * BLOCK
    rows = start + tl.arange(0, BLOCK)
    cols = tl.arange(0, BLOCK_WIDTH)
    q = tile(q_ptr + head * width, rows, cols, length, width)
    maximum = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, BLOCK_WIDTH], tl.float32)
    for key_start in range(0, start + BLOCK, BLOCK):
        keys = key_start + tl.arange(0, BLOCK)
        k = tile(k_ptr + head * width, keys, cols, length, width)
        v = tile(v_ptr + head * width, keys, cols, length, width)
        scores = tl.dot(q, tl.trans(k)) * scale
        visible = (keys[None, :] <= rows[:, None]) & (keys[None, :] < length)
        scores = tl.where(visible, scores, -float("inf"))
        larger = tl.maximum(maximum, tl.max(scores, axis=1))
        weights = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(maximum - larger)
        total = total * shrink + tl.sum(weights, axis=1)
        acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None])
        maximum = larger
    mask = (rows[:, None] < length) & (cols[None, :] < width)
    out_ptrs = out_ptr + head * width + rows[:, None] * width + cols[None, :]
    tl.store(out_ptrs, (acc / total[:, None]).to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(log_sum_ptr + head + rows, maximum + tl.log2(total), mask=rows < length)


@triton.jit
def weights_and_slopes(q, k, v, dout, log_sum, delta, rows, keys, length, scale):
    """Return the probabilities of a block and the gradient of its scores."""
    scores = tl.dot(q, tl.trans(k)) * scale
    weights = tl.exp2(scores - log_sum[:, None])
    visible = (keys[None, :] <= rows[:, None]) & (rows[:, None] < length)
    weights = tl.where(visible, weights, 0.0)
    slopes = weights * (tl.dot(dout, tl.trans(v)) - delta[:, None])
    return weights.to(v.dtype), slopes.to(v.dtype)


@triton.jit
def key_gradient_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, log_sum_ptr, delta_ptr, dk_ptr, dv_ptr, length, width, scale,
    BLOCK: tl.constexpr, BLOCK_WIDTH: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length
    start = tl.program_id(0) * BLOCK
    keys = start + tl.arange(0, BLOCK)
    cols = tl.arange(0, BLOCK_WIDTH)
    k = tile(k_ptr + head * width, keys, cols, length, width)
    v = tile(v_ptr + head * width, keys, cols, length, width)
    dk = tl.zeros([BLOCK, BLOCK_WIDTH], tl.float32)
    dv = tl.zeros([BLOCK, BLOCK_WIDTH], tl.float32)
    for row_start in range(start, length, BLOCK):
        rows = row_start + tl.arange(0, BLOCK)
        q = tile(q_ptr + head * width, rows, cols, length, width)
        dout = tile(dout_ptr + head * width, rows, cols, length, width)
        log_sum = tl.load(log_sum_ptr + head + rows, mask=rows < length, other=0.0)
        delta = tl.load(delta_ptr + head + rows, mask=rows < length, other=0.0)
        weights, slopes = weights_and_slopes(
            q, k, v, dout, log_sum, delta, rows, keys, length, scale
        )
        dv = tl.dot(tl.trans(weights), dout, dv)
        dk = tl.dot(tl.trans(slopes), q, dk)
    mask = (keys[:, None] < length) & (cols[None, :] < width)
    offsets = head * width + keys[:, None] * width + cols[None, :]
    tl.store(dk_ptr + offsets, (dk * (scale * 0.6931471805599453)).to(q_ptr.dtype.element_ty), mask)
    tl.store(dv_ptr + offsets, dv.to(q_ptr.dtype.element_ty), mask=mask)


@triton.jit
def query_gradient_kernel(
    q_ptr, k_ptr, v_ptr, dout_ptr, log_sum_ptr, delta_ptr, dq_ptr, length, width, scale,
    BLOCK: tl.constexpr, BLOCK_WIDTH: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length
    start = tl.program_id(0) * BLOCK
    rows = start + tl.arange(0, BLOCK)
    cols = tl.arange(0, BLOCK_WIDTH)
    q = tile(q_ptr + head * width, rows, cols, length, width)
    dout = tile(dout_ptr + head * width, rows, cols, length, width)
    log_sum = tl.load(log_sum_ptr + head + rows, mask=rows < length, other=0.0)
    delta = tl.load(delta_ptr + head + rows, mask=rows < length, other=0.0)
    dq = tl.zeros([BLOCK, BLOCK_WIDTH], tl.float32)
    for key_start in range(0, start + BLOCK, BLOCK):
        keys = key_start + tl.arange(0, BLOCK)
        k = tile(k_ptr + head * width, keys, cols, length, width)
        v = tile(v_ptr + head * width, keys, cols, length, width)
        _, slopes = weights_and_slopes(q, k, v, dout, log_sum, delta, rows, keys, length, scale)
        dq = tl.dot(slopes, k, dq)
    mask = (rows[:, None] < length) & (cols[None, :] < width)
    offsets = head * width + rows[:, None] * width + cols[None, :]
    tl.store(dq_ptr + offsets, (dq * (scale * 0.6931471805599453)).to(q_ptr.dtype.element_ty), mask)


def flash_attention(q, k, v, dout):
    """Return out and dq, dk, dv, all of shape (batch, heads, length, width)."""
    batch, heads, length, width = q.shape
    grid = (triton.cdiv(length, BLOCK), batch * heads)
    scale = 1 / math.sqrt(width) / math.log(2)  # exp(s) is exp2(s / log(2))
    blocks = {"BLOCK": BLOCK, "BLOCK_WIDTH": triton.next_power_of_2(width)}
    out, dq, dk, dv = (torch.empty_like(q) for _ in range(4))
    log_sum = torch.empty(batch, heads, length)
    forward_kernel[grid](q, k, v, out, log_sum, length, width, scale, **blocks)
    delta = (out.float() * dout.float()).sum(dim=-1)
    saved = (q, k, v, dout, log_sum, delta)
    key_gradient_kernel[grid](*saved, dk, dv, length, width, scale, **blocks)
    query_gradient_kernel[grid](*saved, dq, length, width, scale, **blocks)
    return out, dq, dk, dv


def reference(q, k, v, dout):
    q, k, v = (t.double().requires_grad_() for t in (q, k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    out = scores.masked_fill(future, -math.inf).softmax(dim=-1) @ v
    return out.detach(), *torch.autograd.grad(out, (q, k, v), dout.double())


def inputs(batch: int, heads: int, length: int, width: int):
    torch.manual_seed(0)
    return tuple(torch.randn(4, batch, heads, length, width).half().unbind())


def main() -> None:
    arguments = inputs(1, 4, 333, 40)
    pairs = zip(flash_attention(*arguments), reference(*arguments))
    errors = [f"{(actual - expected).abs().max():.1e}" for actual, expected in pairs]
    print(f"flash_attention, 4 heads, length 333, width 40, float16: errors {', '.join(errors)}")


if __name__ == "__main__":
    main()
