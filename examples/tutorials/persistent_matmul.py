"""A matrix product by programs that stay, reading through tensor descriptors.

A descriptor knows shape and strides, so blocks past the edge need no masks; on a GPU the hardware
copies them. Here one is made on the host and one in the kernel.

    python -m mytriton run examples/tutorials/persistent_matmul.py
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def matmul_kernel(
    a_desc, b_desc, c_ptr, M, N, K, PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    c_desc = tl.make_tensor_descriptor(
        c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N]
    )
    tiles_n = tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * tiles_n, PROGRAMS, flatten=True):
        row, column = tile // tiles_n * BLOCK_M, tile % tiles_n * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_desc.load([row, k])
            b = b_desc.load([column, k])
            total = tl.dot(a, b.T, total)
        c_desc.store([row, column], total.to(tl.float16))


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a (M, K) times the transpose of b (N, K)."""
    (M, K), (N, _) = a.shape, b.shape
    c = torch.empty(M, N, device=a.device, dtype=torch.float16)
    properties = triton.runtime.driver.active.utils.get_device_properties(0)
    programs = min(properties["multiprocessor_count"], triton.cdiv(M, 64) * triton.cdiv(N, 64))
    matmul_kernel[(programs,)](
        TensorDescriptor.from_tensor(a, [64, 32]),
        TensorDescriptor.from_tensor(b, [64, 32]),
        c, M, N, K, PROGRAMS=programs, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32,
    )  # fmt: skip
    return c


def main() -> None:
    torch.manual_seed(0)
    a = torch.randn(200, 96, device=DEVICE, dtype=torch.float16)
    b = torch.randn(152, 96, device=DEVICE, dtype=torch.float16)
    expected = a.float() @ b.float().T
    torch.testing.assert_close(matmul(a, b).float(), expected, atol=5e-2, rtol=1e-2)
    print(f"persistent matmul on {DEVICE}: agrees with torch")


if __name__ == "__main__":
    main()
