"""RMS norm, forward and backward: y = x / sqrt(mean(x²) + eps) * weight, row by row.

One idea: the backward pass needs one number a row (the reciprocal root) from the forward pass, and
the gradient of the weight is a sum over rows that a few persistent programs keep in registers.

Programs: forward, one program a row. Backward, program p takes the rows p, p + P, p + 2P, … of P
programs, writes their dx, and at the end its own row of partial weight gradients.
"""

import torch

import mytriton as triton
import mytriton.language as tl

EPS = 1e-6


@triton.jit
def forward_kernel(x_ptr, weight_ptr, y_ptr, rstd_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    tl.store(rstd_ptr + row, rstd)
    tl.store(y_ptr + row * stride + cols, x * rstd * weight, mask=mask)


@triton.jit
def backward_kernel(
    x_ptr, weight_ptr, rstd_ptr, dy_ptr, dx_ptr, partial_ptr, stride, rows, columns,
    BLOCK: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < columns
    weight = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dweight = tl.zeros([BLOCK], dtype=tl.float32)
    for row in tl.range(program, rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        normed = x * rstd
        scaled = dy * weight
        dx = rstd * (scaled - normed * (tl.sum(scaled * normed, axis=0) / columns))
        tl.store(dx_ptr + row * stride + cols, dx, mask=mask)
        dweight += dy * normed
    tl.store(partial_ptr + program * columns + cols, dweight, mask=mask)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor):
    """Return y of shape (rows, columns) and, for the gradient dy of y, dx and dweight."""
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    y, dx = torch.empty_like(x), torch.empty_like(x)
    rstd = torch.empty(rows, dtype=torch.float32)
    forward_kernel[(rows,)](x, weight, y, rstd, x.stride(0), columns, EPS, BLOCK=block)
    programs = min(rows, 8)
    partial = torch.empty(programs, columns, dtype=torch.float32)
    backward_kernel[(programs,)](
        x, weight, rstd, dy, dx, partial, x.stride(0), rows, columns, BLOCK=block
    )
    return y, dx, partial.sum(dim=0).to(weight.dtype)


def reference(x: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor):
    x, weight = (t.double().requires_grad_() for t in (x, weight))
    y = x * torch.rsqrt((x * x).mean(dim=1, keepdim=True) + EPS) * weight
    return y.detach(), *torch.autograd.grad(y, (x, weight), dy.double())


def inputs(rows: int, columns: int):
    torch.manual_seed(0)
    return torch.randn(rows, columns), torch.randn(columns), torch.randn(rows, columns)


def main() -> None:
    arguments = inputs(1000, 777)
    pairs = zip(rms_norm(*arguments), reference(*arguments))
    errors = [f"{(actual - expected).abs().max():.1e}" for actual, expected in pairs]
    print(f"rms_norm of 1000 x 777: largest errors of y, dx, dweight: {', '.join(errors)}")


if __name__ == "__main__":
    main()
