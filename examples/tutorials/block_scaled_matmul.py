"""A product of microscaled matrices: 8-bit floats, with one power of two for each 32 of them.

python -m mytriton run examples/tutorials/block_scaled_matmul.py
"""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()
GROUP = tl.constexpr(32)
"""Elements along K that share a scale."""


@triton.jit
def scaled_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        inner = k + tl.arange(0, BLOCK_K)
        groups = k // GROUP + tl.arange(0, BLOCK_K // GROUP)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (K // GROUP) + groups[None, :])
        b_scale = tl.load(b_scale_ptr + columns[:, None] * (K // GROUP) + groups[None, :])
        total = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3", total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


def main() -> None:
    torch.manual_seed(0)
    M, N, K = 128, 64, 128
    a = torch.randn(M, K, device=DEVICE).to(torch.float8_e4m3fn)
    b = torch.randn(K, N, device=DEVICE).to(torch.float8_e4m3fn)
    # A scale is its exponent plus 127, in a byte.
    a_scale = torch.randint(124, 131, (M, K // 32), dtype=torch.uint8, device=DEVICE)
    b_scale = torch.randint(124, 131, (N, K // 32), dtype=torch.uint8, device=DEVICE)
    c = torch.empty(M, N, device=DEVICE)
    scaled_kernel[(M // 64, N // 32)](
        a, a_scale, b, b_scale, c, M, N, K, BLOCK_M=64, BLOCK_N=32, BLOCK_K=64
    )
    left = a.float() * torch.exp2(a_scale.float() - 127).repeat_interleave(32, 1)
    right = b.float() * torch.exp2(b_scale.float() - 127).repeat_interleave(32, 1).T
    torch.testing.assert_close(c, left @ right, atol=1e-2, rtol=1e-3)
    print(f"block-scaled matmul on {DEVICE}: agrees with torch")


if __name__ == "__main__":
    main()
