"""The launch, up to the driver call, by a stand-in that records what CuPy is asked for; and once on
a GPU."""

from __future__ import annotations

import sys
import types
from typing import ClassVar

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError, CompileValueError
from mytriton.ir.types import F32, PointerType
from mytriton.runtime.hooks import HOOKS
from mytriton.runtime.quick import never
from mytriton.targets.cuda import generate, launch
from mytriton.targets.cuda.launch import driver
from mytriton.targets.memory import Buffer
from tests.support.cuda import ssa, traced

from .test_seed import ADD, add_kernel


class Device:
    """The stand-in's device: its number, and that it was made current."""

    entered: ClassVar[list[int]] = []
    current: ClassVar[list[int]] = [0]

    def __init__(self, number: int = 0) -> None:
        self.id = number
        self.attributes = {"MaxThreadsPerBlock": 512, "MaxSharedMemoryPerBlockOptin": 100_000}

    def __enter__(self):
        Device.entered.append(self.id)
        Device.current.append(self.id)

    def __exit__(self, *error):
        Device.current.pop()


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

    class ndarray:
        """An array of the stand-in's: only where it lies."""

        __module__ = "cupy"

        def __init__(self, address, dtype=np.float32, device=0, nbytes=4000):
            self.dtype, self.nbytes, self.device = np.dtype(dtype), nbytes, Device(device)
            self.flags = types.SimpleNamespace(c_contiguous=True)
            self.data = types.SimpleNamespace(ptr=address, device_id=device)

        @property
        def __cuda_array_interface__(self):
            return {"data": (self.data.ptr, False), "typestr": self.dtype.str}

    module.RawKernel, module.ndarray = RawKernel, ndarray
    module.cuda = types.SimpleNamespace(
        Device=Device, runtime=types.SimpleNamespace(getDevice=lambda: Device.current[-1])
    )
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
    assert [type(a) for a in args] == [int, int, int, np.int32]  # CuPy passes an int as 64 bits


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


@triton.jit
def tiled_kernel(x, y, out, n, stride, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + i * stride, mask=i < n) + tl.load(y + i, mask=i < n) * scale
    tl.store(out + i, total, mask=i < n)


def launched(cupy, *arguments, grid=(4,), **options):
    """The arguments, the text and the device of a launch that goes down to the driver."""
    Device.entered = []
    compiled = tiled_kernel[grid](*arguments, BLOCK=256, num_warps=4, **options)
    assert compiled.target == "cuda"
    _, _, args = cupy.launched[-1]
    return [getattr(a, "item", lambda a=a: a)() for a in args], list(Device.entered)


def test_quick_launches_see_what_changes(cupy):
    tiled_kernel.clear_cache()
    x, y, out = (cupy.ndarray(0x1000 * place) for place in (1, 2, 3))
    for n in (1000, 1000, 1008, 1000):
        assert launched(cupy, x, y, out, n, 16, 0.5) == (
            [0x1000, 0x2000, 0x3000, n, 16, 0.5],
            [],
        )
    assert tiled_kernel.quick is not never
    texts = len(cupy.made)
    assert texts == 2  # n a multiple of 16, and not
    y.data.ptr = 0x2004
    assert launched(cupy, x, y, out, 1000, 16, 0.5)[0][1] == 0x2004 and len(cupy.made) == 3
    assert launched(cupy, x, y, out, 1000, 1, 0.5)[0][4] == 1 and len(cupy.made) == 4
    assert launched(cupy, x, y, x, 1000, 1, 0.5)[0][2] == 0x1000
    there = [cupy.ndarray(0x1000 * place, device=2) for place in (1, 2, 3)]
    for _ in range(3):
        assert launched(cupy, *there, 1000, 16, 0.5)[1] == [2]
    assert launched(cupy, x, y, out, 1000, 16, 0.5)[1] == []
    halves = [cupy.ndarray(0x1000 * place, np.float16) for place in (1, 2, 3)]
    for _ in range(2):
        assert launched(cupy, *halves, 1000, 16, 0.1)[0][5] == np.float32(0.1)
    assert launched(cupy, x, y, out, 2**40, 16, 0.5)[0][3] == 2**40
    with pytest.raises(ValueError, match="invalid launch grid"):
        launched(cupy, x, y, out, 1000, 16, 0.5, grid=(1, 70000))
    y.flags.c_contiguous = False
    with pytest.raises(TypeError, match="C-contiguous"):
        launched(cupy, x, y, out, 1000, 16, 0.5)


def test_a_quick_launch_is_the_long_one(cupy):
    """Both go through one preparation: the same kernel, dimensions and bytes."""
    tiled_kernel.clear_cache()
    x, y, out = (cupy.ndarray(0x1000 * place) for place in (1, 2, 3))
    for _ in range(3):
        launched(cupy, x, y, out, 777, 3, 0.3)
    quick = cupy.launched[-1]
    HOOKS.launch_enter_hook.add(print)
    try:
        launched(cupy, x, y, out, 777, 3, 0.3)
    finally:
        HOOKS.launch_enter_hook.remove(print)
    assert cupy.launched[-1] == quick and len(cupy.made) == 1
    assert list(map(type, quick[2])) == list(map(type, cupy.launched[-1][2]))


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
