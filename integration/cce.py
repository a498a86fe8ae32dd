"""Cut Cross-Entropy: the loss of a classifier without its logits, forward and backward, against
PyTorch in float32."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from cut_cross_entropy.cce import cce_linear_cross_entropy

from integration.harness import Case, close

REDUCTIONS = ("mean", "sum", "none")


def loss(dtype: torch.dtype, options: dict[str, Any]) -> None:
    made = torch.Generator().manual_seed(0)
    # With a softcap the library counts the columns beyond the last class as -softcap, so there are
    # none: 384 classes fill its blocks.
    rows, classes, width = 70, 384 if "softcap" in options else 300, 128
    embedding = (torch.randn(rows, width, generator=made) / 8).to(dtype)
    classifier = (torch.randn(classes, width, generator=made) / 8).to(dtype)
    target = torch.randint(classes, (rows,), generator=made)
    target[:3] = -100
    leaves = [x.clone().requires_grad_() for x in (embedding, classifier)]
    # No gradient is left out as too small.
    ours = cce_linear_cross_entropy(*leaves, target, filter_eps=None, **options)
    wide = [x.float().requires_grad_() for x in (embedding, classifier)]
    logits = wide[0] @ wide[1].T
    softcap, reduction = options.get("softcap"), options.get("reduction", "mean")
    if softcap is not None:
        logits = softcap * torch.tanh(logits / softcap)
    theirs = F.cross_entropy(logits, target, reduction=reduction)
    close(ours.float(), theirs, 100)
    found = torch.autograd.grad(ours.float().square().sum(), leaves)
    expected = torch.autograd.grad(theirs.square().sum(), wide)
    close(found, tuple(x.to(dtype) for x in expected), 4)


def cases() -> Iterator[Case]:
    # The library's backward takes 16-bit numbers only.
    for dtype in (torch.float16, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        for reduction in REDUCTIONS:
            run = partial(loss, dtype, {"reduction": reduction})
            yield Case("linear_cross_entropy", f"{name} {reduction}", run)
        yield Case(
            "linear_cross_entropy", f"{name} softcap", partial(loss, dtype, {"softcap": 5.0})
        )
