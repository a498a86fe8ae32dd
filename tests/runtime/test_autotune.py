"""Autotuning picks what the clock prefers; heuristics compute; both leave results right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl

CONFIGS = [triton.Config({"BLOCK": block}) for block in (4, 8, 16)]


def tuned(configs: list[triton.Config] = CONFIGS, key: tuple[str, ...] = ("n",), **options: Any):
    @triton.autotune(configs=configs, key=key, **options)
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(x + offsets, tl.load(x + offsets, mask=mask) + 1, mask=mask)

    return kernel


def prefer(block: int, seen: list[int]) -> Callable[..., list[float]]:
    """A clock that finds one block size fastest."""

    def bench(call: Callable[[], None], quantiles: Any = None) -> list[float]:
        call()
        seen.append(1)
        return [float(abs(len(seen) - 1 - [4, 8, 16].index(block)))] * 3

    return bench


def grid(meta: dict[str, Any]) -> tuple[int]:
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def test_the_fastest_is_used_and_remembered() -> None:
    seen: list[int] = []
    kernel = tuned(do_bench=prefer(8, seen), restore_value=["x"])
    x = torch.zeros(20)
    kernel[grid](x, 20)
    assert kernel.best_config.kwargs == {"BLOCK": 8} and len(seen) == 3
    assert (x == 1).all()
    kernel[grid](x, 20)
    assert len(seen) == 3 and (x == 2).all()
    kernel[grid](x, 19)
    assert len(seen) == 6


def test_key_includes_dtypes() -> None:
    seen: list[int] = []
    kernel = tuned(do_bench=prefer(4, seen))
    kernel[grid](torch.zeros(20), 20)
    kernel[grid](torch.zeros(20, dtype=torch.int32), 20)
    assert len(seen) == 6


def test_reset_to_zero() -> None:
    kernel = tuned(reset_to_zero=["x"])
    x = torch.full((20,), 5.0)
    kernel[grid](x, 20)
    assert (x == 1).all()


def test_compile_only_takes_the_first() -> None:
    kernel = tuned()
    x = np.zeros(20, np.float32)
    assert kernel[grid](x, 20).threads_per_block == 4
    assert not kernel.cache and (x == 0).all()


def test_pruning() -> None:
    seen: list[Any] = []

    def early(configs: list[triton.Config], named: dict[str, Any], **kwargs: Any) -> Any:
        seen.append(named["n"])
        return [config for config in configs if config.kwargs["BLOCK"] > 4]

    model = {"perf_model": lambda n, BLOCK, **kwargs: BLOCK, "top_k": 1}
    kernel = tuned(prune_configs_by={"early_config_prune": early, **model})
    kernel[grid](torch.zeros(20), 20)
    assert kernel.best_config.kwargs == {"BLOCK": 8} and seen == [20]


def test_configurations_that_do_not_compile_lose() -> None:
    @triton.autotune(configs=[triton.Config({"B": 0}), triton.Config({"B": 8})], key=[])
    @triton.jit
    def kernel(x, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1.0)

    x = torch.zeros(8)
    kernel[(1,)](x)
    assert kernel.best_config.kwargs == {"B": 8} and (x == 1).all()


def test_hooks() -> None:
    calls: list[str] = []
    configs = [
        triton.Config({"BLOCK": 4}, pre_hook=lambda named: calls.append(f"config {named['n']}")),
        triton.Config({"BLOCK": 8}),
    ]
    kernel = tuned(
        configs,
        pre_hook=lambda named, reset_only=False: calls.append(f"pre {reset_only}"),
        post_hook=lambda named, exception: calls.append(f"post {exception}"),
        do_bench=lambda call, quantiles: (call(), [1.0])[1],
    )
    kernel[grid](torch.zeros(20), 20)
    bench = ["config 20", "pre False", "post None", "pre False", "post None", "pre True"]
    assert calls == [*bench, "config 20"]


def test_results_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYTRITON_CACHE_DIR", str(tmp_path))
    seen: list[int] = []
    for _ in range(2):
        kernel = tuned(do_bench=prefer(16, seen), cache_results=True)
        kernel[grid](torch.zeros(20), 20)
        assert kernel.best_config.kwargs == {"BLOCK": 16}
    assert len(seen) == 3


def test_unknown_key() -> None:
    """Published kernels have such keys; Triton says nothing about them."""
    with pytest.warns(UserWarning, match=r"autotune: key \['m'\] names no parameter"):
        kernel = tuned(key=("m",))
    kernel[grid](torch.zeros(20), 20)
    assert kernel.keys == ["m"]


def test_heuristics() -> None:
    @triton.heuristics({"EVEN": lambda args: args["n"] % 4 == 0, "TWICE": lambda a: 2 * a["B"]})
    @triton.jit
    def kernel(out, n, B: tl.constexpr, EVEN: tl.constexpr, TWICE: tl.constexpr):
        tl.store(out, TWICE + (100 if EVEN else 0))

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, 8, B=3, target="interpret")
    assert out[0] == 106
    kernel[(1,)](out, 9, B=3, target="interpret")
    assert out[0] == 6


def test_autotune_over_heuristics_inside_a_kernel() -> None:
    inner = triton.autotune(configs=[triton.Config({"B": 2})], key=[])(
        triton.heuristics({"C": lambda args: args["B"] + 1})(triton.jit(lambda_kernel))
    )
    out = np.zeros(1, np.int32)
    inner[(1,)](out, target="interpret")
    assert out[0] == 5


def lambda_kernel(out, B: tl.constexpr, C: tl.constexpr):
    tl.store(out, B + C)


def test_configs_compare_and_print() -> None:
    config = triton.Config({"BLOCK": 4}, num_warps=8)
    assert config == triton.Config({"BLOCK": 4}, num_warps=8) != triton.Config({"BLOCK": 4})
    assert (config.num_warps, config.num_stages, config.num_ctas) == (8, 3, 1)
    assert str(config) == "BLOCK: 4, num_warps: 8"
