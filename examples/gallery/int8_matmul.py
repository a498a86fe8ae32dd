"""Quantised linear layer: float activations times int8 weights, summed in int32.

One idea: each row of the activations gets its own scale at run time and each column of the weights
has one from before, so the scales come out of the inner sum and are applied once to the int32 tile.

Programs: quantisation, one program a row. Product, one program a tile of the output; a heuristic
drops the masks of the inner dimension where it is a multiple of the block.
"""

import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.language.extra import libdevice


@triton.jit
def quantise_kernel(x_ptr, quantised_ptr, scale_ptr, k, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * k + cols, mask=cols < k, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-8) / 127.0
    quantised = libdevice.rint(tl.clamp(x / scale, -127.0, 127.0)).to(tl.int8)
    tl.store(quantised_ptr + row * k + cols, quantised, mask=cols < k)
    tl.store(scale_ptr + row, scale)


@triton.heuristics({"EVEN_K": lambda arguments: arguments["k"] % arguments["BLOCK_K"] == 0})
@triton.jit
def int8_matmul_kernel(
    a_ptr, b_ptr, out_ptr, a_scale_ptr, b_scale_ptr, m, n, k,
    EVEN_K: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (rows % m)[:, None] * k + inner[None, :]  # rows wrap: masks in store only
    b_ptrs = b_ptr + inner[:, None] * n + (cols % n)[None, :]
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.int32)
    for start in range(0, k, BLOCK_K):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=inner[None, :] < k - start, other=0)
            b = tl.load(b_ptrs, mask=inner[:, None] < k - start, other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * n
    a_scale = tl.load(a_scale_ptr + rows, mask=rows < m, other=0.0)
    b_scale = tl.load(b_scale_ptr + cols, mask=cols < n, other=0.0)
    out = acc.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(out_ptr + rows[:, None] * n + cols[None, :], out, mask=mask)


def int8_matmul(x: torch.Tensor, weight: torch.Tensor, weight_scale: torch.Tensor) -> torch.Tensor:
    """Return x (m, k) times the int8 weight (k, n) with one scale a column (n,)."""
    (m, k), n = x.shape, weight.shape[1]
    quantised = torch.empty(m, k, dtype=torch.int8)
    scale, out = torch.empty(m), torch.empty(m, n)
    quantise_kernel[(m,)](x, quantised, scale, k, BLOCK=triton.next_power_of_2(k))
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    int8_matmul_kernel[grid](
        quantised, weight, out, scale, weight_scale, m, n, k, BLOCK_M=32, BLOCK_N=32, BLOCK_K=64
    )
    return out


def reference(x: torch.Tensor, weight: torch.Tensor, weight_scale: torch.Tensor) -> torch.Tensor:
    scale = x.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127.0
    quantised = (x / scale).round().long()
    return (quantised @ weight.long()).double() * scale.double() * weight_scale.double()


def inputs(m: int, n: int, k: int):
    torch.manual_seed(0)
    weight = torch.randint(-127, 128, (k, n), dtype=torch.int8)
    return torch.randn(m, k), weight, torch.rand(n) / 100


def main() -> None:
    arguments = x, weight, scale = inputs(100, 150, 500)
    out = int8_matmul(*arguments)
    error = (out - reference(*arguments)).abs().max()
    exact = x.double() @ (weight * scale).double()
    loss = (out - exact).abs().max() / exact.abs().max()
    print(f"int8_matmul of 100 x 500 by 500 x 150: error {error:.1e}, quantisation cost {loss:.1%}")


if __name__ == "__main__":
    main()
