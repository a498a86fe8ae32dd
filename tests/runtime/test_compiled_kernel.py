"""What a launch returns, and what a kernel says of itself: the names that Triton's users find."""

from __future__ import annotations

import ast
import gc
import inspect
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.runtime.compile import STAGES

from .kernels import add_kernel, copy_kernel, store_kernel


def added(target: str | None = "cpu") -> tuple[Any, list[np.ndarray]]:
    x, y, out = np.arange(24, dtype=np.float32).reshape(3, 8).copy()
    return add_kernel[(1,)](x, y, out, 8, BLOCK=8, target=target), [x, y, out]


def test_asm_is_a_dict_of_texts() -> None:
    compiled, _ = added()
    assert isinstance(compiled.asm, dict) and sorted(compiled.asm) == ["asm", "llir", "ttir"]
    assert "addptr" in compiled.asm["ttir"] and "define" in compiled.asm["llir"]
    assert compiled.asm.get("ptx") is None and "asm" in compiled.asm
    for_gpu, _ = added(None)
    assert "extern" in for_gpu.asm["cuda"] and ".visible .entry" in for_gpu.asm["ptx"]
    assert isinstance(for_gpu.asm["cubin"], bytes) and for_gpu.asm["cubin"][:4] == b"\x7fELF"


def test_metadata() -> None:
    compiled, _ = added()
    assert compiled.name == compiled.metadata.name == "add_kernel"
    assert compiled.hash == compiled.metadata.hash == added()[0].hash and len(compiled.hash) == 64
    assert (
        compiled.hash != added(None)[0].hash or compiled.compilation is added(None)[0].compilation
    )
    assert (compiled.metadata.num_warps, compiled.metadata.shared) == (4, 0)
    assert (compiled.n_regs, compiled.n_spills, compiled.metadata.target) == (0, 0, "cpu")
    compiled._init_handles()


@pytest.mark.parametrize("target", ["cpu", "interpret", "eager"])
def test_it_can_be_launched_again(target: str) -> None:
    compiled, (x, y, out) = added(target)
    for args in ((y, y, out, 8), (y, y, out, 8, 8)):
        out[:] = 0
        again = compiled[(1,)](*args)
        assert (out == 2 * y).all() and again.target == target
    for grid in ([1], lambda meta: (1,)):
        out[:] = 0
        compiled[grid](x, x, out, 8)
        assert (out == 2 * x).all()
    with pytest.raises(TypeError, match="takes 5 arguments, or the 4 that are no constexprs"):
        compiled[(1,)](x)
    with pytest.raises(ValueError, match="invalid launch grid"):
        compiled[(1, 2, 3, 4)](x, x, out, 8)


def test_a_warm_up_is_launched_later() -> None:
    compiled = add_kernel.warmup(*[torch.float32] * 3, 8, BLOCK=8, grid=(1,))
    assert compiled.target == "cpu" and compiled.grid is None
    x, out = torch.arange(8.0), torch.zeros(8)
    compiled[(1,)](x, x, out, 8)
    assert torch.equal(out, 2 * x)


@pytest.mark.parametrize("dtype", [torch.bfloat16, np.dtype("int8"), triton.MockTensor(tl.float16)])
def test_warm_up_by_dtype(dtype: Any) -> None:
    compiled = copy_kernel.warmup(dtype, dtype, 8, BLOCK=8, grid=(1,), target="cpu")
    names = {torch.bfloat16: "bf16", np.dtype("int8"): "i8"}
    wanted = "f16" if isinstance(dtype, triton.MockTensor) else names[dtype]
    assert str(compiled.traced.params[0].ty) == f"ptr<{wanted}>"


def test_mock_tensors() -> None:
    mock = triton.MockTensor(tl.float32, (2, 3, 4))
    assert mock.stride() == (12, 4, 1) and mock.data_ptr() == 0
    assert triton.MockTensor(tl.float32).stride() == ()
    assert triton.MockTensor.wrap_dtype(3) == 3


