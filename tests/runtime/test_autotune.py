"""Autotuning picks what the clock prefers; heuristics compute; both leave results right."""

from __future__ import annotations

import importlib.util
import io
import sys
import time
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


def test_a_fault_at_run_time_is_raised_not_scored() -> None:
    configs = [triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 8})]

    @triton.autotune(configs=configs, key=[])
    @triton.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    with pytest.raises(triton.KernelError, match="of `x`"):
        kernel[(1,)](np.zeros(8, np.float32), target="interpret")


def test_the_target_is_part_of_the_key() -> None:
    seen: list[int] = []
    kernel = tuned(do_bench=prefer(4, seen))
    x = np.zeros(20, np.float32)
    for target in ("cpu", "interpret", "cpu"):
        kernel[grid](x, 20, target=target)
    with triton.target("interpret"):
        kernel[grid](x, 20)
    assert len(seen) == 6


def test_key_values_that_python_takes_for_equal_are_tuned_apart() -> None:
    seen: list[int] = []
    with pytest.warns(UserWarning, match="names no parameter"):
        kernel = tuned(do_bench=prefer(4, seen), key=("scale",))
    values = (1, True, 1.0, 0.0, -0.0)
    kernel.arg_names.append("scale")
    keys = {kernel._tuning_key({"scale": value, "n": 3}) for value in values}
    assert len(keys) == len(values)


@pytest.mark.parametrize("configs", [CONFIGS, CONFIGS[:1]])
def test_a_parameter_that_a_configuration_sets_may_not_be_passed(configs: Any) -> None:
    kernel = tuned(configs)
    with pytest.raises(ValueError, match="BLOCK: set by Config"):
        kernel[grid](torch.zeros(20), 20, BLOCK=8)
    with pytest.raises(ValueError, match="BLOCK: set by Config"):
        kernel[grid](torch.zeros(20), 20, 8)
    kernel[grid](torch.zeros(20), 20)


def test_restore_and_reset_leave_none_alone() -> None:
    @triton.autotune(configs=CONFIGS, key=[], restore_value=["bias", "x"], reset_to_zero=["more"])
    @triton.jit
    def kernel(x, bias, more, BLOCK: tl.constexpr):
        if bias is None and more is None:
            tl.store(x + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)) + 1)

    x = torch.zeros(16)
    kernel[(1,)](x, None, None)
    assert x[:4].tolist() == [1.0] * 4


def test_a_refused_configuration_is_compiled_once(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        print("tried")
        raise ValueError("no")

    @triton.autotune(configs=[triton.Config({"B": 0}), triton.Config({"B": 8})], key=["n"])
    @triton.jit
    def kernel(x, n, B: tl.constexpr):
        if B == 0:
            refuse()
        tl.store(x + tl.arange(0, B), 1.0)

    for n in (1, 2, 3):
        kernel[(1,)](torch.zeros(8), n)
        assert kernel.best_config.kwargs == {"B": 8}
    assert capsys.readouterr().out == "tried\n"


def test_a_tuning_on_the_cpu_ends_with_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def slow(call: Callable[[], None], quantiles: Any = None) -> list[float]:
        seen.append(1)
        time.sleep(0.06)
        return [1.0]

    monkeypatch.setenv("MYTRITON_AUTOTUNE_SECONDS", "0.1")
    kernel = tuned(CONFIGS * 10, do_bench=slow)
    kernel[grid](torch.zeros(20), 20)
    assert len(seen) == 2
    monkeypatch.setenv("MYTRITON_AUTOTUNE_SECONDS", "0")
    kernel[grid](torch.zeros(20), 21)
    assert len(seen) == 2 + 3 * 10


def test_a_derived_autotuner_with_triton_s_positional_arguments() -> None:
    class Derived(triton.Autotuner):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.benched: list[Any] = []

        def _bench(self, *args: Any, config: Any, **meta: Any) -> Any:
            self.benched.append((config.kwargs["BLOCK"], self.nargs["n"], meta["grid"]))
            return super()._bench(*args, config=config, **meta)

    base = tuned().fn
    kernel = Derived(
        base, base.arg_names, CONFIGS, ["n"], ["x"], None, None, None, None, 1, 2, False
    )
    x = torch.full((20,), 5.0)
    kernel[grid](x, 20)
    assert [block for block, *_ in kernel.benched] == [4, 8, 16]
    assert (x == 1).all() and kernel.nargs is None and kernel.base_fn is base.fn


def test_each_choice_is_printed_when_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    kernel = tuned()
    kernel[grid](torch.zeros(20), 20)
    kernel[grid](torch.zeros(20), 20)
    assert capsys.readouterr().out.count("Triton autotuning for function kernel") == 1


def test_warmup_compiles_every_configuration() -> None:
    x = torch.zeros(20)
    launched = tuned().warmup(x, 20, grid=grid)
    assert [one.threads_per_block for one in launched] == [4, 8, 16] and not x.any()


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


def test_a_choice_on_disk_depends_on_what_the_kernel_reaches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYTRITON_CACHE_DIR", str(tmp_path))
    seen: list[int] = []
    program = """
import mytriton as triton, mytriton.language as tl
FACTOR = {factor}
def helper(x): return x {operator} FACTOR
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, helper(tl.load(x + i, mask=i < n)), mask=i < n)
"""

    def tune(**parts: Any) -> int:
        file = tmp_path / f"program{len(list(tmp_path.glob('*.py')))}.py"
        file.write_text(program.format(**parts))
        spec = importlib.util.spec_from_file_location("program", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        wrap = triton.autotune(CONFIGS, ["n"], do_bench=prefer(16, seen), cache_results=True)
        seen.clear()
        wrap(module.kernel)[(1,)](torch.zeros(4), 4)
        return len(seen)

    assert tune(factor=2, operator="*") == 3
    assert tune(factor=2, operator="*") == 0
    assert tune(factor=3, operator="*") == 3
    assert tune(factor=2, operator="+") == 3
    assert tune(factor=2, operator="*") == 0


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_only(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    configs = [triton.Config({"BLOCK": 2**power}) for power in range(2, 8)]
    kernel = tuned(configs, do_bench=lambda call, quantiles: (call(), [1.0])[1])
    kernel[grid](torch.zeros(20), 20)
    assert ("tuning" in stderr.getvalue()) == terminal
    assert len(kernel.configs_timings) == 6


def test_many_configurations_keep_to_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """81 configurations that take a tenth of a second each are left off at the budget."""
    monkeypatch.setenv("MYTRITON_AUTOTUNE_SECONDS", "0.5")
    configs = [triton.Config({"BLOCK": 64}, num_stages=stages) for stages in range(1, 82)]
    timed: list[int] = []

    def bench(call: Any, quantiles: Any) -> list[float]:
        timed.append(1)
        time.sleep(0.1)
        return [1.0] * 3

    kernel = tuned(configs, do_bench=bench)
    kernel[grid](torch.zeros(20), 20)
    assert 1 <= len(timed) <= 10 and 0.4 < kernel.bench_time < 5
    monkeypatch.setenv("MYTRITON_AUTOTUNE_SECONDS", "0")
    timed.clear()
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    kernel[grid](torch.zeros(21), 21)
    assert len(timed) == 81
