"""Matrix product: a program computes one tile of the result by `tl.dot` over blocks of K.

Programs are numbered in groups of rows, so that neighbours in time read the same columns of B.
"""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    rows_of_tiles = tl.cdiv(M, BLOCK_M)
    columns_of_tiles = tl.cdiv(N, BLOCK_N)
    group = pid // (GROUP * columns_of_tiles)
    first = group * GROUP
    size = min(rows_of_tiles - first, GROUP)
    tile_m = first + pid % (GROUP * columns_of_tiles) % size
    tile_n = pid % (GROUP * columns_of_tiles) // size

    m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        inside = start + k < K
        left = tl.load(
            a + m[:, None] * K + (start + k)[None, :],
            mask=(m < M)[:, None] & inside[None, :],
            other=0.0,
        )
        right = tl.load(
            b + (start + k)[:, None] * N + n[None, :],
            mask=inside[:, None] & (n < N)[None, :],
            other=0.0,
        )
        acc = tl.dot(left, right, acc)
    mask = (m < M)[:, None] & (n < N)[None, :]
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=mask)


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b on the CPU target, for float32 matrices of shapes (M, K) and (K, N)."""
    (M, K), N = a.shape, b.shape[1]
    c = np.empty((M, N), np.float32)

    def grid(meta: dict) -> tuple[int]:
        return (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)

    blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP": 4}
    matmul_kernel[grid](a, b, c, M, N, K, **blocks, target="cpu")
    return c


def main() -> None:
    generator = np.random.default_rng(0)
    a = generator.standard_normal((1030, 520)).astype(np.float32)
    b = generator.standard_normal((520, 1050)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    error = np.max(np.abs(matmul(a, b) - exact))
    assert error < 1e-3, error
    print(f"matmul: {a.shape} @ {b.shape}, error at most {error:.1e}")


if __name__ == "__main__":
    main()
