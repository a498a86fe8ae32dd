"""What processes tell one another: sums of activations for tensor parallelism, means of gradients
for data parallelism. torch.distributed carries them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as distributed


@dataclass(frozen=True)
class Shard:
    """The part of a whole that a process has: number `index` of `count` equal ones."""

    index: int = 0
    count: int = 1

    def of(self, whole: torch.Tensor, axis: int) -> torch.Tensor:
        return whole.chunk(self.count, axis)[self.index].contiguous()


class Copied(torch.autograd.Function):
    """The same tensor on every process; its gradient is the sum of theirs."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(context: Any, dx: torch.Tensor) -> torch.Tensor:
        dx = dx.clone()
        distributed.all_reduce(dx)
        return dx


class Summed(torch.autograd.Function):
    """The sum of a tensor over the processes; each gets the whole gradient."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        distributed.all_reduce(x)
        return x

    @staticmethod
    def backward(context: Any, dx: torch.Tensor) -> torch.Tensor:
        return dx


def average(tensors: Iterable[torch.Tensor]) -> None:
    """Each becomes its mean over the processes."""
    for tensor in tensors:
        distributed.all_reduce(tensor)
        tensor /= distributed.get_world_size()
