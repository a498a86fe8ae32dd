"""A small decoder-only transformer whose products, norms, attention and loss are kernels."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from ops import Attention, CrossEntropy, Linear, RMSNorm
from parallel import Copied, Shard, Summed
from torch import nn


@dataclass(frozen=True)
class Sizes:
    vocabulary: int
    width: int = 64
    heads: int = 4
    layers: int = 2
    length: int = 64


def weights(rows: int, columns: int) -> torch.Tensor:
    return torch.randn(rows, columns) * columns**-0.5


class Block(nn.Module):
    """Attention and a two-layer network, each behind a norm and beside a skip.

    A shard has some of the heads and some of the hidden units. The first product of each half needs
    no word from the others; the second is a sum over them (Megatron-LM, arXiv 1909.08053).
    """

    def __init__(self, sizes: Sizes, shard: Shard) -> None:
        super().__init__()
        width, hidden = sizes.width, 4 * sizes.width
        self.size, self.sharded = width // sizes.heads, shard.count > 1
        self.norms = nn.ParameterList([torch.ones(width), torch.ones(width)])
        qkv = weights(3 * width, width).view(3, width, width)
        self.qkv = nn.Parameter(shard.of(qkv, 1).view(-1, width))
        self.out = nn.Parameter(shard.of(weights(width, width), 1))
        self.up = nn.Parameter(shard.of(weights(hidden, width), 0))
        self.down = nn.Parameter(shard.of(weights(width, hidden), 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.gathered(self.attention(self.spread(RMSNorm.apply(x, self.norms[0]))))
        return x + self.gathered(self.network(self.spread(RMSNorm.apply(x, self.norms[1]))))

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        parts = Linear.apply(x, self.qkv).view(batch, length, 3, -1, self.size)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = Attention.apply(q, k, v).transpose(1, 2).reshape(batch, length, -1)
        return Linear.apply(mixed, self.out)

    def network(self, x: torch.Tensor) -> torch.Tensor:
        return Linear.apply(torch.relu(Linear.apply(x, self.up)).square(), self.down)

    def spread(self, x: torch.Tensor) -> torch.Tensor:
        return Copied.apply(x) if self.sharded else x

    def gathered(self, x: torch.Tensor) -> torch.Tensor:
        return Summed.apply(x) if self.sharded else x


class Transformer(nn.Module):
    def __init__(self, sizes: Sizes, shard: Shard) -> None:
        super().__init__()
        self.tokens = nn.Parameter(weights(sizes.vocabulary, sizes.width))
        self.places = nn.Parameter(weights(sizes.length, sizes.width))
        self.blocks = nn.ModuleList(Block(sizes, shard) for _ in range(sizes.layers))
        self.norm = nn.Parameter(torch.ones(sizes.width))

    def forward(self, text: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
        """The mean loss of predicting each next token; both are (batch, length) of int64."""
        x = self.tokens[text] + self.places[: text.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = Linear.apply(RMSNorm.apply(x, self.norm), self.tokens)
        return CrossEntropy.apply(logits.flatten(0, 1), following.flatten())
