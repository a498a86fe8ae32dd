"""Histogram of integers; values outside 0 … bins - 1 are not counted.

One idea: count in two levels. Each program counts its blocks in a histogram of its own and only at
the end adds it to the result, one atomic addition a bin instead of one an element.

Programs: program p takes the blocks p, p + P, p + 2P, … of the P programs.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def histogram_kernel(
    values_ptr, counts_ptr, size, bins, BINS: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    counts = tl.zeros([BINS], dtype=tl.int32)
    first = tl.program_id(0) * BLOCK
    for start in range(first, size, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        values = tl.load(values_ptr + offsets, mask=offsets < size, other=-1)
        counts += tl.histogram(values, BINS, mask=(values >= 0) & (values < bins))
    lanes = tl.arange(0, BINS)
    tl.atomic_add(counts_ptr + lanes, counts, mask=(lanes < bins) & (counts > 0), sem="relaxed")


def histogram(values: torch.Tensor, bins: int) -> torch.Tensor:
    """Return how often each of 0 … bins - 1 occurs in the int32 values."""
    counts = torch.zeros(bins, dtype=torch.int32)
    size, block = values.numel(), 1024
    programs = min(triton.cdiv(size, block), 8)
    histogram_kernel[(programs,)](
        values, counts, size, bins, BINS=triton.next_power_of_2(bins), BLOCK=block
    )
    return counts


def reference(values: torch.Tensor, bins: int) -> torch.Tensor:
    inside = values[(values >= 0) & (values < bins)]
    return torch.bincount(inside, minlength=bins).int()


def inputs(size: int, bins: int):
    torch.manual_seed(0)
    return (torch.randn(size) * bins / 4 + bins / 2).floor().int(), bins


def main() -> None:
    arguments = inputs(1_000_003, 200)
    counts = histogram(*arguments)
    same = torch.equal(counts, reference(*arguments))
    print(f"histogram of 1,000,003 values in 200 bins: counted {counts.sum()}, exact: {same}")


if __name__ == "__main__":
    main()
