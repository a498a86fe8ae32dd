"""Segmented prefix sum: a running sum along each row that starts again at every flag.

One idea: pairs (flag, sum) form a monoid: (f, a) followed by (g, b) is (f | g, b if g else a + b).
So one associative scan of pairs does it, and the same rule carries the result from chunk to chunk.

Programs: one program a row, walking the row in chunks from left to right.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def join_segments(left_flag, left_sum, right_flag, right_sum):
    return left_flag | right_flag, tl.where(right_flag != 0, right_sum, left_sum + right_sum)


@triton.jit
def segmented_scan_kernel(values_ptr, flags_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    carry = 0.0
    for start in range(0, columns, BLOCK):
        cols = start + lanes
        mask = cols < columns
        values = tl.load(values_ptr + row * columns + cols, mask=mask, other=0.0)
        flags = tl.load(flags_ptr + row * columns + cols, mask=mask, other=0).to(tl.int32)
        seen, sums = tl.associative_scan((flags, values), 0, join_segments)
        sums += tl.where(seen != 0, 0.0, carry)
        tl.store(out_ptr + row * columns + cols, sums, mask=mask)
        carry = tl.sum(tl.where(lanes == BLOCK - 1, sums, 0.0), axis=0)


def segmented_scan(values: torch.Tensor, flags: torch.Tensor) -> torch.Tensor:
    """Return the running sums of values (rows, columns), restarted where flags is True."""
    rows, columns = values.shape
    out = torch.empty_like(values)
    segmented_scan_kernel[(rows,)](values, flags, out, columns, BLOCK=256)
    return out


def reference(values: torch.Tensor, flags: torch.Tensor) -> torch.Tensor:
    sums = values.double().cumsum(dim=1)
    before = sums - values.double()
    columns = torch.arange(values.shape[1])
    last_flag = torch.where(flags, columns, -1).cummax(dim=1).values
    taken = before.gather(1, last_flag.clamp(min=0)) * (last_flag >= 0)
    return sums - taken


def inputs(rows: int, columns: int):
    torch.manual_seed(0)
    return torch.randn(rows, columns), torch.rand(rows, columns) < 0.05


def main() -> None:
    arguments = inputs(64, 5001)
    error = (segmented_scan(*arguments) - reference(*arguments)).abs().max()
    print(f"segmented_scan of 64 x 5001 with 5 % of flags: largest error {error:.1e}")


if __name__ == "__main__":
    main()
