"""Matrix product with a split inner dimension, for small outputs and a long inner extent.

One idea: where the output has few tiles, several programs share a tile. Each sums its share of the
inner dimension and adds it to the output atomically, so the output must start as zeros; the
autotuner is told to reset it between trials.

Programs: axis 0 is the output tile, axis 1 the share: share s takes the inner blocks s, s + S, ….
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.autotune(
    configs=[triton.Config({"SPLIT_K": 2}), triton.Config({"SPLIT_K": 8})],
    key=["m", "n", "k"],
    reset_to_zero=["c_ptr"],
)
@triton.jit
def split_k_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, stride_am, stride_ak, stride_bk, stride_bn, stride_cm,
    SPLIT_K: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    share = tl.program_id(1)
    across = tl.cdiv(n, BLOCK_N)
    rows = tile // across * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tile % across * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = share * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + cols[None, :] * stride_bn
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for block in range(0, tl.cdiv(k, BLOCK_K * SPLIT_K)):
        left = k - block * BLOCK_K * SPLIT_K
        a = tl.load(a_ptrs, mask=(rows[:, None] < m) & (inner[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(inner[:, None] < left) & (cols[None, :] < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_ptrs += BLOCK_K * SPLIT_K * stride_ak
        b_ptrs += BLOCK_K * SPLIT_K * stride_bk
    c_ptrs = c_ptr + rows[:, None] * stride_cm + cols[None, :]
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    tl.atomic_add(c_ptrs, acc, mask=mask, sem="relaxed")


def split_k(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b of float32 matrices (m, k) and (k, n) of any strides."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.zeros(m, n)

    def grid(meta):
        tiles = triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"])
        return tiles, meta["SPLIT_K"]

    split_k_kernel[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), c.stride(0), BLOCK_M=32, BLOCK_N=32, BLOCK_K=32
    )
    return c


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.double() @ b.double()


def inputs(m: int, n: int, k: int):
    torch.manual_seed(0)
    return torch.randn(m, k), torch.randn(n, k).T


def main() -> None:
    arguments = inputs(50, 70, 5000)
    error = (split_k(*arguments) - reference(*arguments)).abs().max()
    best = split_k_kernel.best_config
    print(f"split_k of 50 x 5000 by 5000 x 70: largest error {error:.1e}, tuned to {best}")


if __name__ == "__main__":
    main()
