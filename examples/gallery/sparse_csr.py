"""Sparse matrix times vector, the matrix in compressed rows (CSR).

One idea: a program takes several rows as the rows of a block, and a step of its loop takes the next
few entries of each. The loop runs as long as the longest of its rows; shorter ones are masked.

Programs: one program a block of rows.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def sparse_csr_kernel(
    starts_ptr, columns_ptr, values_ptr, x_ptr, y_ptr, rows,
    BLOCK_ROWS: tl.constexpr, BLOCK_ENTRIES: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    start = tl.load(starts_ptr + row, mask=row < rows, other=0)
    end = tl.load(starts_ptr + row + 1, mask=row < rows, other=0)
    longest = tl.max(end - start, axis=0)
    acc = tl.zeros([BLOCK_ROWS, BLOCK_ENTRIES], dtype=tl.float32)
    for step in range(0, longest, BLOCK_ENTRIES):
        entry = start[:, None] + step + tl.arange(0, BLOCK_ENTRIES)[None, :]
        mask = entry < end[:, None]
        column = tl.load(columns_ptr + entry, mask=mask, other=0)
        value = tl.load(values_ptr + entry, mask=mask, other=0.0)
        acc += value * tl.load(x_ptr + column, mask=mask, other=0.0)
    tl.store(y_ptr + row, tl.sum(acc, axis=1), mask=row < rows)


def sparse_csr(starts, columns, values, x: torch.Tensor) -> torch.Tensor:
    """Return the matrix times x: row r has the entries starts[r] to starts[r + 1] (int32)."""
    rows = len(starts) - 1
    y = torch.empty(rows)
    sparse_csr_kernel[(triton.cdiv(rows, 16),)](
        starts, columns, values, x, y, rows, BLOCK_ROWS=16, BLOCK_ENTRIES=8
    )
    return y


def reference(starts, columns, values, x: torch.Tensor) -> torch.Tensor:
    rows = torch.arange(len(starts) - 1).repeat_interleave(starts.diff())
    products = values.double() * x.double()[columns]
    return torch.zeros(len(starts) - 1, dtype=torch.float64).index_add(0, rows, products)


def inputs(rows: int, columns: int, density: float):
    """Return a matrix whose first row is empty and whose last is full, and a vector."""
    torch.manual_seed(0)
    filled = torch.rand(rows, columns) < density
    filled[0], filled[-1] = False, True
    counts = torch.cat([torch.zeros(1), filled.sum(dim=1)])
    numbers = filled.nonzero()[:, 1].int()
    return counts.cumsum(0).int(), numbers, torch.randn(len(numbers)), torch.randn(columns)


def main() -> None:
    arguments = inputs(1000, 801, 0.05)
    error = (sparse_csr(*arguments) - reference(*arguments)).abs().max()
    entries = len(arguments[1])
    print(f"sparse_csr of 1000 x 801 with {entries} entries: largest error {error:.1e}")


if __name__ == "__main__":
    main()
