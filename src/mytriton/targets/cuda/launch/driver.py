"""Launches printed kernels through CuPy: the one place that touches a GPU.

When this is reached, every decision has been made; what is left is to carry a text, its dimensions
and its arguments to CuPy. CuPy is imported by the first launch, and loaded kernels are kept by text
and name.

    launch(source, (4, 1, 1), arguments)
    quick = launcher(variants, Device(0, torch_stream=False))
    quick(4, 1, 1, x.data.ptr, out.data.ptr, 1000)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from ....errors import CompileError, CompileValueError, OutOfResources
from ....ir.types import PointerType
from ... import Device, Grid, Launcher
from ...memory import Argument, Buffer
from ..source import CudaSource
from ..specialise import Variants
from .nvrtc import OPTIONS

GRID_LIMITS = (2**31 - 1, 65535, 65535)
"""The greatest grid extents of every CUDA device since compute capability 3.0."""

_kernels: dict[tuple[str, ...], Any] = {}


def launch(source: CudaSource, grid: Grid, arguments: Sequence[Argument]) -> None:
    """Launches the kernel on the current stream of the device that the arguments live on; does not
    wait for it.

    Raises CompileValueError where the grid or the block is more than the device takes, CompileError
    without CuPy.
    """
    cupy = load_cupy()
    with placed(cupy, arguments):
        call, threads = ready(cupy, source, grid)
        pairs = zip(source.parameters, arguments)
        call(
            grid,
            threads,
            tuple(a.address if isinstance(a, Buffer) else p.value(a) for p, a in pairs),
        )


Call = Callable[[Grid, tuple[int], tuple[Any, ...]], None]
"""A loaded kernel: `call(grid, threads, arguments)`, the arguments as CuPy takes them."""


def ready(cupy: Any, source: CudaSource, grid: Grid) -> tuple[Call, tuple[int]]:
    """What starts a kernel on the current device, and its threads.

    Raises what `check_limits` does.
    """
    check_limits(cupy, source, grid)
    loaded, threads = kernel(cupy, source), (source.threads_per_block,)
    if source.shared_bytes:
        loaded.max_dynamic_shared_size_bytes = source.shared_bytes
        loaded = partial(loaded, shared_mem=source.shared_bytes)
    return loaded, threads


WAYS_KEPT = 256
"""For how many grids and facts of the arguments a launcher keeps what it does."""


class Ways(dict[tuple[int, ...], tuple[Call, tuple[int]]]):
    """What starts a kernel, by grid (three ints) and what is asked of the arguments (the rest)."""

    def __init__(self, cupy: Any, variants: Variants) -> None:
        self.cupy, self.variants = cupy, variants

    def __missing__(self, key: tuple[int, ...]) -> tuple[Call, tuple[int]]:
        grid = (key[0], key[1], key[2])
        source = self.variants.of_facts(key[3:], self.variants.wraps(grid))
        if len(self) >= WAYS_KEPT:
            self.clear()
        found = self[key] = ready(self.cupy, source, grid)
        return found


def launcher(variants: Variants, device: Device) -> Launcher:
    """`launch(nx, ny, nz, *values)` on a device; an array is its address. Its function is written
    for the kernel's parameters, for instance

        def launch(nx, ny, nz, v0, v1):
            if here() != number: return elsewhere(nx, ny, nz, v0, v1)
            call, threads = ways[nx, ny, nz, 0 if v0 & 15 else 2, …]
            call((nx, ny, nz), threads, (v0, m1(v1)))

    Raises what `launch` does.
    """
    cupy = load_cupy()
    parameters = variants.source.parameters
    asked = "".join(f", {variants.asked_text(place)}" for place in variants.places)
    pointers = [isinstance(parameter.type, PointerType) for parameter in parameters]
    values = "".join(f", v{place}" for place in range(len(parameters)))
    given = "".join(
        f"v{n}, " if is_pointer else f"m{n}(v{n}), " for n, is_pointer in enumerate(pointers)
    )
    start = f"call((nx, ny, nz), threads, ({given}))"
    text = f"""def launch(nx, ny, nz{values}):
    if here() != number: return elsewhere(nx, ny, nz{values})
    call, threads = ways[nx, ny, nz{asked}]
    {f"with stream(): {start}" if device.torch_stream else start}
