"""Sort tokens by expert for a mixture of experts, and put the experts' results back together.

One idea: a stable counting sort needs no sorting. The place of an assignment is the number of
assignments to smaller experts plus the number of earlier ones to its own; the program of each
expert counts both, so the order never depends on which program runs first.

Programs: plan, one program an expert; gather, one program a sorted row; combine, one program a
token, which adds up its k rows by their weights.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def plan_kernel(experts_ptr, place_ptr, source_ptr, start_ptr, size, k, BLOCK: tl.constexpr):
    expert = tl.program_id(0)
    smaller = tl.zeros([BLOCK], tl.int32)
    for begin in range(0, size, BLOCK):
        offsets = begin + tl.arange(0, BLOCK)
        chosen = tl.load(experts_ptr + offsets, mask=offsets < size, other=2**31 - 1)
        smaller += (chosen < expert).to(tl.int32)
    place = tl.sum(smaller, axis=0)
    tl.store(start_ptr + expert, place)
    for begin in range(0, size, BLOCK):
        offsets = begin + tl.arange(0, BLOCK)
        chosen = tl.load(experts_ptr + offsets, mask=offsets < size, other=-1)
        mine = (chosen == expert).to(tl.int32)
        places = place + tl.cumsum(mine, axis=0) - 1
        tl.store(place_ptr + offsets, places, mask=mine != 0)
        tl.store(source_ptr + places, offsets // k, mask=mine != 0)
        place += tl.sum(mine, axis=0)


@triton.jit
def gather_kernel(x_ptr, source_ptr, sorted_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    token = tl.load(source_ptr + row)
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + token * width + cols, mask=cols < width)
        tl.store(sorted_ptr + row * width + cols, x, mask=cols < width)


@triton.jit
def combine_kernel(
    sorted_ptr, place_ptr, weights_ptr, out_ptr, width, K: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    token = tl.program_id(0)
    for start in range(0, width, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        acc = tl.zeros([BLOCK], tl.float32)
        for slot in tl.static_range(K):
            place = tl.load(place_ptr + token * K + slot)
            weight = tl.load(weights_ptr + token * K + slot)
            acc += weight * tl.load(sorted_ptr + place * width + cols, mask=cols < width, other=0.0)
        tl.store(out_ptr + token * width + cols, acc, mask=cols < width)


def moe_permute(x: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor, number: int):
    """Return the sorted rows, where each expert's rows start, and the combined rows.

    x (tokens, width); experts (int32, 0 … number - 1) and weights (tokens, k).
    """
    (tokens, width), k = x.shape, experts.shape[1]
    place = torch.empty(tokens * k, dtype=torch.int32)
    source, start = torch.empty_like(place), torch.empty(number, dtype=torch.int32)
    plan_kernel[(number,)](experts, place, source, start, tokens * k, k, BLOCK=256)
    ordered, combined = torch.empty(tokens * k, width), torch.empty_like(x)
    gather_kernel[(tokens * k,)](x, source, ordered, width, BLOCK=128)
    # Here the experts would work on their slices of `ordered`; this example leaves them alone.
    combine_kernel[(tokens,)](ordered, place, weights, combined, width, K=k, BLOCK=128)
    return ordered, start, combined


def reference(x: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor, number: int):
    order = experts.flatten().argsort(stable=True)
    counts = torch.bincount(experts.flatten(), minlength=number)
    combined = x.double() * weights.double().sum(dim=1, keepdim=True)
    return x[order // experts.shape[1]], (counts.cumsum(0) - counts).int(), combined


def inputs(tokens: int, width: int, number: int, k: int):
    torch.manual_seed(0)
    experts = torch.rand(tokens, number).topk(k, dim=1).indices.int()
    return torch.randn(tokens, width), experts, torch.rand(tokens, k), number


def main() -> None:
    arguments = inputs(500, 200, 12, 3)
    ordered, start, combined = moe_permute(*arguments)
    expected, expected_start, expected_combined = reference(*arguments)
    same = torch.equal(ordered, expected) and torch.equal(start, expected_start)
    error = (combined - expected_combined).abs().max()
    print(f"moe_permute of 500 tokens, 3 of 12 experts: exact order: {same}, error {error:.1e}")


if __name__ == "__main__":
    main()
