"""The kernels as differentiable functions of float32 tensors."""

from __future__ import annotations

from typing import Any

import torch
import triton
from kernels import (
    attention_backward_kernel,
    attention_kernel,
    cross_entropy_kernel,
    matmul_kernel,
    rms_norm_backward_kernel,
    rms_norm_kernel,
)

ROWS_OF_PROGRAMS = 16
"""How many partial sums of a norm's dw there are."""


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b for (M, K) and (K, N), each of any strides."""
    (m, k), (_, n) = a.shape, b.shape
    c = torch.empty(m, n, device=a.device)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    matmul_kernel[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), BLOCK_M=64, BLOCK_N=64, BLOCK_K=32
    )
    return c


class Linear(torch.autograd.Function):
    """y = x @ weightᵀ for x of (…, K) and weight of (N, K)."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        context.save_for_backward(x, weight)
        return matmul(x.reshape(-1, x.shape[-1]), weight.T).view(*x.shape[:-1], -1)

    @staticmethod
    def backward(context: Any, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, weight = context.saved_tensors
        flat = dy.reshape(-1, dy.shape[-1])
        return matmul(flat, weight).view_as(x), matmul(flat.T, x.reshape(-1, x.shape[-1]))


class RMSNorm(torch.autograd.Function):
    """y = x · weight / √(mean of x² + eps), over the last axis."""

    @staticmethod
    def forward(
        context: Any, x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6
    ) -> torch.Tensor:
        x = x.contiguous()
        columns = x.shape[-1]
        rows = x.numel() // columns
        y, scale = torch.empty_like(x), torch.empty(rows, device=x.device)
        block = triton.next_power_of_2(columns)
        rms_norm_kernel[(rows,)](x, weight, y, scale, columns, eps, BLOCK=block)
        context.save_for_backward(x, weight, scale)
        return y

    @staticmethod
    def backward(context: Any, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        x, weight, scale = context.saved_tensors
        dx, columns = torch.empty_like(x), x.shape[-1]
        dw = torch.empty(ROWS_OF_PROGRAMS, columns, device=x.device)
        rms_norm_backward_kernel[(ROWS_OF_PROGRAMS,)](
            x, weight, dy.contiguous(), scale, dx, dw, scale.numel(), columns,
            BLOCK=triton.next_power_of_2(columns),
        )  # fmt: skip
        return dx, dw.sum(0), None


class Attention(torch.autograd.Function):
    """Causal attention of q, k and v of (batch, heads, length, size), scaled by size^-1/2."""

    @staticmethod
    def forward(context: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        batch, heads, length, size = q.shape
        out, log = torch.empty_like(q), torch.empty(batch, heads, length, device=q.device)
        attention_kernel[(triton.cdiv(length, 32), batch * heads)](
            q, k, v, out, log, length, size**-0.5, SIZE=size, BLOCK_M=32, BLOCK_N=32
        )
        context.save_for_backward(q, k, v, out, log)
        return out

    @staticmethod
    def backward(context: Any, do: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        q, k, v, out, log = context.saved_tensors
        do = do.contiguous()
        batch, heads, length, size = q.shape
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        delta = (do * out).sum(-1)
        attention_backward_kernel[(triton.cdiv(length, 32), batch * heads)](
            q, k, v, do, log, delta, dq, dk, dv, length, size**-0.5, SIZE=size, BLOCK=32
        )
        return dq, dk, dv


class CrossEntropy(torch.autograd.Function):
    """The mean over rows of −log softmax(logits)[target]."""

    @staticmethod
    def forward(context: Any, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        rows, columns = logits.shape
        loss, gradient = torch.empty(rows, device=logits.device), torch.empty_like(logits)
        cross_entropy_kernel[(rows,)](
            logits, target, loss, gradient, columns, BLOCK=triton.next_power_of_2(columns)
        )
        context.save_for_backward(gradient)
        return loss.mean()

    @staticmethod
    def backward(context: Any, dloss: torch.Tensor) -> tuple[torch.Tensor, None]:
        (gradient,) = context.saved_tensors
        return gradient * (dloss / gradient.shape[0]), None
