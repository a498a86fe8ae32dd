"""Trains a small transformer on its own source, with kernels for the products, norms, attention and
loss: on one process, or on several by data or tensor parallelism.

python -m mytriton run examples/transformer/train.py
torchrun --nproc-per-node 2 -m mytriton run examples/transformer/train.py --parallel data

`--parallel` is `none`, `data` or `tensor`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import torch

# Optimisers load it. It keeps the process groups that it finds alive to the end, so that their
# threads would run while Python is taken down; loaded first, it finds none.
import torch._dynamo
import torch.distributed as distributed
from model import Sizes, Transformer
from parallel import Shard, average

BATCH = 8


def corpus() -> tuple[torch.Tensor, int]:
    """This program's source as numbers of its characters, and how many there are."""
    text = "".join(path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("*.py")))
    number = {character: n for n, character in enumerate(sorted(set(text)))}
    return torch.tensor([number[character] for character in text]), len(number)


def batches(text: torch.Tensor, length: int, steps: int) -> Iterator[torch.Tensor]:
    """Random windows of the text, (BATCH, length + 1); the same on every process."""
    random = torch.Generator().manual_seed(1)
    for _ in range(steps):
        starts = torch.randint(len(text) - length, (BATCH, 1), generator=random)
        yield text[starts + torch.arange(length + 1)]


def train(parallel: str, steps: int) -> list[float]:
    """The loss of each step, over the whole batch."""
    mine = Shard()
    if parallel != "none":
        distributed.init_process_group("gloo")
        mine = Shard(distributed.get_rank(), distributed.get_world_size())
    text, vocabulary = corpus()
    sizes = Sizes(vocabulary)
    torch.manual_seed(0)
    model = Transformer(sizes, mine if parallel == "tensor" else Shard())
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for step, batch in enumerate(batches(text, sizes.length, steps)):
        part = mine.of(batch, 0) if parallel == "data" else batch
        loss = model(part[:, :-1], part[:, 1:])
        optimiser.zero_grad()
        loss.backward()
        mean = loss.detach()
        if parallel == "data":
            average([mean, *(p.grad for p in model.parameters() if p.grad is not None)])
        optimiser.step()
        losses.append(mean.item())
        if mine.index == 0 and (step + 1) % 10 == 0:
            print(f"step {step + 1}: loss {losses[-1]:.4f}", flush=True)
    if parallel != "none":
        distributed.barrier()
        distributed.destroy_process_group()
    return losses


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--parallel", choices=("none", "data", "tensor"), default="none")
    options.add_argument("--steps", type=int, default=50)
    given = options.parse_args()
    train(given.parallel, given.steps)


if __name__ == "__main__":
    main()
