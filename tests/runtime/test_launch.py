"""Where a launch runs, what it accepts as arguments, and how mistakes of the caller are told."""

from __future__ import annotations

import shutil
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError, KernelAssertionError

from .kernels import add_kernel, copy_kernel, store_kernel

TARGETS = ("interpret", "eager", "cpu", "cudasim")


def copied(source: Any, out: Any, **kwargs: Any) -> Any:
    copy_kernel[(1,)](source, out, 8, BLOCK=8, **kwargs)
    return out


@pytest.mark.parametrize("name", TARGETS)
def test_targets_run(name: str) -> None:
    source = np.arange(8, dtype=np.float32)
    assert (copied(source, np.zeros_like(source), target=name) == source).all()


def test_torch_runs_on_the_cpu() -> None:
    source = torch.arange(8.0)
    launched = copy_kernel[(1,)](source, torch.zeros(8), 8, BLOCK=8)
    assert launched.target == "cpu"


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
     "float32", "float64"],
)  # fmt: skip
def test_numpy_dtypes(dtype: str) -> None:
    source = np.array([0, 1, 2, 3, 5, 8, 13, 21]).astype(dtype)
    assert (copied(source, np.zeros_like(source), target="interpret") == source).all()


@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
)
def test_small_floats_of_ml_dtypes_and_torch(dtype: str) -> None:
    source = np.array([0, 1, 2, 3, 0.5, 8, -1, 0.25], getattr(ml_dtypes, dtype))
    assert (copied(source, np.zeros_like(source), target="interpret") == source).all()
    tensor = torch.tensor([0, 1, 2, 3, 0.5, 8, -1, 0.25]).to(getattr(torch, dtype))
    same = copied(tensor, torch.zeros_like(tensor), target="interpret")
    assert (same.float() == tensor.float()).all()


def test_strided_tensors_are_their_storage() -> None:
    base = torch.arange(16.0)
    column = base[8:]
    assert (copied(column, torch.zeros(8), target="interpret") == column).all()

    @triton.jit
    def before(source, out):
        tl.store(out, tl.load(source - 1))

    out = torch.zeros(1)
    before[(1,)](column, out, target="interpret")
    assert out.item() == 7


