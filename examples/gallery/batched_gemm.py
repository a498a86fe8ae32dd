"""Products of many small matrices, such as 8 × 8 blocks: out[b] = x[b] @ y[b].

One idea: one small product is too little work for a program, so a program takes a group of
matrices as one three-dimensional block, and `tl.dot` of rank 3 multiplies them all.

Programs: program p handles the matrices p * BLOCK_BATCH to (p + 1) * BLOCK_BATCH.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def batched_gemm_kernel(
    x_ptr, y_ptr, out_ptr, batch, m, n, k,
    BLOCK_BATCH: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    number = (tl.program_id(0) * BLOCK_BATCH + tl.arange(0, BLOCK_BATCH))[:, None, None]
    rows = tl.arange(0, BLOCK_M)[None, :, None]
    cols = tl.arange(0, BLOCK_N)[None, None, :]
    across = tl.arange(0, BLOCK_K)[None, None, :]
    down = tl.arange(0, BLOCK_K)[None, :, None]
    live = number < batch
    x = tl.load(
        x_ptr + (number * m + rows) * k + across, mask=live & (rows < m) & (across < k), other=0.0
    )
    y = tl.load(
        y_ptr + (number * k + down) * n + cols, mask=live & (down < k) & (cols < n), other=0.0
    )
    out = tl.dot(x, y, input_precision="ieee")
    tl.store(out_ptr + (number * m + rows) * n + cols, out, mask=live & (rows < m) & (cols < n))


def batched_gemm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return x @ y of shape (batch, m, n) for contiguous x (batch, m, k) and y (batch, k, n)."""
    batch, m, k = x.shape
    n = y.shape[2]
    out = torch.empty(batch, m, n)
    block_m, block_n, block_k = (triton.next_power_of_2(size) for size in (m, n, k))
    batched_gemm_kernel[(triton.cdiv(batch, 8),)](
        x, y, out, batch, m, n, k,
        BLOCK_BATCH=8, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
    )  # fmt: skip
    return out


def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.double() @ y.double()


def inputs(batch: int, m: int, n: int, k: int):
    torch.manual_seed(0)
    return torch.randn(batch, m, k), torch.randn(batch, k, n)


def main() -> None:
    arguments = inputs(1001, 9, 7, 12)
    error = (batched_gemm(*arguments) - reference(*arguments)).abs().max()
    print(f"batched_gemm of 1001 products 9 x 12 by 12 x 7: largest error {error:.1e}")


if __name__ == "__main__":
    main()
