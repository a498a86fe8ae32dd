"""The functions of examples/transformer against PyTorch in float64, forward and backward, at sizes
that fill no block. A program: test_transformer.py runs it under the stand-in."""

import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "transformer"))

from ops import Attention, CrossEntropy, Linear, RMSNorm

Function = Callable[..., torch.Tensor]


def leaf(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.clone().to(dtype).requires_grad_() if x.is_floating_point() else x


def agree(ours: Function, exact: Function, *inputs: torch.Tensor) -> None:
    single = [leaf(x, torch.float32) for x in inputs]
    double = [leaf(x, torch.float64) for x in inputs]
    result, expected = ours(*single), exact(*double)
    torch.testing.assert_close(result.double(), expected, atol=1e-4, rtol=1e-4)
    toward = torch.randn_like(expected)
    result.backward(toward.float())
    expected.backward(toward)
    for one, other in zip(single, double):
        if one.is_floating_point():
            torch.testing.assert_close(one.grad.double(), other.grad, atol=2e-4, rtol=1e-4)


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


torch.manual_seed(0)
for width in (1, 5, 100):
    agree(Linear.apply, F.linear, torch.randn(3, 7, width), torch.randn(33, width))
    agree(RMSNorm.apply, rms_norm, torch.randn(19, width), torch.randn(width))
for length in (1, 31, 64, 97):
    agree(Attention.apply, attention, *torch.randn(3, 2, 3, length, 16))
for classes in (1, 17, 100):
    target = torch.randint(classes, (13,))
    agree(CrossEntropy.apply, F.cross_entropy, 9 * torch.randn(13, classes), target)
print("agree with torch")
