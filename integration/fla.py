"""Flash Linear Attention's operators, forward and backward, each against its own naive reference.

Both are called with the same tensors by keyword: q, k, v of (batch, time, heads, size), decays in
log space, gates between 0 and 1.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from integration.harness import Case, close, gradients

BATCH, TIME, HEADS, SIZE = 2, 100, 2, 32


def _normal(*last: int, seed: int) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randn(BATCH, TIME, HEADS, *last, generator=made)


INPUTS: dict[str, Callable[[], torch.Tensor]] = {
    "q": lambda: _normal(SIZE, seed=0),
    "short q": lambda: _normal(16, seed=0),
    "short k": lambda: _normal(16, seed=1),
    "k": lambda: _normal(SIZE, seed=1),
    "v": lambda: _normal(SIZE, seed=2),
    "unit k": lambda: F.normalize(_normal(SIZE, seed=1), dim=-1),
    "decay": lambda: F.logsigmoid(_normal(seed=3)),
    "decays": lambda: F.logsigmoid(_normal(SIZE, seed=3)) / 16,
    "gate": lambda: _normal(seed=4).sigmoid(),
    "gates": lambda: _normal(SIZE, seed=4).sigmoid(),
    "more gates": lambda: _normal(SIZE, seed=8).sigmoid(),
    "slots": lambda: _normal(16, seed=5),
    "slot decays": lambda: F.logsigmoid(_normal(16, seed=6)),
    "bonus": lambda: _normal(SIZE, seed=7)[0, 0],
    "row": lambda: _normal(SIZE, seed=9)[:, :, 0],
    "row decay": lambda: F.logsigmoid(_normal(SIZE, seed=10))[:, :, 0],
    "minus unit": lambda: -F.normalize(_normal(SIZE, seed=11), dim=-1),
    "unit": lambda: F.normalize(_normal(SIZE, seed=11), dim=-1) * _normal(SIZE, seed=12).sigmoid(),
}


@dataclass(frozen=True)
class Row:
    """An operator, its naive reference, and which input each of their parameters gets; options
    that only one of the two knows are left out for the other."""

    module: str
    op: str
    naive: str
    inputs: dict[str, str]
    options: tuple[tuple[str, Any], ...] = ()
    naive_module: str = ""
    backward: bool = True
    heads_first: bool = False
    """Whether the reference takes (batch, heads, time, size)."""
    dtype: torch.dtype = torch.float32


QKV = {"q": "q", "k": "k", "v": "v"}
DELTA = {**QKV, "k": "unit k", "beta": "gate"}
GDN2 = {**QKV, "k": "unit k", "g": "decays", "b": "gates", "w": "more gates"}
DPLR = {**QKV, "a": "minus unit", "b": "unit", "gk": "decays"}
OPS = (
    Row("linear_attn", "chunk_linear_attn", "naive_recurrent_linear_attn", QKV,
        (("normalize", False),)),
    Row("linear_attn", "fused_recurrent_linear_attn", "naive_recurrent_linear_attn", QKV,
        (("normalize", False),)),
    Row("retention", "chunk_retention", "naive_retention", QKV, heads_first=True),
    Row("retention", "fused_recurrent_retention", "naive_retention", QKV, heads_first=True),
    Row("retention", "parallel_retention", "naive_retention", QKV, heads_first=True),
    Row("simple_gla", "chunk_simple_gla", "naive_recurrent_simple_gla", {**QKV, "g": "decay"}),
    Row("simple_gla", "fused_chunk_simple_gla", "naive_recurrent_simple_gla",
        {**QKV, "g": "decay"}),
    Row("simple_gla", "fused_recurrent_simple_gla", "naive_recurrent_simple_gla",
        {**QKV, "g": "decay"}),
    Row("simple_gla", "parallel_simple_gla", "naive_parallel_simple_gla", {**QKV, "g": "decay"}),
    Row("gla", "chunk_gla", "naive_recurrent_gla", {**QKV, "g": "decays", "gk": "decays"}),
    Row("gla", "fused_recurrent_gla", "naive_recurrent_gla", {**QKV, "gk": "decays"}),
    Row("delta_rule", "chunk_delta_rule", "delta_rule_recurrence", DELTA,
        dtype=torch.bfloat16),
    Row("delta_rule", "fused_recurrent_delta_rule", "delta_rule_recurrence", DELTA),
    Row("gated_delta_rule", "chunk_gated_delta_rule", "naive_recurrent_gated_delta_rule",
        {**DELTA, "g": "decay"}),
    Row("gated_delta_rule", "fused_recurrent_gated_delta_rule",
        "naive_recurrent_gated_delta_rule", {**DELTA, "g": "decay"}, backward=False),
    Row("kda", "chunk_kda", "naive_recurrent_kda", {**DELTA, "g": "decays"}),
    Row("kda", "fused_recurrent_kda", "naive_recurrent_kda", {**DELTA, "g": "decays"},
        backward=False),
    Row("gdn2", "chunk_gdn2", "naive_recurrent_gdn2", GDN2),
    Row("gdn2", "fused_recurrent_gdn2", "naive_recurrent_gdn2", GDN2, backward=False),
    Row("comba", "chunk_comba", "naive_chunk_comba",
        {**DELTA, "p": "unit k", "g": "decay"}),
    Row("hgrn", "chunk_hgrn", "naive_recurrent_hgrn", {"x": "row", "g": "row decay"}),
    Row("hgrn", "fused_recurrent_hgrn", "naive_recurrent_hgrn", {"x": "row", "g": "row decay"}),
    Row("gsa", "chunk_gsa", "naive_recurrent_gsa", {**QKV, "s": "slots", "g": "slot decays"}),
    Row("gsa", "fused_recurrent_gsa", "naive_recurrent_gsa",
        {**QKV, "s": "slots", "g": "slot decays"}),
    Row("based", "fused_chunk_based", "naive_parallel_based",
        {"q": "short q", "k": "short k", "v": "v"}, heads_first=True),
    Row("based", "parallel_based", "naive_parallel_based",
        {"q": "short q", "k": "short k", "v": "v"}, heads_first=True),
    Row("rwkv6", "chunk_rwkv6", "naive_recurrent_rwkv6",
        {"q": "q", "r": "q", "k": "k", "v": "v", "w": "decays", "u": "bonus"},
        naive_module="rwkv6.recurrent_naive", heads_first=True),
    Row("rwkv6", "fused_recurrent_rwkv6", "naive_recurrent_rwkv6",
        {"q": "q", "r": "q", "k": "k", "v": "v", "w": "decays", "u": "bonus"},
        naive_module="rwkv6.recurrent_naive", heads_first=True),
    Row("generalized_delta_rule.dplr", "chunk_dplr_delta_rule", "dplr_recurrence", DPLR),
    Row("generalized_delta_rule.dplr", "fused_recurrent_dplr_delta_rule", "dplr_recurrence", DPLR,
        backward=False),
    Row("forgetting_attn", "parallel_forgetting_attn", "naive_forgetting_attn",
        {**QKV, "g": "decay"}),
    Row("attn", "parallel_attn", "naive_parallel_attn", QKV),
    Row("attn", "parallel_attn", "naive_parallel_attn", QKV, (("window_size", 24),)),
    Row("stickbreaking_attn", "parallel_stickbreaking_attn", "naive_stickbreaking_attn", QKV),
)  # fmt: skip


def cases() -> Iterator[Case]:
    for row in OPS:
        dtype = str(row.dtype).removeprefix("torch.")
        variant = " ".join([dtype, *(f"{key}={value}" for key, value in row.options)])
        yield Case(row.op, variant, partial(run, row))


def run(row: Row) -> None:
    """Compares outputs and gradients, relative to the reference's largest element."""
    package = f"fla.ops.{row.module}"
    actual = getattr(importlib.import_module(package), row.op)
    meaning = globals().get(row.naive)
    if meaning is None:
        module = f"fla.ops.{row.naive_module}" if row.naive_module else f"{package}.naive"
        meaning = getattr(importlib.import_module(module), row.naive)
    tensors = {n: INPUTS[n]().to(row.dtype) for n in dict.fromkeys(row.inputs.values())}
    wide = [x.float() for x in tensors.values()]
    ours = results(row, bound(row, actual, list(tensors)), list(tensors.values()))
    theirs = results(row, bound(row, meaning, list(tensors), row.heads_first), wide)
    for left, right in zip(ours, theirs):
        if left is not None and right is not None:
            size = right.abs().max().clamp(min=1.0)
            close(left / size, (right / size).to(left.dtype), scale=30)


