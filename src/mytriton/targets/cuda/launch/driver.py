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
from typing import Any

from ....errors import CompileError, CompileValueError, OutOfResources
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
        check_limits(cupy, source, grid)
        start = ready(cupy, source)
        start(grid, [a.address if isinstance(a, Buffer) else a for a in arguments])


def ready(cupy: Any, source: CudaSource) -> Callable[[Grid, Sequence[Any]], None]:
    """What starts a kernel on the current device: `start(grid, values)`."""
    loaded, threads = kernel(cupy, source), (source.threads_per_block,)
    makers = tuple(parameter.value for parameter in source.parameters)
    if not source.shared_bytes:
        return lambda grid, values: loaded(
            grid, threads, tuple([make(v) for make, v in zip(makers, values)])
        )
    loaded.max_dynamic_shared_size_bytes = source.shared_bytes
    shared = source.shared_bytes
    return lambda grid, values: loaded(
        grid, threads, tuple([make(v) for make, v in zip(makers, values)]), shared_mem=shared
    )


WAYS_KEPT = 256
"""For how many grids and facts of the arguments a launcher keeps what it does."""


def launcher(variants: Variants, device: Device) -> Launcher:
    """`launch(nx, ny, nz, *values)` on a device; an array is its address.

    Raises what `launch` does.
    """
    cupy = load_cupy()
    ways: dict[Any, Callable[[Grid, Sequence[Any]], None]] = {}
    asked = variants.asked
    here = current_device(cupy)
    stream = torch_stream(cupy, device.number) if device.torch_stream else None

    def start(*given: Any) -> None:
        grid, values = given[:3], given[3:]
        key = grid, asked(values)
        way = ways.get(key)
        if way is None:
            source = variants.of_facts(key[1], variants.wraps(grid))
            check_limits(cupy, source, grid)
            if len(ways) >= WAYS_KEPT:
                ways.clear()
            way = ways[key] = ready(cupy, source)
        if stream is None:
            way(grid, values)
        else:
            with stream():
                way(grid, values)

    def launch(*given: Any) -> None:
        if here() == device.number:
            start(*given)
        else:
            with cupy.cuda.Device(device.number):
                start(*given)

    return launch


def current_device(cupy: Any) -> Callable[[], int]:
    """What gives the number of the current device."""
    found: Callable[[], int] = cupy.cuda.runtime.getDevice
    return found


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
