"""The launch, up to the driver call, by a stand-in that records what CuPy is asked for; and once on
a GPU."""

from __future__ import annotations

import sys
import types
from typing import ClassVar

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileError, CompileValueError
from mytriton.ir.types import F32, PointerType
from mytriton.targets.cuda import generate, launch
from mytriton.targets.cuda.launch import driver
from mytriton.targets.memory import Buffer
from tests.support.cuda import ssa, traced

from .test_seed import ADD, add_kernel


class Device:
    """The stand-in's device: its number, and that it was made current."""

    entered: ClassVar[list[int]] = []

    def __init__(self, number: int = 0) -> None:
        self.id = number
        self.attributes = {"MaxThreadsPerBlock": 512, "MaxSharedMemoryPerBlockOptin": 100_000}

    def __enter__(self):
        Device.entered.append(self.id)

    def __exit__(self, *error):
        return None


@pytest.fixture
def cupy(monkeypatch):
    """A module that records kernels made and launched."""
    module = types.ModuleType("cupy")
    module.made, module.launched = [], []

    class RawKernel:
        def __init__(self, code, name, options=()):
            module.made.append((code, name, options))

        def __call__(self, grid, block, args, shared_mem=0):
            module.launched.append((grid, block, args))
            module.shared = shared_mem, getattr(self, "max_dynamic_shared_size_bytes", 0)

    module.RawKernel = RawKernel
    module.cuda = types.SimpleNamespace(Device=Device)
    Device.entered = []
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(driver, "_kernels", {})
    return module


def buffer(address: int, device: int = 0) -> Buffer:
    owner = types.SimpleNamespace(device=Device(device))
    return Buffer(PointerType(F32), address, 4000, owner)


def test_text_name_options_dimensions_and_arguments(cupy):
    source = generate(traced(add_kernel, **ADD, BLOCK=256))
    launch(source, (4, 1, 1), [buffer(0x1000), buffer(0x2000), buffer(0x3000), 1000])
    assert cupy.made == [(source.text, "add_kernel", ("--std=c++14",))]
    ((grid, block, args),) = cupy.launched
    assert (grid, block) == ((4, 1, 1), (256,))
    assert [int(a) for a in args] == [0x1000, 0x2000, 0x3000, 1000]
    assert [a.dtype for a in args] == [np.uint64] * 3 + [np.int32]


def squared(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    block = tl.load(x + at)
    tl.store(out + at, tl.dot(block, block))


@pytest.mark.parametrize(("extent", "fits"), [(64, True), (96, True), (128, False)])
def test_shared_memory_above_48_kib_is_asked_for(cupy, extent, fits):
    source = generate(traced(squared, x="*f32", out="*f32", BLOCK=extent))
    given = [buffer(0x1000), buffer(0x2000)]
    if not fits:
        with pytest.raises(CompileError, match=r"needs \d+ bytes .* this device allows 100000"):
            launch(source, (1, 1, 1), given)
        return
    launch(source, (1, 1, 1), given)
    wanted = source.shared_bytes
    assert cupy.shared == (wanted, wanted) and (wanted > 49152) == (extent > 64)


def test_numbers_have_the_bytes_of_their_parameter(cupy):
    function = ssa("k(a: i32, b: f32, c: bool, d: i64, e: u64, f: f64, g: f16, h: i8) {\n}")
    given = [-1, 0.1, True, -(2**40), 2**63, 0.1, 0.1, 7]
    launch(generate(function), (1, 1, 1), given)
    ((_, block, args),) = cupy.launched
    assert block == (1,)
    names = ["int32", "float32", "bool", "int64", "uint64", "float64", "float32", "int8"]
    assert [a.dtype.name for a in args] == names
    assert args[1] == np.float32(0.1) and args[6] == np.float32(np.float16(0.1))
    assert args[4] == 2**63


def test_a_kernel_is_loaded_once_by_text_and_name(cupy):
    one = generate(traced(add_kernel, **ADD, BLOCK=256))
    two = generate(traced(add_kernel, **ADD, BLOCK=128))
    given = [buffer(0), buffer(0), buffer(0), 1]
    for source in (one, two, one):
        launch(source, (1, 1, 1), given)
    assert len(cupy.made) == 2 and len(cupy.launched) == 3
    driver.forget([one])
    launch(one, (1, 1, 1), given)
    assert len(cupy.made) == 3


def test_the_arrays_device_is_current(cupy):
    source = generate(traced(add_kernel, **ADD, BLOCK=256))
    launch(source, (1, 1, 1), [buffer(0, 2), buffer(0, 2), buffer(0, 2), 1])
    assert Device.entered == [2]


def test_the_devices_limit_is_checked_before_the_launch(cupy):
    source = generate(traced(add_kernel, **ADD, BLOCK=1024))
    with pytest.raises(CompileValueError, match=r"1024 threads a block, this device allows 512"):
        launch(source, (1, 1, 1), [buffer(0), buffer(0), buffer(0), 1])
    assert cupy.launched == []


@pytest.mark.parametrize("grid", [(1, 65536, 1), (1, 1, 65536), (2**31, 1, 1)])
def test_the_grids_limits_are_checked_before_the_launch(cupy, grid):
    source = generate(ssa("k() {\n}"))
    with pytest.raises(ValueError, match="invalid launch grid"):
        launch(source, grid, [])
    assert cupy.launched == []


def test_without_cupy_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(CompileError, match="pip install"):
        launch(generate(ssa("k() {\n}")), (1, 1, 1), [])


@pytest.mark.gpu
def test_the_add_kernel_on_a_gpu():
    import cupy

    n = 1000
    x, y = cupy.random.standard_normal((2, n), dtype=cupy.float32)
    out = cupy.zeros(n, cupy.float32)
    arrays = [Buffer(PointerType(F32), a.data.ptr, a.nbytes, a) for a in (x, y, out)]
    launch(generate(traced(add_kernel, **ADD, BLOCK=256)), (4, 1, 1), [*arrays, n])
    cupy.cuda.Device().synchronize()
    assert bool((out == x + y).all())
