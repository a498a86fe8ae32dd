"""A matrix product with a fused activation: tiles, program order for the cache, autotuning.

python -m mytriton run examples/tutorials/matrix_multiplication.py
"""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


def configurations():
    for m, n, k in [(64, 64, 64), (32, 128, 32), (128, 128, 32)]:
        yield triton.Config(
            {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}, num_warps=4, num_stages=3
        )


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(configs=list(configurations()), key=["M", "N", "K"])
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    ACTIVATION: tl.constexpr,
):  # fmt: skip
    # Programs that run together share rows of tiles, so that their operands are in the cache.
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP * tiles_n
    first_m = (pid // in_group) * GROUP
    group_m = min(tiles_m - first_m, GROUP)
    tile_m = first_m + (pid % in_group) % group_m
    tile_n = (pid % in_group) // group_m

    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + columns[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=inner[None, :] < left, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < left, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)

    out_m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    out_n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + out_m[:, None] * stride_cm + out_n[None, :] * stride_cn
    tl.store(c_ptrs, total.to(tl.float16), mask=(out_m[:, None] < M) & (out_n[None, :] < N))


def matmul(a: torch.Tensor, b: torch.Tensor, activation: str = "") -> torch.Tensor:
    (M, K), (_, N) = a.shape, b.shape
    c = torch.empty((M, N), device=a.device, dtype=torch.float16)
    matmul_kernel[
        lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
    ](a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), ACTIVATION=activation)
    return c


def main() -> None:
    torch.manual_seed(0)
    a = torch.rand(300, 200, device=DEVICE, dtype=torch.float16) - 0.5
    b = torch.rand(260, 200, device=DEVICE, dtype=torch.float16).T - 0.5
    expected = a.float() @ b.float()
    torch.testing.assert_close(matmul(a, b).float(), expected, atol=1e-2, rtol=0)
    fused = matmul(a, b, activation="leaky_relu").float()
    torch.testing.assert_close(fused, torch.nn.functional.leaky_relu(expected), atol=1e-2, rtol=0)
    print(f"matmul {tuple(a.shape)} @ {tuple(b.shape)} on {DEVICE}: agrees with torch")
    print(f"chosen: {matmul_kernel.best_config}")


if __name__ == "__main__":
    main()
