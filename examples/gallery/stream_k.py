"""Stream-K matrix product: every program does the same number of inner steps, whatever the tiles.

One idea: all inner steps of all tiles form one line, cut into equal pieces. Where a cut falls
inside a tile, the program that began the tile owns it: the followers leave their partial sums in a
workspace and raise a flag; the owner waits for the flags, adds the sums and stores the tile.

Programs: of P programs, program p takes the steps p * total // P to (p + 1) * total // P.
A follower never waits before it raises its own flag, so the waiting cannot go in a circle.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def inner_steps(
    a_ptr, b_ptr, m, n, k, rows, cols, first, last,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Sum a tile's products of the inner blocks first to last."""
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for step in range(first, last):
        inner = step * BLOCK_K + tl.arange(0, BLOCK_K)
        a_mask = (rows[:, None] < m) & (inner[None, :] < k)
        b_mask = (inner[:, None] < k) & (cols[None, :] < n)
        a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + cols[None, :], mask=b_mask, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    return acc


@triton.jit
def stream_k_kernel(
    a_ptr, b_ptr, c_ptr, partial_ptr, flag_ptr, m, n, k, total,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    across = tl.cdiv(n, BLOCK_N)
    steps = tl.cdiv(k, BLOCK_K)  # of one tile
    within = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    start = program * total // programs
    end = (program + 1) * total // programs
    while start < end:
        tile = start // steps
        tile_end = (tile + 1) * steps
        stop = min(end, tile_end)
        rows = tile // across * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = tile % across * BLOCK_N + tl.arange(0, BLOCK_N)
        acc = inner_steps(
            a_ptr, b_ptr, m, n, k, rows, cols, start - tile * steps, stop - tile * steps,
            BLOCK_M, BLOCK_N, BLOCK_K,
        )  # fmt: skip
        if start == tile * steps:
            follower = program + 1
            covered = stop
            while covered < tile_end:
                while tl.atomic_add(flag_ptr + follower, 0, sem="acquire") == 0:
                    pass
                acc += tl.load(partial_ptr + follower * BLOCK_M * BLOCK_N + within)
                follower += 1
                covered = follower * total // programs
            mask = (rows[:, None] < m) & (cols[None, :] < n)
            tl.store(c_ptr + rows[:, None] * n + cols[None, :], acc, mask=mask)
        else:
            tl.store(partial_ptr + program * BLOCK_M * BLOCK_N + within, acc)
            tl.debug_barrier()
            tl.atomic_xchg(flag_ptr + program, 1, sem="release")
        start = stop


def stream_k(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b of contiguous float32 matrices (m, k) and (k, n)."""
    (m, k), n = a.shape, b.shape[1]
    block = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16}
    total = triton.cdiv(m, 32) * triton.cdiv(n, 32) * triton.cdiv(k, 16)
    programs = min(total, 7)
    c = torch.empty(m, n)
    partial = torch.empty(programs, 32, 32)
    flags = torch.zeros(programs, dtype=torch.int32)
    stream_k_kernel[(programs,)](a, b, c, partial, flags, m, n, k, total, **block)
    return c


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.double() @ b.double()


def inputs(m: int, n: int, k: int):
    torch.manual_seed(0)
    return torch.randn(m, k), torch.randn(k, n)


def main() -> None:
    arguments = inputs(100, 90, 1000)
    error = (stream_k(*arguments) - reference(*arguments)).abs().max()
    print(f"stream_k of 100 x 1000 by 1000 x 90 on 7 programs: largest error {error:.1e}")


if __name__ == "__main__":
    main()
