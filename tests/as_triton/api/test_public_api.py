"""What a program may expect of `import triton`: written against its public API alone.

`tests/as_triton/test_api.py` runs this file where the stand-in is active and, where the triton
wheel is installed, with that under TRITON_INTERPRET=1. `COMPILED` marks what an interpreter has
not.
"""

import inspect
import os
import subprocess
import sys

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import JITFunction
from triton.runtime.autotuner import Autotuner

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
COMPILED = pytest.mark.skipif(INTERPRETED, reason="an interpreter compiles nothing")
DTYPES = [
    torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.bool,
]  # fmt: skip


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, stride: tl.constexpr = 1, BLOCK: tl.constexpr = 32):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets * stride, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def helper(x, factor: tl.constexpr):
    return x * factor


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, helper(tl.load(x_ptr + offsets, mask=mask), FACTOR), mask=mask)


def sample(dtype: torch.dtype, n: int) -> torch.Tensor:
    made = torch.Generator().manual_seed(n)
    return (torch.randn(n, generator=made) * 50).to(dtype)


# -- launching


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [1, 31, 100])
def test_every_dtype_is_copied_to_the_bit(dtype, n):
    x, out = sample(dtype, n), torch.zeros(n, dtype=dtype)
    copy_kernel[(triton.cdiv(n, 32),)](x, out, n)
    assert torch.equal(x, out)


def test_views_with_strides_and_offsets_are_pointers_to_their_first_element():
    base = torch.zeros(100)
    x = torch.arange(20.0)
    copy_kernel[(1,)](x, base[3::2], 20, stride=2)
    assert torch.equal(base[3:43:2], x)
    assert base.sum() == x.sum()


def test_a_grid_may_be_a_function_of_the_constexprs():
    seen = []
    x, out = torch.randn(70), torch.zeros(70)

    def grid(meta):
        seen.append(meta["BLOCK"])
        return (triton.cdiv(70, meta["BLOCK"]),)

    scale_kernel[grid](x, out, 70, FACTOR=3, BLOCK=16)
    torch.testing.assert_close(out, x * 3)
    assert seen and set(seen) == {16}


def test_options_of_a_launch_change_no_value():
    x, out = torch.randn(64), torch.zeros(64)
    scale_kernel[(2,)](x, out, 64, FACTOR=2, BLOCK=32, num_warps=2, num_stages=1)
    torch.testing.assert_close(out, x * 2)


def test_tensors_that_require_gradients_are_arguments():
    x = torch.randn(32, requires_grad=True)
    out = torch.zeros(32)
    scale_kernel[(1,)](x, out, 32, FACTOR=2, BLOCK=32)
    torch.testing.assert_close(out, x.detach() * 2)


# -- what a kernel knows of itself


@COMPILED
def test_a_kernel_knows_its_function_names_and_source():
    assert isinstance(copy_kernel, JITFunction)
    assert copy_kernel.arg_names == ["x_ptr", "out_ptr", "n", "stride", "BLOCK"]
    assert [p.name for p in copy_kernel.params if p.is_constexpr] == ["stride", "BLOCK"]
    assert [p.num for p in copy_kernel.params] == [0, 1, 2, 3, 4]
    assert copy_kernel.params[4].default == 32
    assert not copy_kernel.params[0].do_not_specialize
    assert copy_kernel.src.startswith("def copy_kernel(")
    assert copy_kernel.__name__ == "copy_kernel"
    assert list(inspect.signature(copy_kernel.fn).parameters) == copy_kernel.arg_names
    assert copy_kernel.cache_key != scale_kernel.cache_key


@COMPILED
def test_a_launch_gives_back_a_kernel_that_can_be_launched_again():
    x, out = torch.randn(64), torch.zeros(64)
    kernel = scale_kernel[(2,)](x, out, 64, FACTOR=2, BLOCK=32)
    out.zero_()
    kernel[(2, 1, 1)](x, out, 64)
    torch.testing.assert_close(out, x * 2)
    assert kernel.name == "scale_kernel"
    assert isinstance(kernel.hash, str)
    assert isinstance(kernel.asm, dict)
    assert kernel.metadata.num_warps == 4
    assert kernel.n_spills == 0


@COMPILED
def test_warming_up_compiles_and_runs_nothing():
    out = torch.zeros(64)
    kernel = scale_kernel.warmup(torch.float32, torch.float32, 64, FACTOR=2, BLOCK=32, grid=(2,))
    kernel._init_handles()
    again = scale_kernel.warmup(torch.ones(64), out, 64, FACTOR=2, BLOCK=32, grid=(2,))
    assert out.sum() == 0
    assert again.name == kernel.name


@COMPILED
def test_compiling_ahead_of_time_from_types():
    types = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    source = triton.compiler.ASTSource(
        scale_kernel,
        {**types, "FACTOR": "constexpr", "BLOCK": "constexpr"},
        {"FACTOR": 5, "BLOCK": 64},
    )
    kernel = triton.compile(source)
    x, out = torch.randn(100), torch.zeros(100)
    kernel[(2, 1, 1)](x, out, 100)
    torch.testing.assert_close(out, x * 5)
    with pytest.raises(ValueError):
        triton.compile(triton.compiler.ASTSource(scale_kernel, types, {"FACTOR": 5}))


