"""Attention that never holds the matrix of scores: an online softmax over blocks of keys.

python -m mytriton run examples/tutorials/fused_attention.py
"""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def attend(
    total, weight, highest, q, k_ptrs, v_ptrs, stride, start, end, rows, length, scale,
    BLOCK_N: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Takes the keys from start to end into the running softmax."""
    for first in range(start, end, BLOCK_N):
        columns = first + tl.arange(0, BLOCK_N)
        inside = columns[:, None] < length
        k = tl.load(k_ptrs + columns[:, None] * stride, mask=inside, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        if MASKED:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        # exp2 is the cheap exponential: scale holds log2(e).
        p = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(highest - higher)
        weight = weight * shrink + tl.sum(p, 1)
        v = tl.load(v_ptrs + columns[:, None] * stride, mask=inside, other=0.0)
        total = tl.dot(p.to(v.dtype), v, total * shrink[:, None])
        highest = higher
    return total, weight, highest


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, head_stride, stride, length, scale,
    SIZE: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0) * BLOCK_M
    base = tl.program_id(1).to(tl.int64) * head_stride
    rows = first + tl.arange(0, BLOCK_M)
    within = tl.arange(0, SIZE)[None, :]
    q = tl.load(
        q_ptr + base + rows[:, None] * stride + within, mask=rows[:, None] < length, other=0.0
    )
    total = tl.zeros((BLOCK_M, SIZE), dtype=tl.float32)
    weight = tl.zeros((BLOCK_M,), dtype=tl.float32)
    highest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    keys, values = k_ptr + base + within, v_ptr + base + within
    scale *= 1.44269504
    # Blocks left of the diagonal need no mask; those that it crosses do.
    total, weight, highest = attend(
        total, weight, highest, q, keys, values, stride, 0, first, rows, length, scale,
        BLOCK_N, False,
    )  # fmt: skip
    total, weight, highest = attend(
        total, weight, highest, q, keys, values, stride, first, first + BLOCK_M, rows, length,
        scale, BLOCK_N, True,
    )  # fmt: skip
    out = total / weight[:, None]
    out_ptrs = out_ptr + base + rows[:, None] * stride + within
    tl.store(out_ptrs, out.to(out_ptr.dtype.element_ty), mask=rows[:, None] < length)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, heads, length, size = q.shape
    out = torch.empty_like(q)
    attention_kernel[(triton.cdiv(length, 64), batch * heads)](
        q, k, v, out, q.stride(1), q.stride(2), length, size**-0.5,
        SIZE=size, BLOCK_M=64, BLOCK_N=32, num_warps=4,
    )  # fmt: skip
    return out


def main() -> None:
    torch.manual_seed(0)
    for dtype, tolerance in ((torch.float32, 1e-3), (torch.bfloat16, 3e-2)):
        q, k, v = torch.randn(3, 2, 3, 200, 64, device=DEVICE).to(dtype)
        expected = torch.nn.functional.scaled_dot_product_attention(
            q.float(), k.float(), v.float(), is_causal=True
        )
        torch.testing.assert_close(
            attention(q, k, v).float(), expected, atol=tolerance, rtol=tolerance
        )
    print(f"causal attention of {tuple(q.shape)} on {DEVICE}: agrees with torch")


if __name__ == "__main__":
    main()
