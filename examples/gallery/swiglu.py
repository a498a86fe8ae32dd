"""SwiGLU, forward and backward: out = gate * sigmoid(gate) * up, in half precision.

One idea: the backward pass recomputes the sigmoid from gate instead of storing it, and both passes
read and write each element once; the block size is left to the autotuner.

Programs: program p handles elements p * BLOCK to (p + 1) * BLOCK of the flattened arrays.
"""

import torch
import torch.nn.functional as F

import mytriton as triton
import mytriton.language as tl

CONFIGS = [triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 2048})]


@triton.jit
def silu(x):
    """Return x * sigmoid(x) and sigmoid(x)."""
    gate = tl.sigmoid(x)
    return x * gate, gate


@triton.autotune(configs=CONFIGS, key=["size"])
@triton.jit
def forward_kernel(gate_ptr, up_ptr, out_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask).to(tl.float32)
    active, _ = silu(gate)
    tl.store(out_ptr + offsets, (active * up).to(tl.float16), mask=mask)


@triton.autotune(configs=CONFIGS, key=["size"])
@triton.jit
def backward_kernel(
    gate_ptr, up_ptr, dout_ptr, dgate_ptr, dup_ptr, size, BLOCK: tl.constexpr
):  # fmt: skip
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    gate = tl.load(gate_ptr + offsets, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + offsets, mask=mask).to(tl.float32)
    dout = tl.load(dout_ptr + offsets, mask=mask).to(tl.float32)
    active, sigmoid = silu(gate)
    slope = sigmoid + active * (1 - sigmoid)
    tl.store(dgate_ptr + offsets, (dout * up * slope).to(tl.float16), mask=mask)
    tl.store(dup_ptr + offsets, (dout * active).to(tl.float16), mask=mask)


def swiglu(gate: torch.Tensor, up: torch.Tensor, dout: torch.Tensor):
    """Return out, dgate and dup, all of the shape of gate."""
    size = gate.numel()

    def grid(meta):
        return (triton.cdiv(size, meta["BLOCK"]),)

    out, dgate, dup = (torch.empty_like(gate) for _ in range(3))
    forward_kernel[grid](gate, up, out, size)
    backward_kernel[grid](gate, up, dout, dgate, dup, size)
    return out, dgate, dup


def reference(gate: torch.Tensor, up: torch.Tensor, dout: torch.Tensor):
    gate, up = (t.double().requires_grad_() for t in (gate, up))
    out = F.silu(gate) * up
    return out.detach(), *torch.autograd.grad(out, (gate, up), dout.double())


def inputs(rows: int, columns: int):
    torch.manual_seed(0)
    return tuple(torch.randn(3, rows, columns).half().unbind())


def main() -> None:
    arguments = inputs(300, 1111)
    pairs = zip(swiglu(*arguments), reference(*arguments))
    errors = [f"{(actual - expected).abs().max():.1e}" for actual, expected in pairs]
    print(f"swiglu of 300 x 1111, float16: largest errors of out, dgate, dup: {errors}")
    print(f"the forward pass was tuned to {forward_kernel.best_config}")


if __name__ == "__main__":
    main()
