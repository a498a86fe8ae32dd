"""Grouped GEMM: many products A[g] @ B[g] of different sizes in one launch.

One idea: the kernel gets an array of addresses and an array of sizes. A fixed number of programs
walk one common list of output tiles, so groups of very unequal size still share the work evenly.

Programs: program p computes the tiles p, p + P, p + 2P, … of the list that runs through the tiles
of group 0, then of group 1, and so on.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def grouped_gemm_kernel(
    a_addresses, b_addresses, c_addresses, sizes_ptr, groups,
    PROGRAMS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    first = 0  # the number of the group's first tile
    for group in range(groups):
        m = tl.load(sizes_ptr + group * 3)
        n = tl.load(sizes_ptr + group * 3 + 1)
        k = tl.load(sizes_ptr + group * 3 + 2)
        across = tl.cdiv(n, BLOCK_N)
        last = first + tl.cdiv(m, BLOCK_M) * across
        while tile >= first and tile < last:
            a_ptr = tl.load(a_addresses + group).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_addresses + group).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_addresses + group).to(tl.pointer_type(tl.float16))
            rows = (tile - first) // across * BLOCK_M + tl.arange(0, BLOCK_M)
            cols = (tile - first) % across * BLOCK_N + tl.arange(0, BLOCK_N)
            acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
            for start in range(0, k, BLOCK_K):
                inner = start + tl.arange(0, BLOCK_K)
                a_mask = (rows[:, None] < m) & (inner[None, :] < k)
                b_mask = (inner[:, None] < k) & (cols[None, :] < n)
                a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], mask=a_mask, other=0.0)
                b = tl.load(b_ptr + inner[:, None] * n + cols[None, :], mask=b_mask, other=0.0)
                acc += tl.dot(a, b)
            mask = (rows[:, None] < m) & (cols[None, :] < n)
            tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc.to(tl.float16), mask=mask)
            tile += PROGRAMS
        first = last


def grouped_gemm(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> list[torch.Tensor]:
    """Return a @ b of every pair of contiguous float16 matrices (m, k) and (k, n)."""
    products = [torch.empty(a.shape[0], b.shape[1], dtype=a.dtype) for a, b in pairs]
    a_addresses = torch.tensor([a.data_ptr() for a, _ in pairs])
    b_addresses = torch.tensor([b.data_ptr() for _, b in pairs])
    c_addresses = torch.tensor([c.data_ptr() for c in products])
    sizes = torch.tensor([(*c.shape, a.shape[1]) for (a, _), c in zip(pairs, products)])
    programs = 4
    grouped_gemm_kernel[(programs,)](
        a_addresses, b_addresses, c_addresses, sizes.int(), len(pairs),
        PROGRAMS=programs, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
    )  # fmt: skip
    return products


def reference(pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> list[torch.Tensor]:
    return [a.double() @ b.double() for a, b in pairs]


def inputs(*sizes: tuple[int, int, int]):
    torch.manual_seed(0)
    return ([(torch.randn(m, k).half(), torch.randn(k, n).half()) for m, n, k in sizes],)


def main() -> None:
    arguments = inputs((300, 200, 100), (17, 500, 64), (1, 1, 1), (64, 64, 512))
    pairs = zip(grouped_gemm(*arguments), reference(*arguments))
    errors = [f"{(actual - expected).abs().max():.1e}" for actual, expected in pairs]
    print(f"grouped_gemm of four products, float16: largest errors {', '.join(errors)}")


if __name__ == "__main__":
    main()
