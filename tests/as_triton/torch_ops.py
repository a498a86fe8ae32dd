"""Kernels as PyTorch operators, eager, differentiated and under torch.compile: run by
test_torch_ops.py with the stand-in."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, out, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) * factor, mask=offsets < n)


@torch.library.triton_op("standin::scale", mutates_args={})
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 64),)
    torch.library.wrap_triton(scale_kernel)[grid](x, out, x.numel(), factor, BLOCK=64)
    return out


def backward(context, gradient):
    return scale(gradient.contiguous(), context.factor), None


def setup_context(ctx, inputs, output):
    ctx.factor = inputs[1]


scale.register_autograd(backward, setup_context=setup_context)


def plain(x):
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), 3.0, BLOCK=64)
    return out + 1


def operator(x):
    return scale(x, 2.0) + torch.ops.standin.scale(x, 0.5)


def differentiated(x):
    leaf = x.detach().requires_grad_()
    (operator(leaf) * torch.arange(x.numel())).sum().backward()
    return leaf.grad


for backend in sys.argv[1:]:
    for n in (100, 257):
        x = torch.randn(n)
        cases = (
            (operator, 2.5 * x),
            (plain, 3 * x + 1),
            (differentiated, 2.5 * torch.arange(n, dtype=torch.float32)),
        )
        for function, want in cases:
            torch._dynamo.reset()
            whole = function is not differentiated and backend != "none"
            run = torch.compile(function, backend=backend, fullgraph=True) if whole else function
            torch.testing.assert_close(run(x), want)
    print(backend, "right")
