"""Many products of different sizes in one launch: addresses and sizes come from memory.

python -m mytriton run examples/tutorials/grouped_gemm.py
"""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def grouped_kernel(
    addresses_ptr, sizes_ptr, strides_ptr, groups, PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    before = 0
    for g in range(groups):
        M, N, K = (
            tl.load(sizes_ptr + 3 * g),
            tl.load(sizes_ptr + 3 * g + 1),
            tl.load(sizes_ptr + 3 * g + 2),
        )
        tiles_n = tl.cdiv(N, BLOCK_N)
        tiles = tl.cdiv(M, BLOCK_M) * tiles_n
        # This program takes every PROGRAMS-th tile of all the products laid end to end.
        while tile >= before and tile < before + tiles:
            a_ptr = tl.load(addresses_ptr + 3 * g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(addresses_ptr + 3 * g + 1).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(addresses_ptr + 3 * g + 2).to(tl.pointer_type(tl.float16))
            lda = tl.load(strides_ptr + 3 * g)
            ldb = tl.load(strides_ptr + 3 * g + 1)
            ldc = tl.load(strides_ptr + 3 * g + 2)
            rows = (tile - before) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = (tile - before) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
            inner = tl.arange(0, BLOCK_K)
            total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for k in range(0, K, BLOCK_K):
                a_mask = (rows[:, None] < M) & (k + inner[None, :] < K)
                b_mask = (k + inner[:, None] < K) & (columns[None, :] < N)
                a = tl.load(a_ptr + rows[:, None] * lda + k + inner[None, :], a_mask, other=0.0)
                b = tl.load(
                    b_ptr + (k + inner[:, None]) * ldb + columns[None, :], b_mask, other=0.0
                )
                total += tl.dot(a, b)
            c_mask = (rows[:, None] < M) & (columns[None, :] < N)
            c_ptrs = c_ptr + rows[:, None] * ldc + columns[None, :]
            tl.store(c_ptrs, total.to(tl.float16), mask=c_mask)
            tile += PROGRAMS
        before += tiles


def grouped_matmul(pairs):
    results = [a.new_empty(a.shape[0], b.shape[1]) for a, b in pairs]
    triples = [(a, b, c) for (a, b), c in zip(pairs, results)]

    def table(rows, dtype):
        return torch.tensor(rows, dtype=dtype, device=DEVICE)

    addresses = table([[x.data_ptr() for x in row] for row in triples], torch.int64)
    sizes = table([[a.shape[0], b.shape[1], a.shape[1]] for a, b in pairs], torch.int32)
    strides = table([[x.stride(0) for x in row] for row in triples], torch.int32)
    grouped_kernel[(4,)](
        addresses, sizes, strides, len(pairs), PROGRAMS=4, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32
    )
    return results


def main() -> None:
    torch.manual_seed(0)
    shapes = [(100, 60, 40), (33, 200, 64), (1, 7, 130), (64, 64, 64)]
    pairs = [
        (
            torch.rand(m, k, device=DEVICE, dtype=torch.float16),
            torch.rand(k, n, device=DEVICE, dtype=torch.float16),
        )
        for m, n, k in shapes
    ]
    for (a, b), c in zip(pairs, grouped_matmul(pairs)):
        torch.testing.assert_close(c.float(), a.float() @ b.float(), atol=5e-2, rtol=1e-2)
    print(f"{len(pairs)} products in one launch on {DEVICE}: agree with torch")


if __name__ == "__main__":
    main()