class Managed:
    """An object that has nothing but DLPack."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.tensor.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


def test_dlpack_objects() -> None:
    tensor = torch.zeros(8)
    copied(np.arange(8, dtype=np.float32), Managed(tensor), target="interpret")
    assert tensor.tolist() == list(range(8))


class Interface:
    """An array in GPU memory, as far as can be seen."""

    def __init__(self, count: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (count,), "typestr": "<f4", "data": (4096, False), "version": 3
        }  # fmt: skip


def test_gpu_arrays_need_the_gpu() -> None:
    with pytest.raises(ValueError, match="the arrays are on a GPU"):
        copied(Interface(8), Interface(8), target="cpu")


def test_mixtures_are_refused() -> None:
    numpy, tensor = np.zeros(8, np.float32), torch.zeros(8)
    for a, b, words in (
        (numpy, tensor, "source: NumPy and out: torch CPU"),
        (numpy, Interface(8), "source: NumPy and out: CUDA"),
    ):
        with pytest.raises(TypeError, match="must be of one kind") as caught:
            copied(a, b)
        assert words in str(caught.value)


def test_read_only_arrays_that_are_written() -> None:
    locked = np.zeros(8, np.float32)
    locked.flags.writeable = False
    free = np.zeros(8, np.float32)
    copied(locked, free, target="interpret")
    with pytest.raises(TypeError, match="out: the array is read-only") as caught:
        copied(free, locked, target="interpret")
    assert "tl.store" in str(caught.value)


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((), {}, "missing 3 required positional arguments: 'source', 'out', and 'n'"),
        ((1, 2, 3, 4, 5), {}, "takes 4 positional arguments but 5 were given"),
        ((1, 2), {"m": 3}, "unexpected keyword argument 'm'"),
        ((1, 2, 3), {}, "missing 1 required positional argument: 'BLOCK'"),
        ((object(), 2, 3, 4), {}, "source: an argument of type object is not supported"),
        ((np.zeros(3, complex), 2, 3, 4), {}, "source: arrays of complex128 are not supported"),
        ((np.zeros(3, ">f4"), 2, 3, 4), {}, "source: byte order '>f4' is not supported"),
        ((np.zeros(3, "U3"), 2, 3, 4), {}, "source: arrays of str96 are not supported"),
        ((torch.zeros(3, dtype=torch.complex64), 2, 3, 4), {}, "complex64 are not supported"),
        (([1.0], 2, 3, 4), {}, "source: an argument of type list is not supported"),
        ((torch.zeros(3, device="meta"), 2, 3, 4), {}, "source: tensors on device 'meta'"),
    ],
)
def test_wrong_arguments(args: tuple[Any, ...], kwargs: dict[str, Any], words: str) -> None:
    kwargs = kwargs if len(args) != 3 or kwargs else {}
    if len(args) == 0:
        words = "missing 4 required positional arguments"
    with pytest.raises(CompileError) as caught:
        copy_kernel[(1,)](*args, **kwargs)
    assert isinstance(caught.value, TypeError)
    assert words in str(caught.value)


def test_annotations_win() -> None:
    @triton.jit
    def kernel(out, n: tl.int64, h: tl.float16, p: "*fp16", q: tl.const):  # noqa: F722
        tl.store(out, n)

    arrays = np.zeros(4, np.int64), np.zeros(4, np.int16), np.zeros(4, np.float32)
    launched = kernel[(1,)](arrays[0], 5, 1, *arrays[1:])
    assert [str(p.ty) for p in launched.traced.params][1:4] == ["i64", "f16", "ptr<f16>"]
    assert launched.traced.params[4].ty.const
    with pytest.raises(TypeError, match=r"n: int64 is annotated, got 1\.5"):
        kernel[(1,)](arrays[0], 1.5, 1, *arrays[1:])
    with pytest.raises(TypeError, match="p: an array is needed"):
        kernel[(1,)](arrays[0], 5, 1, 2, arrays[2])


def test_annotated_ints_that_do_not_fit() -> None:
    @triton.jit
    def kernel(out, n: tl.uint8):
        tl.store(out, n)

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, 255)
    with pytest.raises(ValueError, match="n: 256 does not fit uint8"):
        kernel[(1,)](out, 256)


def test_tuples_none_and_dtypes_as_arguments() -> None:
    @triton.jit
    def kernel(out, pair, nothing, DTYPE: tl.constexpr, NAMES: tl.constexpr):
        (a, b), c = pair
        if nothing is None and NAMES == ("x", 1):
            tl.store(out, (tl.load(a) + b * c).to(DTYPE))

    source, out = np.full(1, 7, np.float32), np.zeros(1, np.float32)
    for name in TARGETS:
        out[0] = 0
        kernel[(1,)](out, ((source, 3), 2.5), None, tl.int32, ("x", 1), target=name)
        assert out[0] == 14, name


def test_functions_as_constexprs() -> None:
    @triton.jit
    def double(x):
        return x * 2

    @triton.jit
    def negate(x):
        return -x

    @triton.jit
    def kernel(out, value, F: tl.constexpr):
        tl.store(out, F(value))

    out = np.zeros(1, np.float32)
    for function, result in ((double, 6), (negate, -3), (double, 6)):
        kernel[(1,)](out, 3.0, F=function, target="interpret")
        assert out[0] == result
    assert len(kernel.compilations) == 2


def test_launch_options() -> None:
    out = np.zeros(1, np.float32)
    store_kernel[(1,)](out, 1.0, num_warps=4, num_stages=2, num_ctas=1, target="cpu")
    assert out[0] == 1
    launched = store_kernel[(1,)](out, 1.0, num_warps=8)
    assert launched.threads_per_block == 256


def test_parameters_may_have_the_names_of_options() -> None:
    @triton.jit
    def kernel(out, stream, debug: tl.constexpr = 3):
        tl.store(out, stream + debug)

    out = np.zeros(1, np.float32)
    kernel[(1,)](out, stream=4.0, target="interpret")
    assert out[0] == 7


def test_warmup_runs_nothing() -> None:
    out = np.zeros(1, np.float32)
    launched = store_kernel.warmup(out, 1.0, grid=(1,), target="cpu")
    assert out[0] == 0 and "store" in str(launched.ssa_ops)
    store_kernel.run(out, 1.0, grid=(1,), warmup=True, target="cpu")
    assert out[0] == 0


def test_calling_a_kernel_on_the_host() -> None:
    with pytest.raises(CompileError, match=r"launch it with store_kernel\[grid\]"):
        store_kernel(1, 2)


def test_reflection() -> None:
    @triton.jit(do_not_specialize=["n"], debug=True, noinline=True)
    def kernel(x, n, B: tl.constexpr, C: tl.constexpr = 4):
        """What it does."""
        tl.store(x, n + B + C)

    assert kernel.__name__ == "kernel" and kernel.__doc__ == "What it does."
    assert kernel.arg_names == ["x", "n", "B", "C"] and kernel.constexprs == ["B", "C"]
    assert kernel.src.startswith("def kernel(x, n,")
    assert [p.do_not_specialize for p in kernel.params] == [False, True, False, False]
    assert kernel.params[3].default == 4 and not kernel.params[2].has_default
    out = np.zeros(1, np.float32)
    kernel[(1,)](out, 1, 2, target="interpret")
    assert out[0] == 7


def test_hooks() -> None:
    @triton.jit
    def kernel(out):
        tl.store(out, 1.0)

    seen: list[Any] = []
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append(args))
    out = np.zeros(1, np.float32)
    kernel[(1,)](out)
    assert seen[0][0] is out


def test_host_functions() -> None:
    assert [triton.cdiv(n, 4) for n in (0, 1, 4, 5, -5)] == [0, 1, 1, 2, -1]
    assert [triton.next_power_of_2(n) for n in (0, 1, 2, 3, 1000, 1024)] == [
        1, 1, 2, 4, 1024, 1024,
    ]  # fmt: skip

    @triton.jit
    def kernel(out, n, N: tl.constexpr):
        tl.store(out, triton.cdiv(n, 4) + triton.next_power_of_2(N))

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, 9, 5, target="interpret")
    assert out[0] == 3 + 8


def test_stages_of_a_launch() -> None:
    x = np.zeros(8, np.float32)
    launched = add_kernel[(2,)](x, x, x, 8, BLOCK=4, target="cpu")
    assert launched.target == "cpu" and launched.grid == (2, 1, 1)
    assert launched.threads_per_block == 4
    assert "define" in launched.llvm and launched.asm["asm"]
    assert len(launched.traced.params) == 4 and launched.function.name == "add_kernel"


def test_a_kernel_that_only_the_cpu_can_lower_runs_there() -> None:
    @triton.jit
    def two_widths(x):
        tl.store(x + tl.arange(0, 4), 1.0)
        tl.store(x + 4 + tl.arange(0, 8), 2.0)

    x = np.zeros(12, np.float32)
    launched = two_widths[(1,)](x, target="interpret")
    assert x.tolist() == [1.0] * 4 + [2.0] * 8
    with pytest.raises(ValueError, match="one vector width"):
        list(launched)


def test_cuda_code_checks_device_asserts_only_in_debug() -> None:
    @triton.jit
    def kernel(x):
        tl.device_assert(tl.load(x) > 0, "not above zero")
        tl.store(x, 2.0)

    def launch(**options: Any) -> str:
        return str(kernel[(1,)](np.ones(1, np.float32), **options)[2])

    assert "not above zero" not in launch()
    assert "not above zero" in launch(debug=True)
    assert "not above zero" not in launch()
    kernel.debug = True
    assert "not above zero" in launch()


@pytest.mark.skipif(shutil.which("g++") is None, reason="cudasim needs g++")
def test_cudasim_stops_at_a_device_assert_in_debug() -> None:
    @triton.jit(debug=True)
    def kernel(x):
        tl.device_assert(tl.load(x) > 0, "not above zero")

    with pytest.raises(KernelAssertionError, match="not above zero"):
        kernel[(1,)](np.zeros(1, np.float32), target="cudasim")
