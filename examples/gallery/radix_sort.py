"""Stable sort of int32 keys with their indices: eight passes over digits of four bits.

One idea: within a block, the rank of a key among equal digits is a running count of a one-hot
matrix (keys × 16 digits). Between blocks it is a prefix sum over (digit, block) counts. Together
they say where each key goes, so every pass is a count, a scan and a scatter.

Programs: count and scatter, one program a block of keys; scan, a single program.
"""

import torch

import mytriton as triton
import mytriton.language as tl

BLOCK = 256
DIGITS = 16


@triton.jit
def digit_of(keys, shift, DIGITS: tl.constexpr):
    """Take a digit of the keys; the sign bit is flipped so that negative keys come first."""
    flipped = keys.to(tl.uint32, bitcast=True) ^ 0x80000000
    return ((flipped >> shift) & (DIGITS - 1)).to(tl.int32)


@triton.jit
def count_kernel(
    keys_ptr, counts_ptr, size, shift, BLOCK: tl.constexpr, DIGITS: tl.constexpr
):  # fmt: skip
    block = tl.program_id(0)
    offsets = block * BLOCK + tl.arange(0, BLOCK)
    digits = digit_of(tl.load(keys_ptr + offsets, mask=offsets < size, other=0), shift, DIGITS)
    counts = tl.histogram(digits, DIGITS, mask=offsets < size)
    tl.store(counts_ptr + tl.arange(0, DIGITS) * tl.num_programs(0) + block, counts)


@triton.jit
def scan_kernel(counts_ptr, size, BLOCK: tl.constexpr):
    """Replace every count by the sum of those before it."""
    total = 0
    for start in range(0, size, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        counts = tl.load(counts_ptr + offsets, mask=offsets < size, other=0)
        tl.store(counts_ptr + offsets, total + tl.cumsum(counts, 0) - counts, mask=offsets < size)
        total += tl.sum(counts, axis=0)


@triton.jit
def scatter_kernel(
    keys_ptr, indices_ptr, starts_ptr, out_keys_ptr, out_indices_ptr, size, shift,
    BLOCK: tl.constexpr, DIGITS: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    offsets = block * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    keys = tl.load(keys_ptr + offsets, mask=mask, other=0)
    indices = tl.load(indices_ptr + offsets, mask=mask, other=0)
    digits = digit_of(keys, shift, DIGITS)
    columns = tl.arange(0, DIGITS)
    one_hot = ((digits[:, None] == columns[None, :]) & mask[:, None]).to(tl.int32)
    rank = tl.sum(one_hot * (tl.cumsum(one_hot, axis=0) - 1), axis=1)
    start = tl.load(starts_ptr + digits * tl.num_programs(0) + block, mask=mask, other=0)
    tl.store(out_keys_ptr + start + rank, keys, mask=mask)
    tl.store(out_indices_ptr + start + rank, indices, mask=mask)


def radix_sort(keys: torch.Tensor):
    """Return the int32 keys in order, and the index that each had."""
    size = keys.numel()
    blocks = triton.cdiv(size, BLOCK)
    keys, indices = keys.clone(), torch.arange(size, dtype=torch.int32)
    out_keys, out_indices = torch.empty_like(keys), torch.empty_like(indices)
    counts = torch.empty(DIGITS * blocks, dtype=torch.int32)
    constants = {"BLOCK": BLOCK, "DIGITS": DIGITS}
    for shift in range(0, 32, 4):
        count_kernel[(blocks,)](keys, counts, size, shift, **constants)
        scan_kernel[(1,)](counts, counts.numel(), BLOCK=512)
        scatter_kernel[(blocks,)](
            keys, indices, counts, out_keys, out_indices, size, shift, **constants
        )
        keys, out_keys = out_keys, keys
        indices, out_indices = out_indices, indices
    return keys, indices


def reference(keys: torch.Tensor):
    ordered, indices = keys.sort(stable=True)
    return ordered, indices.int()


def inputs(size: int, limit: int):
    torch.manual_seed(0)
    return (torch.randint(-limit, limit, (size,), dtype=torch.int32),)


def main() -> None:
    arguments = inputs(100_003, 2**31 - 1)
    pairs = zip(radix_sort(*arguments), reference(*arguments))
    same = all(torch.equal(actual, expected) for actual, expected in pairs)
    print(f"radix_sort of 100,003 keys: exact keys and indices: {same}")


if __name__ == "__main__":
    main()
