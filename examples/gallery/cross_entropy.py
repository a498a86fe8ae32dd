"""Cross entropy over a large vocabulary, with the gradient of the logits.

One idea: logsumexp is streamed. A running maximum and a running sum of exp(x - maximum) are
corrected block by block, so the vocabulary is read once and no probability is ever stored.

Programs: one program a row of logits; it loops over the vocabulary in blocks, twice (once for the
loss, once for the gradient). A label of IGNORE gives zero loss and zero gradient.
"""

import torch
import torch.nn.functional as F

import mytriton as triton
import mytriton.language as tl

IGNORE = -100


@triton.jit
def cross_entropy_kernel(
    logits_ptr, labels_ptr, loss_ptr, dlogits_ptr, stride, vocabulary,
    IGNORE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * stride
    dlogits_ptr += row * stride
    label = tl.load(labels_ptr + row)
    if label == IGNORE:
        tl.store(loss_ptr + row, 0.0)
        for start in range(0, vocabulary, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            tl.store(dlogits_ptr + cols, tl.zeros([BLOCK], tl.float32), mask=cols < vocabulary)
        return

    maximum = -float("inf")
    total = 0.0
    for start in range(0, vocabulary, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < vocabulary, other=-float("inf"))
        x = x.to(tl.float32)
        larger = tl.maximum(maximum, tl.max(x, axis=0))
        total = total * tl.exp(maximum - larger) + tl.sum(tl.exp(x - larger), axis=0)
        maximum = larger
    logsumexp = maximum + tl.log(total)
    tl.store(loss_ptr + row, logsumexp - tl.load(logits_ptr + label).to(tl.float32))

    for start in range(0, vocabulary, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < vocabulary
        x = tl.load(logits_ptr + cols, mask=mask, other=-float("inf")).to(tl.float32)
        gradient = tl.exp(x - logsumexp) - tl.where(cols == label, 1.0, 0.0)
        tl.store(dlogits_ptr + cols, gradient, mask=mask)


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor):
    """Return the loss of each row, and the gradient of their sum for logits (rows, vocabulary)."""
    rows, vocabulary = logits.shape
    loss = torch.empty(rows, dtype=torch.float32)
    dlogits = torch.empty_like(logits)
    block = min(1024, triton.next_power_of_2(vocabulary))
    cross_entropy_kernel[(rows,)](
        logits, labels, loss, dlogits, logits.stride(0), vocabulary, IGNORE=IGNORE, BLOCK=block
    )
    return loss, dlogits


def reference(logits: torch.Tensor, labels: torch.Tensor):
    logits = logits.double().requires_grad_()
    loss = F.cross_entropy(logits, labels, ignore_index=IGNORE, reduction="none")
    return loss.detach(), torch.autograd.grad(loss.sum(), logits)[0]


def inputs(rows: int, vocabulary: int):
    torch.manual_seed(0)
    labels = torch.randint(vocabulary, (rows,))
    labels[1::4] = IGNORE
    return torch.randn(rows, vocabulary) * 10, labels


def main() -> None:
    arguments = inputs(200, 5003)
    pairs = zip(cross_entropy(*arguments), reference(*arguments))
    loss, gradient = ((actual - expected).abs().max() for actual, expected in pairs)
    print(f"cross_entropy of 200 x 5003: errors: loss {loss:.1e}, gradient {gradient:.1e}")


if __name__ == "__main__":
    main()
