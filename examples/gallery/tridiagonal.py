"""Many tridiagonal systems at once, by elimination (Thomas's algorithm).

One idea: elimination runs along a system and cannot be split, so the block lies across systems. Row
i of all systems is adjacent in memory, and the sweep down carries one block, as does the sweep up.

Programs: one program a block of systems. The arrays have shape (size, systems); the coefficients of
the sweep down are kept in x and in one more array, and read again on the way up.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def tridiagonal_kernel(
    lower_ptr, diagonal_ptr, upper_ptr, right_ptr, ratio_ptr, x_ptr, size, systems,
    BLOCK: tl.constexpr,
):  # fmt: skip
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < systems
    ratio = tl.zeros([BLOCK], dtype=tl.float32)
    x = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(size):
        offsets = row * systems + cols
        lower = tl.load(lower_ptr + offsets, mask=mask, other=0.0)
        diagonal = tl.load(diagonal_ptr + offsets, mask=mask, other=1.0)
        upper = tl.load(upper_ptr + offsets, mask=mask, other=0.0)
        right = tl.load(right_ptr + offsets, mask=mask, other=0.0)
        pivot = diagonal - lower * ratio
        ratio = upper / pivot
        x = (right - lower * x) / pivot
        tl.store(ratio_ptr + offsets, ratio, mask=mask)
        tl.store(x_ptr + offsets, x, mask=mask)
    for row in range(size - 2, -1, -1):
        offsets = row * systems + cols
        ratio = tl.load(ratio_ptr + offsets, mask=mask, other=0.0)
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0) - ratio * x
        tl.store(x_ptr + offsets, x, mask=mask)


def tridiagonal(lower, diagonal, upper, right) -> torch.Tensor:
    """Solve the systems; all arrays (size, systems), lower[0] and upper[-1] are zero."""
    size, systems = right.shape
    ratio, x = torch.empty_like(right), torch.empty_like(right)
    tridiagonal_kernel[(triton.cdiv(systems, 128),)](
        lower, diagonal, upper, right, ratio, x, size, systems, BLOCK=128
    )
    return x


def reference(lower, diagonal, upper, right) -> torch.Tensor:
    matrices = torch.diag_embed(diagonal.T.double())
    matrices += torch.diag_embed(lower.T[:, 1:].double(), -1)
    matrices += torch.diag_embed(upper.T[:, :-1].double(), 1)
    return torch.linalg.solve(matrices, right.T.double()).T


def inputs(size: int, systems: int):
    torch.manual_seed(0)
    lower, upper, right = torch.randn(3, size, systems)
    lower[0], upper[-1] = 0.0, 0.0
    return lower, lower.abs() + upper.abs() + 1, upper, right


def main() -> None:
    arguments = inputs(100, 333)
    error = (tridiagonal(*arguments) - reference(*arguments)).abs().max()
    print(f"tridiagonal: 333 systems of 100 unknowns: largest error {error:.1e}")


if __name__ == "__main__":
    main()
