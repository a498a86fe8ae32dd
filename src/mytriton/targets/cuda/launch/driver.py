"""Launches printed kernels through CuPy: the one place that touches a GPU.

One idea: when this is reached, every decision has been made; what is left is to carry a text, its
dimensions and its arguments to CuPy. CuPy is imported by the first launch, and loaded kernels are
kept by text and name.

    launch(source, (4, 1, 1), arguments)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ....errors import CompileError, CompileValueError, OutOfResources
from ...memory import Argument, Buffer
from ..source import CudaSource
from .nvrtc import OPTIONS

GRID_LIMITS = (2**31 - 1, 65535, 65535)
"""The greatest grid extents of every CUDA device since compute capability 3.0."""

_kernels: dict[tuple[str, str], Any] = {}


def launch(source: CudaSource, grid: tuple[int, int, int], arguments: Sequence[Argument]) -> None:
    """Launches the kernel on the current stream of the device that the arguments live on; does not
    wait for it.

    Raises CompileValueError where the grid or the block is more than the device takes, CompileError
    without CuPy.
    """
    cupy = load_cupy()
    with placed(cupy, arguments):
        check_limits(cupy, source, grid)
        packed = tuple(p.pack(a)[0] for a, p in zip(arguments, source.parameters, strict=True))
        loaded, threads = kernel(cupy, source), (source.threads_per_block,)
        if source.shared_bytes:
            loaded.max_dynamic_shared_size_bytes = source.shared_bytes
            loaded(grid, threads, packed, shared_mem=source.shared_bytes)
        else:
            loaded(grid, threads, packed)


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
    key = source.text, source.name
    if key not in _kernels:
        _kernels[key] = cupy.RawKernel(source.text, source.name, options=OPTIONS)
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