def test_pre_run_hooks_see_the_arguments():
    if INTERPRETED:
        pytest.skip("an interpreter has no such hooks")
    seen = []

    @triton.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append((len(args), sorted(kwargs))))
    kernel[(1,)](torch.zeros(8), 8, BLOCK=8)
    assert seen and seen[0][0] == 2 and "BLOCK" in seen[0][1]


# -- tuning


def configurations():
    return [triton.Config({"BLOCK": block}, num_warps=1) for block in (16, 32, 64)]


@triton.autotune(configs=configurations(), key=["n"])
@triton.jit
def tuned_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x + 1, mask=offsets < n)


@COMPILED
def test_tuning_restores_what_the_trials_changed():
    @triton.autotune(configs=configurations(), key=["n"], restore_value=["x_ptr"])
    @triton.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.store(x_ptr + offsets, x + 1, mask=offsets < n)

    x = torch.zeros(100)
    kernel[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, 100)
    assert torch.equal(x, torch.ones(100))
    assert kernel.best_config in kernel.configs
    assert len(kernel.cache) == 1


@COMPILED
def test_tuners_can_be_subclassed_with_positional_arguments():
    benchmarked = []

    class Recording(Autotuner):
        def _bench(self, *args, config, **meta):
            benchmarked.append(config.kwargs["BLOCK"])
            return super()._bench(*args, config=config, **meta)

    base = tuned_kernel.fn
    tuner = Recording(base, base.arg_names, configurations(), ["n"], None, None)
    x = torch.zeros(64)
    tuner[lambda meta: (triton.cdiv(64, meta["BLOCK"]),)](x, 64)
    assert sorted(benchmarked) == [16, 32, 64]
    assert tuner.keys == ["n"] and tuner.base_fn is base.fn


@COMPILED
def test_configurations_are_pruned_and_hooked():
    hooked = []
    configs = [
        triton.Config({"BLOCK": 32}, pre_hook=lambda named: hooked.append(named["BLOCK"])),
        triton.Config({"BLOCK": 64}),
    ]

    @triton.autotune(
        configs=configs,
        key=["n"],
        prune_configs_by={"early_config_prune": lambda configs, named, **kw: configs[:1]},
    )
    @triton.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), n * 1.0)

    x = torch.zeros(32)
    kernel[(1,)](x, 7)
    assert set(hooked) == {32}
    assert torch.equal(x, torch.full((32,), 7.0))


@COMPILED
def test_a_constexpr_that_is_tuned_cannot_be_passed_too():
    with pytest.raises(ValueError, match="BLOCK"):
        tuned_kernel[(1,)](torch.zeros(64), 64, BLOCK=16)


def test_heuristics_compute_constexprs_from_the_arguments():
    @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
    @triton.jit
    def kernel(out_ptr, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
        value = 1 if EVEN else 2
        tl.store(out_ptr, value)

    out = torch.zeros(1, dtype=torch.int32)
    kernel[(1,)](out, 64, BLOCK=32)
    assert out.item() == 1
    kernel[(1,)](out, 65, BLOCK=32)
    assert out.item() == 2


# -- around kernels


def test_host_helpers():
    assert (triton.cdiv(7, 2), triton.next_power_of_2(5), triton.next_power_of_2(1)) == (4, 8, 1)
    assert tl.float32.primitive_bitwidth == 32
    assert tl.constexpr(3) + 1 == 4
    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    assert version >= (3, 0)


def test_a_static_assert_that_fails_is_a_compilation_error():
    @triton.jit
    def kernel(x_ptr, N: tl.constexpr):
        tl.static_assert(N > 8, "N must be larger")
        tl.store(x_ptr, N)

    kernel[(1,)](torch.zeros(1), N=9)
    with pytest.raises(Exception, match="N must be larger"):
        kernel[(1,)](torch.zeros(1), N=8)


def test_do_bench_and_assert_close():
    if not INTERPRETED:
        times = triton.testing.do_bench(lambda: None, warmup=1, rep=2, quantiles=[0.2, 0.8])
        assert len(times) == 2
    triton.testing.assert_close(torch.ones(3), torch.ones(3) + 1e-3)
    with pytest.raises(AssertionError):
        triton.testing.assert_close(torch.ones(3), torch.zeros(3))


def test_print_shows_values_in_a_subprocess(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, triton, triton.language as tl\n\n\n"
        "@triton.jit\n"
        "def kernel(x_ptr):\n"
        "    tl.device_print('value', tl.load(x_ptr + tl.arange(0, 2)))\n\n\n"
        "kernel[(1,)](torch.tensor([3, 5]))\n"
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "value" in done.stdout and "3" in done.stdout and "5" in done.stdout
