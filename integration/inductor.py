"""torch.compile for the CPU through `triton.compile`, against eager PyTorch: small models, forward
and backward, and operators on PyTorch's own sample inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import torch
import torch._dynamo
import torch._inductor.config as config
import torch._inductor.metrics as metrics
import torch.nn.functional as F
from torch import nn

from integration.harness import Case, NoKernel, close, gradients

DTYPES = (torch.float32, torch.bfloat16, torch.int64)
UNSUITED = {"rand", "bernoulli", "dropout", "normal", "uniform", "exponential", "multinomial",
            "empty", "geometric", "cauchy", "linalg", "fft", "sparse", "nonzero", "unique",
            "masked_select", "svd", "qr", "to_", "_refs", "special", "complex", "signal",
            "as_strided", "resize", "item", "equal", "allclose"}  # fmt: skip
"""Operators that are random, of a shape known at run time only, or served by other libraries."""


def setup() -> None:
    chosen: Any = config
    chosen.cpu_backend = "triton"
    chosen.compile_threads = 1
    chosen.fx_graph_cache = False


class Attention(nn.Module):
    """Multi-head self-attention, causal."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, time, width = x.shape
        parts = self.qkv(x).view(batch, time, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        future = torch.ones(time, time, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, time, width))


class Block(nn.Module):
    """A transformer's block."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width)
        self.mlp = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


def rms(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def rope(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    phase = torch.outer(torch.arange(x.shape[-2]).float(), 0.5 ** torch.arange(half))
    left, right = x[..., :half], x[..., half:]
    return torch.cat(
        [left * phase.cos() - right * phase.sin(), right * phase.cos() + left * phase.sin()], -1
    )


def welford(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.var_mean(x, -1)


MODELS: dict[str, Callable[[], Callable[..., Any]]] = {
    "mlp": lambda: nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32)),
    "gelu mlp": lambda: nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)),
    "swiglu": lambda: lambda x: F.silu(x[..., :16]) * x[..., 16:],
    "layer norm": lambda: nn.LayerNorm(32),
    "rms norm": lambda: rms,
    "group norm": lambda: lambda x: F.group_norm(x.transpose(1, 2), 4).transpose(1, 2),
    "batch norm": lambda: lambda x: F.batch_norm(x.flatten(0, 1), None, None, training=True),
    "instance norm": lambda: lambda x: F.instance_norm(x),
    "softmax": lambda: lambda x: x.softmax(-1),
    "log softmax": lambda: lambda x: x.log_softmax(1),
    "attention": Attention,
    "transformer block": Block,
    "two blocks": lambda: nn.Sequential(Block(), Block()),
    "rope": lambda: rope,
    "variance": lambda: welford,
    "cumsum": lambda: lambda x: x.cumsum(1),
    "cumprod": lambda: lambda x: (1 + x / 10).cumprod(-1),
    "logsumexp": lambda: lambda x: x.logsumexp((1, 2)),
    "max pool": lambda: lambda x: F.max_pool1d(x, 3, 2),
    "average pool": lambda: lambda x: F.avg_pool1d(x, 4),
    "interpolate": lambda: lambda x: F.interpolate(x, size=50, mode="linear"),
    "pad and roll": lambda: lambda x: F.pad(x, (1, 2), value=3.0).roll(5, -1),
    "transpose and add": lambda: lambda x: (x + 1).transpose(0, 2).contiguous() * 2,
    "gather rows": lambda: lambda x: x[:, torch.arange(30, -1, -3)],
    "where and clamp": lambda: lambda x: torch.where(x > 0, x.clamp(max=1), x.exp() - 1),
    "huber": lambda: lambda x: F.huber_loss(x, x.flip(0).detach()),
    "cosine": lambda: lambda x: F.cosine_similarity(x[:, :-1], x[:, 1:], dim=-1),
    "cross entropy": lambda: (
        lambda x: F.cross_entropy(x.flatten(0, 1), torch.arange(x.shape[0] * x.shape[1]) % 32)
    ),
}


def cases() -> Iterator[Case]:
    setup()
    for name in MODELS:
        yield Case(f"model: {name}", "float32", partial(run_model, name))
    from torch.testing._internal.common_methods_invocations import op_db

    suited = (op for op in op_db if not any(word in op.name for word in UNSUITED))
    for op in suited:
        for dtype in DTYPES:
            if dtype in op.supported_dtypes("cpu"):
                name = str(dtype).removeprefix("torch.")
                yield Case(op.formatted_name, name, partial(run_operator, op, dtype))


def run_model(name: str) -> None:
    torch.manual_seed(0)
    model = MODELS[name]()
    x = torch.randn(3, 31, 32)
    torch._dynamo.reset()
    compiled: Any = torch.compile(model)
    parameters = list(model.parameters()) if isinstance(model, nn.Module) else []

    def results(function: Callable[..., Any]) -> Any:
        outputs, of_input = gradients(function, [x])
        if not parameters:
            return outputs, of_input
        return outputs, of_input, torch.autograd.grad(function(x).square().sum(), parameters)

    close(results(compiled), results(model), scale=3)


def run_operator(op: Any, dtype: torch.dtype) -> None:
    metrics.reset()
    for sample in islice(op.sample_inputs("cpu", dtype, requires_grad=False), 2):
        try:
            expected = op(sample.input, *sample.args, **sample.kwargs)
        except Exception:
            # What eager refuses is nobody's sample.
            continue
        torch._dynamo.reset()
        compiled: Any = torch.compile(lambda x, a, k: op(x, *a, **k))
        actual = compiled(sample.input, sample.args, sample.kwargs)
        try:
            close(actual, expected, scale=2)
        except AssertionError:
            # Eager rounds to the dtype after each step, a fused kernel at its end.
            wide = sample.transform(_wide)
            close(actual, op(wide.input, *wide.args, **wide.kwargs), scale=2)
    if metrics.generated_kernel_count == 0:
        raise NoKernel


def _wide(given: Any) -> Any:
    floats = isinstance(given, torch.Tensor) and given.is_floating_point()
    return given.double() if floats else given
