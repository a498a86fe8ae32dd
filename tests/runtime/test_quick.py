"""The quick launch gives what the long way gives; whatever changes counts at the next launch."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileTypeError, CompileValueError
from mytriton.runtime.hooks import HOOKS
from mytriton.runtime.jit import JITFunction
from mytriton.runtime.quick import MISS, never

from .kernels import add_kernel

SCALE = 1


@triton.jit
def shift_kernel(x, out, n, scale, flag, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n) * scale
    tl.store(out + offsets, tl.where(flag, value, -value), mask=offsets < n)


def fresh() -> JITFunction:
    @triton.jit
    def kernel(x, out, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + offsets, mask=offsets < n)
        tl.store(out + offsets, value * SCALE, mask=offsets < n)

    return kernel


def arrays(make: Callable[..., Any] = np.zeros, dtype: Any = None) -> tuple[Any, Any]:
    dtype = dtype or (torch.float32 if make is torch.zeros else np.float32)
    x, out = make(64, dtype=dtype), make(64, dtype=dtype)
    x[...] = x.new_tensor(range(64)) if make is torch.zeros else np.arange(64)
    return x, out


def warm(kernel: JITFunction, *values: Any, **options: Any) -> None:
    """Launches until the quick launch is there, and is taken."""
    for _ in range(3):
        kernel[(1,)](*values, **options)
    assert kernel.quick is not never
    assert kernel.quick((1,), options, *values) is not MISS


MAKERS = pytest.mark.parametrize("make", [np.zeros, torch.zeros], ids=["numpy", "torch"])


@MAKERS
def test_plain_arrays_and_numbers_go_the_quick_way(make: Any) -> None:
    x, y, out = (make(64, dtype=arrays(make)[0].dtype) for _ in range(3))
    warm(add_kernel, x, y, out, 64, 64, target="cpu")


@MAKERS
@pytest.mark.parametrize("options", [{}, {"num_warps": 4}, {"num_warps": 2, "num_stages": 1}])
def test_options_too(make: Any, options: Any) -> None:
    kernel, (x, out) = fresh(), arrays(make)
    with triton.target("cpu"):
        warm(kernel, x, out, 64, 64, **options)
        warm(kernel, x, out, 64, 64, **options, target="cpu")
    warm(kernel, x, out, 64, 64, **options, target="cpu")
    kernel[(1,)](x, out, 64, 64, **options, target="interpret")
    with pytest.raises(CompileValueError, match="num_warps"):
        kernel[(1,)](x, out, 64, 64, target="cpu", num_warps=True)
    with pytest.raises(CompileTypeError, match="num_wraps"):
        kernel[(1,)](x, out, 64, 64, target="cpu", num_wraps=4)
    assert (out[:] == x).all()


@MAKERS
def test_dtypes_and_values_take_effect(make: Any) -> None:
    kernel = fresh()
    dtypes = ("float32", "int32", "float64", "int8")
    for name in dtypes * 2:
        x, out = arrays(make, getattr(torch if make is torch.zeros else np, name))
        kernel[(1,)](x, out, 40, 64, target="cpu")
        assert (out[:40] == x[:40]).all() and (out[40:] == 0).all()
        out[...] = 0
        kernel[(1,)](x, out, 2**33, 64, target="cpu")
        assert (out == x).all()
        out[...] = 0
        kernel[(1,)](x, out, 60, 16, target="cpu")
        assert (out[:16] == x[:16]).all() and (out[16:] == 0).all()
    assert len(kernel.compilations) == 3 * len(dtypes)


def test_constexprs_that_python_takes_for_equal() -> None:
    @triton.jit
    def kernel(out, C: tl.constexpr):
        tl.store(out, C / 2)

    out = np.zeros(1, np.float64)
    for _ in range(2):
        for value, want in ((1, 0.5), (True, 0.5), (1.0, 0.5), (0.0, 0.0), (-0.0, -0.0)):
            for _ in range(2):
                kernel[(1,)](out, value, target="cpu")
            assert out[0] == want and np.signbit(out[0]) == np.signbit(want)
    assert len(kernel.compilations) == 5


def test_a_changed_global_counts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, (x, out) = fresh(), arrays()
    warm(kernel, x, out, 64, 64, target="cpu")
    for scale in (3, 1, 5):
        monkeypatch.setitem(globals(), "SCALE", scale)
        kernel[(1,)](x, out, 64, 64, target="cpu")
        np.testing.assert_array_equal(out, scale * x)


def test_the_target_counts_at_once() -> None:
    kernel, (x, out) = fresh(), arrays()
    launch = kernel[(1,)]
    try:
        triton.set_target("cpu")
        warm(kernel, x, out, 64, 64)
        assert launch(x, out, 64, 64).target == "cpu"
        with triton.target("interpret"):
            assert launch(x, out, 64, 64).target == "interpret"
        assert launch(x, out, 64, 64).target == "cpu"
        triton.set_target("interpret")
        assert launch(x, out, 64, 64).target == "interpret"
    finally:
        triton.set_target(None)
    out[:] = 0
    assert launch(x, out, 64, 64).target is None and not out.any()


def test_hooks_count_at_once() -> None:
    kernel, (x, out) = fresh(), arrays()
    warm(kernel, x, out, 64, 64, target="cpu")
    launch, calls = kernel[(1,)], list[Any]()
    hook = calls.append
    HOOKS.launch_enter_hook.add(hook)
    try:
        launch(x, out, 64, 64, target="cpu")
    finally:
        HOOKS.launch_enter_hook.remove(hook)
    assert len(calls) == 1
    launch(x, out, 64, 64, target="cpu")
    assert len(calls) == 1
    kernel.add_pre_run_hook(lambda *args, **kwargs: calls.append((args, kwargs)))
    launch(x, out, 64, BLOCK=64, target="cpu")
    assert len(calls) == 2
    kernel[(1,)](x, out, 64, BLOCK=64, target="cpu")
    args, kwargs = calls[2]
    assert args[2:] == (64,) and kwargs == {"BLOCK": 64}
    kernel.pre_run_hooks.clear()
    launch(x, out, 64, 64, target="cpu")
    assert len(calls) == 3


def test_debug_and_a_cleared_cache_count_at_once() -> None:
    kernel, (x, out) = fresh(), arrays()
    warm(kernel, x, out, 64, 64, target="cpu")
    kernel.debug = True
    assert kernel[(1,)](x, out, 64, 64, target="cpu").metadata.debug
    kernel.debug = False
    assert not kernel[(1,)](x, out, 64, 64, target="cpu").metadata.debug
    kernel.clear_cache()
    assert not kernel.compilations and kernel.quick is never
    kernel[(1,)](x, out, 64, 64, target="cpu")
    assert len(kernel.compilations) == 1


def test_a_changed_source_counts_at_once() -> None:
    x, out = arrays()

    @triton.jit
    def kernel(x, out, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)

    warm(kernel, x, out, 64, 64, target="cpu")
    kernel._unsafe_update_src(kernel.src.replace("tl.load(x + offsets", "2 * tl.load(x + offsets"))
    kernel[(1,)](x, out, 64, 64, target="cpu")
    np.testing.assert_array_equal(out, 2 * x)


@MAKERS
def test_overlap_counts_at_once(make: Any) -> None:
    """All of a program's loads come before its stores, wherever the arrays lie."""
    kernel, (x, out) = fresh(), arrays(make)
    warm(kernel, x, out, 64, 64, target="cpu")
    memory = make(100, dtype=x.dtype)
    for shift in (0, 1, 7, 36, 0, 3):
        memory[...] = memory.new_tensor(range(100)) if make is torch.zeros else np.arange(100)
        kernel[(1,)](memory[:64], memory[shift : shift + 64], 64, 64, target="cpu")
        assert [int(v) for v in memory[shift : shift + 64]] == list(range(64))
    kernel[(1,)](x, out, 64, 64, target="cpu")
    assert (out == x).all()


