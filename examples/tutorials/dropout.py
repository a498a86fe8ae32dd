"""Dropout that stores no mask: the same random numbers are drawn again from seed and position.

python -m mytriton run examples/tutorials/dropout.py
"""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


class Dropout(torch.autograd.Function):
    """Forward and backward are the same kernel with the same seed."""

    @staticmethod
    def forward(context, x, p, seed):
        context.p, context.seed = p, seed
        return dropout(x, p, seed)

    @staticmethod
    def backward(context, gradient):
        return dropout(gradient.contiguous(), context.p, context.seed), None, None


def dropout(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    dropout_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n, p, seed, BLOCK=1024)
    return out


def main() -> None:
    x = torch.ones(100_000, device=DEVICE, requires_grad=True)
    out = Dropout.apply(x, 0.3, 123)
    kept = out != 0
    assert torch.equal(out, Dropout.apply(x, 0.3, 123))
    assert not torch.equal(out, Dropout.apply(x, 0.3, 512))
    assert abs(kept.float().mean().item() - 0.7) < 0.01
    torch.testing.assert_close(out[kept], torch.full_like(out[kept], 1 / 0.7))
    out.sum().backward()
    assert torch.equal(x.grad != 0, kept)
    print(f"dropout on {DEVICE}: {kept.float().mean():.3f} kept, the gradient agrees")


if __name__ == "__main__":
    main()
