"""Top-k routing for a mixture of experts: each token picks its k best experts.

One idea: k is small, so k rounds of maximum-with-index beat a sort. Each round takes the winner of
every token at once and removes it; the chosen logits then go through a softmax of width k.

Programs: one program a block of tokens (tokens × experts as one block). How many tokens each expert
got is counted by a histogram in the block and one atomic addition an expert.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def topk_routing_kernel(
    logits_ptr, weights_ptr, experts_ptr, counts_ptr, tokens, experts,
    K: tl.constexpr, BLOCK_TOKENS: tl.constexpr, BLOCK_EXPERTS: tl.constexpr,
    BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_TOKENS + tl.arange(0, BLOCK_TOKENS)
    cols = tl.arange(0, BLOCK_EXPERTS)
    slots = tl.arange(0, BLOCK_K)
    live = rows < tokens
    mask = live[:, None] & (cols[None, :] < experts)
    offsets = rows[:, None] * experts + cols[None, :]
    logits = tl.load(logits_ptr + offsets, mask=mask, other=-float("inf"))

    values = tl.full([BLOCK_TOKENS, BLOCK_K], -float("inf"), tl.float32)
    chosen = tl.zeros([BLOCK_TOKENS, BLOCK_K], tl.int32)
    for slot in tl.static_range(K):
        best, index = tl.max(logits, axis=1, return_indices=True)
        values = tl.where(slots[None, :] == slot, best[:, None], values)
        chosen = tl.where(slots[None, :] == slot, index[:, None], chosen)
        logits = tl.where(cols[None, :] == index[:, None], -float("inf"), logits)
        counts = tl.histogram(index, BLOCK_EXPERTS, mask=live)
        tl.atomic_add(counts_ptr + cols, counts, mask=(cols < experts) & (counts > 0))

    powers = tl.exp(values - tl.max(values, axis=1, keep_dims=True))
    weights = powers / tl.sum(powers, axis=1, keep_dims=True)
    out_mask = live[:, None] & (slots[None, :] < K)
    out = rows[:, None] * K + slots[None, :]
    tl.store(weights_ptr + out, weights, mask=out_mask)
    tl.store(experts_ptr + out, chosen, mask=out_mask)


def topk_routing(logits: torch.Tensor, k: int):
    """Return weights and expert numbers (tokens, k), and how many tokens each expert got."""
    tokens, experts = logits.shape
    weights = torch.empty(tokens, k)
    chosen = torch.empty(tokens, k, dtype=torch.int32)
    counts = torch.zeros(experts, dtype=torch.int32)
    topk_routing_kernel[(triton.cdiv(tokens, 32),)](
        logits, weights, chosen, counts, tokens, experts, K=k, BLOCK_TOKENS=32,
        BLOCK_EXPERTS=triton.next_power_of_2(experts), BLOCK_K=triton.next_power_of_2(k),
    )  # fmt: skip
    return weights, chosen, counts


def reference(logits: torch.Tensor, k: int):
    values, chosen = logits.double().topk(k, dim=1)
    counts = torch.bincount(chosen.flatten(), minlength=logits.shape[1])
    return values.softmax(dim=1), chosen.int(), counts.int()


def inputs(tokens: int, experts: int, k: int):
    torch.manual_seed(0)
    return torch.randn(tokens, experts), k


def main() -> None:
    arguments = inputs(1000, 60, 6)
    weights, chosen, counts = topk_routing(*arguments)
    expected, expected_chosen, expected_counts = reference(*arguments)
    same = torch.equal(chosen, expected_chosen) and torch.equal(counts, expected_counts)
    error = (weights - expected).abs().max()
    print(f"topk_routing of 1000 tokens to 6 of 60: same experts {same}, error {error:.1e}")


if __name__ == "__main__":
    main()