def test_what_is_amiss_is_refused_however_often_it_went_well() -> None:
    kernel, (x, out) = fresh(), arrays()
    warm(kernel, x, out, 64, 64, target="cpu")
    unaligned = np.zeros(257, np.uint8)[1:].view(np.float32)
    locked = out.copy()
    locked.flags.writeable = False
    for _ in range(2):
        with pytest.raises(CompileTypeError, match="no multiple of 4"):
            kernel[(1,)](unaligned, out, 64, 64, target="cpu")
        with pytest.raises(CompileTypeError, match="read-only"):
            kernel[(1,)](x, locked, 64, 64, target="cpu")
        with pytest.raises(CompileTypeError, match="C-contiguous"):
            kernel[(1,)](np.zeros(128, np.float32)[::2], out, 64, 64, target="cpu")
        with pytest.raises(CompileTypeError, match="must be of one kind"):
            kernel[(1,)](torch.zeros(64), out, 64, 64, target="cpu")
        with pytest.raises(CompileTypeError, match="masked"):
            kernel[(1,)](np.ma.zeros(64, np.float32), out, 64, 64, target="cpu")
        out[:] = 0
        kernel[(1,)](locked, out, 64, 64, target="cpu")
        assert (out == locked).all()
    tensor, result = arrays(torch.zeros)
    warm(kernel, tensor, result, 64, 64, target="cpu")
    negated = torch.ones(64, dtype=torch.complex64).conj().imag
    with pytest.raises(CompileTypeError, match="is_neg"):
        kernel[(1,)](negated, result, 64, 64, target="cpu")
    empty = torch.zeros(64)
    empty.untyped_storage().resize_(0)
    with pytest.raises(CompileTypeError, match="no memory"):
        kernel[(1,)](empty, result, 64, 64, target="cpu")
    meta = torch.zeros(64, device="meta")
    with pytest.raises(CompileTypeError, match="'meta'"):
        kernel[(1,)](meta, result, 64, 64, target="cpu")