"""
    space: dict[str, Any] = {
        f"m{place}": parameter.value for place, parameter in enumerate(parameters)
    }
    space |= {"__name__": __name__, "number": device.number, "ways": Ways(cupy, variants)}
    space["here"] = cupy.cuda.runtime.getDevice
    if device.torch_stream:
        space["stream"] = torch_stream(cupy, device.number)
    exec(compile(text, f"<launch of {variants.source.name}>", "exec"), space)
    launch: Launcher = space["launch"]

    def elsewhere(*given: Any) -> None:
        with cupy.cuda.Device(device.number):
            launch(*given)

    space["elsewhere"] = elsewhere
    return launch


def torch_stream(cupy: Any, number: int) -> Callable[[], Any]:
    """What gives torch's current stream of a device as one of CuPy's."""
    torch = sys.modules["torch"]
    raw: Callable[[int], int] = getattr(
        torch._C,
        "_cuda_getCurrentRawStream",
        lambda number: torch.cuda.current_stream(number).cuda_stream,
    )
    streams: dict[int, Any] = {}

    def stream() -> Any:
        handle = raw(number)
        found = streams.get(handle)
        if found is None:
            found = streams[handle] = cupy.cuda.ExternalStream(handle)
        return found

    return stream


def load_cupy() -> Any:
    """CuPy. Raises CompileError, with what to install, where it is not there."""
    try:
        import cupy
    except ImportError as error:
        raise CompileError(
            f"launching on a GPU needs CuPy ({error}): pip install 'mytriton[cuda12]' or "
            "'mytriton[cuda13]', whichever is your driver's CUDA version",
            where=(),
        ) from error
    return cupy


def kernel(cupy: Any, source: CudaSource) -> Any:
    """The loaded kernel of a text and name; NVRTC compiles it at its first launch."""
    key = source.text, source.name, *source.flags
    if key not in _kernels:
        _kernels[key] = cupy.RawKernel(source.text, source.name, options=(*OPTIONS, *source.flags))
    return _kernels[key]


def forget(sources: Sequence[CudaSource]) -> None:
    """Drops the loaded kernels of these sources, and of their texts for other arguments: all that
    have their names."""
    names = {source.name for source in sources}
    for key in [key for key in _kernels if key[1] in names]:
        del _kernels[key]


def check_limits(cupy: Any, source: CudaSource, grid: tuple[int, int, int]) -> None:
    """What the device can run: its own limit of threads a block, CUDA's limits of a grid."""
    most = cupy.cuda.Device().attributes["MaxThreadsPerBlock"]
    if source.threads_per_block > most:
        raise OutOfResources(
            source.threads_per_block,
            most,
            "threads",
            f"{source.name} needs {source.threads_per_block} threads a block, this device allows "
            f"{most}; use a smaller block, or num_warps= for the tiled lowering",
            where=(),
        )
    if source.shared_bytes:
        most = cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        if source.shared_bytes > most:
            raise OutOfResources(
                source.shared_bytes,
                most,
                "shared memory",
                f"{source.name} needs {source.shared_bytes} bytes of shared memory, this device "
                f"allows {most}; use smaller blocks",
                where=(),
            )
    for axis, (extent, limit) in enumerate(zip(grid, GRID_LIMITS)):
        if extent > limit:
            above = f"extent {extent} of axis {axis} is above CUDA's {limit}"
            raise CompileValueError(f"invalid launch grid: {grid}: {above}", where=())


@contextmanager
def placed(cupy: Any, arguments: Sequence[Argument]) -> Iterator[None]:
    """The device that the first array lives on is current; so is, for a torch tensor, torch's
    stream."""
    owner = next((a.owner for a in arguments if isinstance(a, Buffer)), None)
    device = getattr(owner, "device", None)
    number = next(
        (n for n in (getattr(device, k, None) for k in ("id", "index")) if n is not None), None
    )
    with ExitStack() as stack:
        if number is not None:
            stack.enter_context(cupy.cuda.Device(number))
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(owner, torch.Tensor):
            handle = torch.cuda.current_stream(number).cuda_stream
            stack.enter_context(cupy.cuda.ExternalStream(handle))
        yield