def results(row: Row, call: Callable[..., Any], given: list[torch.Tensor]) -> list[Any]:
    """The output, and the gradients where the operator has them."""
    if not row.backward:
        return [call(*given)]
    output, found = gradients(call, given)
    return [output, *found]


def bound(
    row: Row, function: Callable[..., Any], names: list[str], heads_first: bool = False
) -> Callable[..., Any]:
    """The function of the distinct inputs, which gives the first of its outputs."""
    known = inspect.signature(function).parameters

    def turned(x: torch.Tensor) -> torch.Tensor:
        return x.transpose(1, 2) if heads_first and x.ndim == 4 else x

    def call(*given: torch.Tensor) -> Any:
        by_name = dict(zip(names, map(turned, given)))
        named = {p: by_name[name] for p, name in row.inputs.items() if p in known}
        options = {key: value for key, value in row.options if key in known}
        result = function(**named, **options)
        return turned(result[0] if isinstance(result, tuple) else result)

    return call


# -- references that the library keeps in its tests only


def delta_rule_recurrence(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor
) -> torch.Tensor:
    """S ← S + k (β (v − Sᵀ k))ᵀ; o = Sᵀ q / √size."""
    state = torch.zeros(BATCH, HEADS, SIZE, SIZE)
    outputs = []
    for t in range(TIME):
        new = beta[:, t, :, None] * (v[:, t] - torch.einsum("bhkv,bhk->bhv", state, k[:, t]))
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], new)
        outputs.append(torch.einsum("bhkv,bhk->bhv", state, q[:, t] * SIZE**-0.5))
    return torch.stack(outputs, 1)


def dplr_recurrence(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    gk: torch.Tensor,
) -> torch.Tensor:
    """S ← diag(exp g) S + b (Sᵀ a)ᵀ + k vᵀ, of the old S on the right; o = Sᵀ q / √size."""
    state = torch.zeros(BATCH, HEADS, SIZE, SIZE)
    outputs = []
    for t in range(TIME):
        low_rank = torch.einsum("bhkv,bhk->bhv", state, a[:, t])
        state = state * gk[:, t].exp()[..., None]
        state = state + torch.einsum("bhk,bhv->bhkv", b[:, t], low_rank)
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], v[:, t])
        outputs.append(torch.einsum("bhkv,bhk->bhv", state, q[:, t] * SIZE**-0.5))
    return torch.stack(outputs, 1)
