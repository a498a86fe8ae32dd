"""Liger Kernel's operators, forward and backward, against plain PyTorch in float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from liger_kernel import ops
from liger_kernel.ops.experimental.embedding import LigerEmbeddingFunction

from integration.harness import Case, agree, close

Tensors = Sequence[torch.Tensor]
FLOATS = (torch.float32, torch.bfloat16)


@dataclass(frozen=True)
class Row:
    """One operator: its call, what it means, and inputs by dtype. `scale` widens the tolerance
    where the operator sums over many elements in its own precision."""

    op: str
    call: Callable[..., Any]
    meaning: Callable[..., Any]
    inputs: Callable[[torch.dtype], Tensors]
    dtypes: Sequence[torch.dtype] = FLOATS
    scale: float = 1.0
    variant: str = ""


def normal(*shapes: tuple[int, ...], seed: int = 0) -> Callable[[torch.dtype], Tensors]:
    """Normal numbers of these shapes."""

    def make(dtype: torch.dtype) -> Tensors:
        made = torch.Generator().manual_seed(seed)
        return [torch.randn(shape, generator=made).to(dtype) for shape in shapes]

    return make


def with_labels(
    floats: Callable[[torch.dtype], Tensors], rows: int, classes: int, ignored: int = 0
) -> Callable[[torch.dtype], Tensors]:
    """Floats and a row of class numbers, the first `ignored` of them -100."""

    def make(dtype: torch.dtype) -> Tensors:
        labels = torch.randint(classes, (rows,), generator=torch.Generator().manual_seed(1))
        labels[:ignored] = -100
        return [*floats(dtype), labels]

    return make


def log_softmaxed(shape: tuple[int, ...], count: int, log: Sequence[bool]) -> Any:
    """Distributions over the last axis, as logarithms where asked."""

    def make(dtype: torch.dtype) -> Tensors:
        made = normal(*[shape] * count, seed=2)(torch.float32)
        found = [x.log_softmax(-1) if is_log else x.softmax(-1) for x, is_log in zip(made, log)]
        return [x.to(dtype) for x in found]

    return make


# -- meanings


def rms(x: torch.Tensor, w: torch.Tensor, offset: float = 0.0) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * (w + offset)


def added_rms(x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor) -> Any:
    total = x + residual
    return rms(total, w), total


def modulated_rms(x: torch.Tensor, w: torch.Tensor, scale: Any, shift: Any) -> torch.Tensor:
    return rms(x, w) * (1 + scale) + shift


def poly_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    def normed(y: torch.Tensor) -> torch.Tensor:
        return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)

    return w[0] * normed(x**3) + w[1] * normed(x**2) + w[2] * normed(x) + b


def rotated(x: torch.Tensor) -> torch.Tensor:
    left, right = x.chunk(2, -1)
    return torch.cat([-right, left], -1)


def rope(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> Any:
    cos, sin = cos.detach().unsqueeze(1), sin.detach().unsqueeze(1)
    return q * cos + rotated(q) * sin, k * cos + rotated(k) * sin


def angles(dtype: torch.dtype, heads: int = 3, size: int = 32, steps: int = 17) -> Tensors:
    q, k = normal((2, heads, steps, size), (2, heads, steps, size))(dtype)
    phases = torch.outer(torch.arange(steps).float(), 0.5 ** torch.arange(size // 2))
    phases = torch.cat([phases, phases], -1)[None]
    return [q, k, phases.cos().to(dtype), phases.sin().to(dtype)]


def sparsemax(x: torch.Tensor) -> torch.Tensor:
    ordered, _ = x.sort(-1, descending=True)
    sums = ordered.cumsum(-1)
    ranks = torch.arange(1, x.shape[-1] + 1)
    support = (1 + ranks * ordered > sums).sum(-1, keepdim=True)
    threshold = (sums.gather(-1, support - 1) - 1) / support
    return (x - threshold).clamp(min=0)


def jsd(student: torch.Tensor, teacher: torch.Tensor, beta: float = 0.5) -> torch.Tensor:
    teacher = teacher.detach()
    p, q = student.exp(), teacher.exp()
    mixed = (beta * q + (1 - beta) * p).log()
    parts = beta * q * (teacher - mixed) + (1 - beta) * p * (student - mixed)
    return parts.sum() / student.shape[0]


def tvd(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    return 0.5 * (p - q.detach()).abs().sum() / p.shape[0]


def kl(y_pred: torch.Tensor, y_true: torch.Tensor) -> torch.Tensor:
    return F.kl_div(y_pred, y_true.detach(), reduction="batchmean")


def attention_over_layers(v: torch.Tensor, query: torch.Tensor, norm: torch.Tensor) -> Any:
    keys = rms(v, norm)
    weights = torch.einsum("nbtd,d->nbt", keys, query).softmax(0)
    return torch.einsum("nbt,nbtd->btd", weights, v)


def multi_token(scores: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    attention = scores.masked_fill(future, -1e9).softmax(-1)
    return F.conv2d(attention, weight, bias, padding=1).masked_fill(future, 0.0)


def group_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.group_norm(x.reshape(x.shape[0], 6, -1), 3, w, b, 1e-6).reshape(x.shape)


def linear_jsd(x: Any, w: Any, y: Any, v: Any) -> torch.Tensor:
    return jsd((x @ w.T).log_softmax(-1), (y @ v.T).log_softmax(-1))


def linear_ce(x: torch.Tensor, w: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x @ w.T, labels)


def ce_tvd(student: torch.Tensor, teacher: torch.Tensor, labels: torch.Tensor) -> Any:
    entropy = F.cross_entropy(student, labels, reduction="none")
    distance = 0.5 * (student.softmax(-1) - teacher.detach().softmax(-1)).abs().sum(-1)
    return entropy, distance.masked_fill(labels == -100, 0.0)


# -- the rows


def entropy(**options: Any) -> Row:
    meant = {
        key: options[key] for key in ("label_smoothing", "reduction", "weight") if key in options
    }
    given = {"weight": None, "reduction": "mean", "label_smoothing": 0.0, **options}

    def call(x: torch.Tensor, labels: torch.Tensor) -> Any:
        return ops.LigerCrossEntropyFunction.apply(
            # The operator writes its gradient over its input.
            x.clone(),
            labels,
            given["weight"],
            -100,
            0.0,
            given["label_smoothing"],
            given["reduction"],
        )[0]

    inputs = with_labels(normal((33, 1000)), 33, 1000, ignored=3)
    name = " ".join(f"{key}={value}" for key, value in options.items() if key != "weight")
    return Row("cross_entropy", call, partial(F.cross_entropy, **meant), inputs, variant=name)


def rows() -> Iterator[Row]:
    yield entropy()
    yield entropy(label_smoothing=0.1)
    yield entropy(reduction="sum")
    for mode in ("llama", "gemma", "none"):
        offset = 1.0 if mode == "gemma" else 0.0
        yield Row(
            "rms_norm",
            lambda x, w, m=mode, o=offset: ops.LigerRMSNormFunction.apply(x, w, 1e-6, o, m, False),
            partial(rms, offset=offset),
            normal((5, 40, 300), (300,)),
            variant=mode,
            scale=10,
        )
    yield Row(
        "fused_add_rms_norm",
        lambda x, r, w: ops.LigerFusedAddRMSNormFunction.apply(x, r, w, 1e-6, 0.0, "llama", False),
        added_rms,
        normal((5, 40, 300), (5, 40, 300), (300,)),
        scale=10,
    )
    yield Row(
        "modulated_rms_norm",
        lambda x, w, s, t: ops.LigerModulatedRMSNormFunction.apply(
            x, w, s, t, 1e-6, 0.0, "llama", False
        ),
        modulated_rms,
        normal((3, 40, 300), (300,), (300,), (300,)),
        (torch.float32,),
        scale=10,
    )
    yield Row(
        "layer_norm",
        lambda x, w, b: ops.LigerLayerNormFunction.apply(x, w, b, 1e-6),
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-6),
        normal((5, 40, 300), (300,), (300,)),
        scale=10,
    )
    yield Row(
        "group_norm",
        lambda x, w, b: ops.LigerGroupNormFunction.apply(x, w, b, 6, 3, 1e-6),
        group_norm,
        normal((4, 6, 50), (6,), (6,)),
        scale=10,
    )
    yield Row(
        "poly_norm",
        lambda x, w, b: ops.LigerPolyNormFunction.apply(x, w, b, 1e-6, False),
        poly_norm,
        normal((3, 20, 300), (3,), ()),
        scale=10,
    )
    yield Row(
        "softmax",
        ops.LigerSoftmaxFunction.apply,
        lambda x: x.softmax(-1),
        normal((7, 20, 300)),
    )
    yield Row(
        "sparsemax",
        lambda x: ops.LigerSparsemaxFunction.apply(x, -1),
        sparsemax,
        normal((40, 300)),
        (torch.float32,),
    )
    yield from activations()
    yield from losses()
    yield from attentions()


def activations() -> Iterator[Row]:
    yield Row(
        "geglu",
        ops.LigerGELUMulFunction.apply,
        lambda a, b: F.gelu(a, approximate="tanh") * b,
        normal((5, 40, 300), (5, 40, 300)),
    )
    yield Row(
        "swiglu",
        ops.LigerSiLUMulFunction.apply,
        lambda a, b: F.silu(a) * b,
        normal((5, 40, 300), (5, 40, 300)),
    )
    yield Row(
        "swiglu_fused_gate_up",
        ops.LigerFusedGateUpSiLUMulFunction.apply,
        lambda y: F.silu(y.chunk(2, -1)[0]) * y.chunk(2, -1)[1],
        normal((200, 300)),
    )
    yield Row(
        "relu_squared",
        ops.LigerReLUSquaredFunction.apply,
        lambda x: F.relu(x).square(),
        normal((5, 40, 300)),
    )
    yield Row(
        "embedding",
        lambda w, i: LigerEmbeddingFunction.apply(w, i),
        lambda w, i: F.embedding(i, w),
        with_labels(normal((100, 48)), 70, 100),
        (torch.float32,),
    )


def losses() -> Iterator[Row]:
    shape = (20, 300)
    yield Row(
        "kl_div",
        lambda p, t: ops.LigerKLDivLossFunction.apply(p, t, "batchmean", False, 1e-10),
        kl,
        log_softmaxed(shape, 2, (True, False)),
        (torch.float32,),
    )
    yield Row(
        "jsd",
        lambda p, q: ops.LigerJSDFunction.apply(p, q, None, 0.5, -100),
        jsd,
        log_softmaxed(shape, 2, (True, True)),
        (torch.float32,),
    )
    yield Row(
        "tvd",
        lambda p, q: ops.LigerTVDLossFunction.apply(p, q, None, "batchmean", -100),
        tvd,
        log_softmaxed(shape, 2, (False, False)),
        (torch.float32,),
    )
    yield Row(
        "fused_linear_cross_entropy",
        lambda x, w, y: ops.LigerFusedLinearCrossEntropyFunction.apply(x, w, y)[0],
        linear_ce,
        with_labels(normal((30, 64), (200, 64)), 30, 200),
        (torch.float32,),
        scale=10,
    )
    yield Row(
        "fused_linear_jsd",
        lambda x, w, y, v: ops.LigerFusedLinearJSDFunction.apply(x, w, y.detach(), v.detach()),
        linear_jsd,
        normal((30, 16), (100, 16), (30, 24), (100, 24)),
        (torch.float32,),
        scale=10,
    )
    yield Row(
        "fused_ce_tvd",
        lambda s, t, y: ops.LigerFusedCETVDFunction.apply(s, t.detach(), y),
        ce_tvd,
        with_labels(normal((30, 200), (30, 200)), 30, 200, ignored=2),
        (torch.float32,),
        scale=10,
    )


def attentions() -> Iterator[Row]:
    yield Row(
        "rope",
        lambda q, k, c, s: ops.LigerRopeFunction.apply(q.clone(), k.clone(), c, s),
        rope,
        angles,
    )
    yield Row(
        "attn_res",
        lambda v, q, n: ops.LigerAttnResFunction.apply(v, q, n, 1e-6),
        attention_over_layers,
        normal((5, 2, 11, 64), (64,), (64,)),
        (torch.float32,),
        scale=10,
    )
    yield Row(
        "multi_token_attention",
        lambda s, w, b: ops.LigerMultiTokenAttentionFunction.apply(s, w, b, 1, 1, 1, 1, False),
        multi_token,
        normal((2, 3, 32, 32), (3, 3, 3, 3), (3,)),
        (torch.float32,),
        scale=10,
    )


def dyt_forward(dtype: torch.dtype) -> None:
    """DyT's backward has no branch for a CPU."""
    x, alpha, gamma, beta = normal((5, 40, 300), (1,), (300,), (300,))(dtype)
    close(ops.LigerDyTFunction.apply(x, alpha, gamma, beta), gamma * (alpha * x).tanh() + beta)


def cases() -> Iterator[Case]:
    yield Case("dyt", "float32 forward", partial(dyt_forward, torch.float32))
    for row in rows():
        for dtype in row.dtypes:
            name = " ".join(filter(None, [str(dtype).removeprefix("torch."), row.variant]))
            run = partial(_run, row, dtype)
            yield Case(row.op, name, run)


def _run(row: Row, dtype: torch.dtype) -> None:
    agree(row.call, row.meaning, row.inputs(dtype), row.scale)