def test_moved_and_resized_storage_is_seen() -> None:
    kernel = fresh()
    x, out = arrays(torch.zeros)
    warm(kernel, x, out, 64, 64, target="cpu")
    x.data = torch.full((64,), 7.0)
    out.set_(torch.zeros(64))
    kernel[(1,)](x, out, 64, 64, target="cpu")
    assert (out == 7).all()
    out.resize_(4096).zero_()
    kernel[(2,)](torch.ones(128), out, 128, 64, target="cpu")
    assert (out[:128] == 1).all()
    array, result = arrays()
    warm(kernel, array, result, 64, 64, target="cpu")
    result.resize(5000, refcheck=False)
    array.resize(5000, refcheck=False)
    kernel[(79,)](array, result, 5000, 64, target="cpu")
    np.testing.assert_array_equal(result, array)


def test_arguments_are_not_kept_alive() -> None:
    kernel = fresh()
    x, out = arrays(torch.zeros)
    warm(kernel, x, out, 64, 64, target="cpu")
    watched = [weakref.ref(x), weakref.ref(out)]
    del x, out
    gc.collect()
    assert [one() for one in watched] == [None, None]


def test_a_kernel_that_is_dropped_is_freed() -> None:
    kernel, (x, out) = fresh(), arrays()
    warm(kernel, x, out, 64, 64, target="cpu")
    watched = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert watched() is None


def test_grids_of_every_form() -> None:
    kernel, (x, out) = fresh(), arrays()
    warm(kernel, x, out, 64, 64, target="cpu")
    asked: list[Any] = []

    def grid(meta: Any) -> tuple[int, ...]:
        asked.append(dict(meta))
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    for form in (1, (1,), [1], (1, 1), (1, 1, 1), np.int64(1), grid):
        out[:] = 0
        assert kernel[form](x, out, 64, BLOCK=64, target="cpu").grid == (1, 1, 1)
        np.testing.assert_array_equal(out, x)
    assert len(asked) == 1 and list(asked[0]) == ["x", "out", "n", "BLOCK"]
    out[:] = 0
    assert kernel[0,](x, out, 64, 64, target="cpu").grid == (0, 1, 1) and not out.any()
    for wrong in ((-1,), (True,), (1, 1, 1, 1), "1", (2**31,), lambda meta: meta["nothing"]):
        with pytest.raises(CompileValueError, match="grid"):
            kernel[wrong](x, out, 64, 64, target="cpu")