def test_stages_are_one_table() -> None:
    compiled, _ = added()
    assert list(STAGES)[:2] == ["python", "traced"] and list(STAGES).index("ssa") > 2
    for name in STAGES:
        if name not in ("sass",):
            assert compiled.compilation.text(name), name
    assert compiled.compilation.text("order") == compiled.compilation.text("ssa")


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=[0], noinline=True)
def described(x, n: tl.int64, h: fp16 = 2.0, B: tl.constexpr = 4):  # noqa: F821
    tl.store(x, n + B)


def test_parameters() -> None:
    assert [p.name for p in described.params] == described.arg_names == ["x", "n", "h", "B"]
    assert [p.num for p in described.params] == [0, 1, 2, 3]
    assert [p.is_constexpr for p in described.params] == [False, False, False, True]
    assert [p.do_not_specialize for p in described.params] == [False, True, False, False]
    assert [p.do_not_specialize_on_alignment for p in described.params] == [
        True,
        False,
        False,
        False,
    ]
    assert [p.has_default for p in described.params] == [False, False, True, True]
    assert described.params[3].default == 4
    assert described.params[0].default is inspect.Parameter.empty
    assert [p.annotation_type for p in described.params] == ["", "i64", "fp16", ""]


def test_source_and_keys() -> None:
    assert described.src.startswith("def described(x, n: tl.int64")
    assert isinstance(described.parse(), ast.Module) and described.fn.__name__ == "described"
    assert len(described.cache_key) == 64 and described.cache_key != store_kernel.cache_key
    assert described.__globals__ is globals() and described.noinline is True


def test_the_name_may_be_made_from_the_constexprs() -> None:
    @triton.jit(repr=lambda found: f"store_{found.constants['VALUE']}_{found.signature['out']}")
    def kernel(out, VALUE: tl.constexpr):
        tl.store(out, VALUE)

    compiled = kernel[(1,)](np.zeros(1, np.float32), 7, target="cpu")
    assert compiled.name == "store_7_ptr<f32>"


def test_another_source() -> None:
    @triton.jit
    def kernel(out):
        tl.store(out, 1.0)

    out = np.zeros(1, np.float32)
    kernel[(1,)](out, target="cpu")
    assert out[0] == 1
    kernel._unsafe_update_src(
        kernel.src.replace("1.0", "wanted").replace("out)", "out, wanted)", 1)
    )
    kernel[(1,)](out, 5.0, target="cpu")
    assert out[0] == 5 and "wanted" in kernel.src and kernel.arg_names == ["out", "wanted"]
    with pytest.raises(triton.CompileError, match="no `def kernel`"):
        kernel._unsafe_update_src("x = 1")
    with pytest.raises(triton.CompileError, match="is no Python"):
        kernel._unsafe_update_src("def kernel(:")


def test_device_caches() -> None:
    @triton.jit
    def kernel(out, B: tl.constexpr):
        tl.store(out, B)

    out = np.zeros(1, np.float32)
    for value in (1, 2, 2):
        kernel[(1,)](out, value, target="cpu")
    assert len(kernel.device_caches[0][0]) == 2
    kernel.device_caches.clear()
    assert not kernel.device_caches[0][0] and not kernel.compilations


def test_a_kernel_that_is_gone_leaves_nothing() -> None:
    def made() -> Any:
        @triton.jit
        def kernel(x, BLOCK: tl.constexpr):
            tl.store(x + tl.arange(0, BLOCK), 1.0)

        for target in ("cpu", "interpret", "eager"):
            kernel[(1,)](np.zeros(8, np.float32), 8, target=target)
        (compilation,) = {id(c): c for c in kernel.compilations.values()}.values()
        return [weakref.ref(thing) for thing in (kernel, kernel.fn, compilation)]

    references = [one for _ in range(3) for one in made()]
    gc.collect()
    assert [one() for one in references] == [None] * len(references)


def test_the_repr_says_whether_it_ran() -> None:
    assert repr(added()[0]) == "<add_kernel ran on cpu, grid (1, 1, 1)>"
    assert "compiled for CUDA; not run: " in repr(added(None)[0])
    assert 'target="cpu"' in repr(added(None)[0])
    x = np.zeros(8, np.float32)
    warm = add_kernel.warmup(x, x, x, 8, BLOCK=8, target="cpu")
    assert repr(warm) == "<add_kernel compiled; not run: launch it over a grid>"