def test_arguments_that_do_not_bind_are_named() -> None:
    kernel, (x, out) = fresh(), arrays()
    warm(kernel, x, out, 64, 64, target="cpu")
    wrong: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((x, out), {}, "missing 2 required positional arguments: 'n' and 'BLOCK'"),
        ((x, out, 64, 64, 5), {}, "takes 4 positional arguments but 5 were given"),
        ((x, out, 64), {"BLOCKS": 64}, "did you mean `BLOCK`"),
        ((x, out, 64, 64), {"x": x}, "multiple values for argument 'x'"),
    ]
    for args, kwargs, message in wrong:
        with pytest.raises(TypeError, match=message):
            kernel[(1,)](*args, **kwargs, target="cpu")
        with pytest.raises(CompileTypeError, match=message):
            kernel.run(*args, **kwargs, grid=(1,), target="cpu")
    kernel[(1,)](n=64, out=out, x=x, BLOCK=64, target="cpu")
    kernel.run(x, out, 64, BLOCK=64, grid=(1,), target="cpu")
    compiled = kernel[(1,)](x, out, 64, BLOCK=64, target="cpu", warmup=True)
    assert compiled.grid is None


def test_a_fault_shows_the_kernel_s_line_only() -> None:
    @triton.jit
    def kernel(x, n):
        tl.device_assert(n < 10, "too large")
        tl.store(x, n)

    x = np.zeros(1, np.int32)
    warm(kernel, x, 5, target="cpu")
    with pytest.raises(triton.KernelError, match="too large") as caught:
        kernel[(1,)](x, 50, target="cpu")
    assert "test_quick.py" in str(caught.value)
    kernel[(1,)](x, 6, target="cpu")
    assert x[0] == 6


NUMBERS: list[tuple[Any, ...]] = [
    (16, 2.0, True),
    (np.int64(16), np.float32(2), np.bool_(True)),
    (np.uint8(16), np.float64(2), np.bool_(False)),
    (16, np.float16(2), False),
]


def test_numpy_numbers_after_python_s() -> None:
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    shift_kernel.clear_cache()
    for numbers in NUMBERS * 2:
        shift_kernel[(1,)](x, out, *numbers, BLOCK=16, target="cpu")
        np.testing.assert_array_equal(out, 2 * x if numbers[2] else -2 * x)
    assert len(shift_kernel.compilations) == 1


@pytest.mark.parametrize("scale", [1e39, -1e39, float("inf"), float("nan"), 3.4028235e38, 1e-46])
def test_floats_round_as_c_floats_do(scale: float) -> None:
    x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
    for _ in range(3):
        shift_kernel[(1,)](x, out, 16, scale, True, BLOCK=16, target="cpu")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, np.full(16, np.float32(scale)))


@given(
    first=st.integers(0, 20),
    second=st.integers(0, 20),
    n=st.integers(0, 12),
    scale=st.floats(-4, 4, width=32),
    flag=st.booleans(),
    use_torch=st.booleans(),
)
def test_overlapping_views(
    first: int, second: int, n: int, scale: float, flag: bool, use_torch: bool
) -> None:
    memory = np.arange(40, dtype=np.float32)
    x = memory[first : first + 16].copy()
    made: Any = torch.from_numpy(memory) if use_torch else memory
    shift_kernel[(1,)](made[first:], made[second:], n, scale, flag, BLOCK=16, target="cpu")
    want = np.arange(40, dtype=np.float32)
    want[second : second + n] = (x if flag else -x)[:n] * np.float32(scale)
    np.testing.assert_array_equal(memory, want)


@pytest.mark.parametrize("empty", [np.zeros(0, np.float32), torch.zeros(0)])
def test_empty_arrays(empty: Any) -> None:
    for _ in range(3):
        shift_kernel[(1,)](empty, empty, 0, 1.0, True, BLOCK=16, target="cpu")


@pytest.mark.parametrize("name", ["_grid", "_options", "_rest", "_kernel", "_MISS", "warmup"])
def test_a_parameter_may_have_any_name(name: str) -> None:
    space: dict[str, Any] = {"tl": tl}
    exec(f"def kernel(x, {name}, *, C: tl.constexpr = 3): tl.store(x, {name} + C)", space)
    kernel, x = triton.jit(space["kernel"]), np.zeros(1, np.int32)
    for value in (1, 2, 3):
        kernel[(1,)](x, value, target="cpu")
        assert x[0] == value + 3
        kernel[(1,)](x, **{name: value}, C=5, target="cpu")
        assert x[0] == value + 5
