"""A launch to be explained: the compilation, and where there is a grid the arguments on it.

kernel.explain(x, y, out, n, grid=(4,), BLOCK=64)      # explain_call
with captured(kernel) as launches: …                   # the launches that run inside
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..frontend.signature import Constexpr
from ..runtime.arguments import converters, flatten
from ..runtime.cache import specialize
from ..runtime.compile import Compilation
from ..runtime.hooks import HOOKS, LaunchMetadata
from ..runtime.launch import grid_of
from ..runtime.options import compile_options
from ..targets import CompileOptions, Grid
from ..targets.memory import Argument, Buffer
from .gpus import gpu_named


@dataclass(frozen=True)
class Launch:
    """What a launch would run: the grid (None: only the arguments are known), and the run-time
    arguments in the order of the function's params; `shapes`: of arrays among them, extents and
    strides in elements, by parameter."""

    grid: Grid | None
    arguments: tuple[Argument, ...]
    shapes: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]


def compiled_for(
    kernel: Any, values: Sequence[Any], options: Mapping[str, Any], gpu: str
) -> Compilation:
    """The compilation of a kernel for arguments, with what the options ask of CUDA code."""
    found = specialize(kernel.params, values)
    return Compilation(kernel.fn, found.arguments, _asked(kernel, options, gpu))


def _asked(kernel: Any, options: Mapping[str, Any], gpu: str) -> CompileOptions:
    fixed = frozenset(p.name for p in kernel.params if p.do_not_specialize)
    asked = compile_options(options, kernel.debug, None, fixed)
    return replace(asked, arch=gpu_named(gpu).arch, overlap=False)


def launch_of(compilation: Compilation, values: Sequence[Any], grid: Any) -> Launch:
    """The launch of arguments, in the order of the parameters, over a grid, on copies; without a
    grid the arguments themselves, to be looked at only."""
    named = list(zip(compilation.arguments.items(), values))
    given = [(name, value) for (name, ty), value in named if not isinstance(ty, Constexpr)]
    makers = converters(compilation.types, [value for _, value in given])
    arguments = flatten(make(value) for make, (_, value) in zip(makers, given))
    shapes = {name: found for name, value in given if (found := _shape(value)) is not None}
    if grid is None:
        return Launch(None, tuple(arguments), shapes)
    return Launch(grid_of(grid), copied(arguments), shapes)


def _shape(value: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The extents and the strides in elements of an array that has them."""
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple):
        return None
    strides = getattr(value, "strides", None)
    size = getattr(value, "itemsize", 0)
    if isinstance(strides, tuple) and size:
        return tuple(map(int, shape)), tuple(int(step) // size for step in strides)
    step = getattr(value, "stride", None)
    return (tuple(map(int, shape)), tuple(map(int, step()))) if callable(step) else None


def copied(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """The arguments with copies for their memory; what shared memory shares it still. Memory of
    unknown size stays what it is."""
    spans: list[list[int]] = []
    sized = [a for a in arguments if isinstance(a, Buffer) and a.nbytes is not None]
    for start, end in sorted(buffer.span for buffer in sized):
        if spans and start < spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    copies = [(start, end, _copy(start, end)) for start, end in spans]

    def moved(argument: Argument) -> Argument:
        if not isinstance(argument, Buffer) or argument.nbytes is None:
            return argument
        low = argument.span[0]
        start, copy = next((s, copy) for s, end, copy in copies if s <= low <= end)
        address = argument.address - start + copy.ctypes.data
        return replace(argument, address=address, owner=copy)

    return tuple(map(moved, arguments))


def _copy(start: int, end: int) -> np.ndarray[Any, Any]:
    """The bytes at addresses, from a multiple of 256 on as a GPU's allocations are; what is not
    aligned to 16 bytes, which a launch looks at, stays off by as much."""
    room = np.empty(end - start + 512, np.uint8)
    skip = -room.ctypes.data % 256 + start % 16
    copy = room[skip : skip + end - start]
    ctypes.memmove(copy.ctypes.data, start, end - start)
    return copy


@dataclass
class Captured:
    """What was seen of a kernel's launches: how many there were, and of the first the compilation
    and its arguments, as they were before it ran."""

    count: int = 0
    first: tuple[Compilation, Launch] | None = None


@contextmanager
def captured(kernel: Any, gpu: str = "") -> Iterator[Captured]:
    """Watches, for the extent of a `with`, for launches of a kernel."""
    found = Captured()

    def look(metadata: LaunchMetadata) -> None:
        if metadata.kernel is not kernel:
            return
        found.count += 1
        if found.first is None:
            values = tuple(metadata.arguments.values())
            asked = _asked(kernel, metadata.options, gpu)
            compilation = metadata.compiled.compilation.variant(asked)
            found.first = compilation, launch_of(compilation, values, metadata.grid)

    HOOKS.launch_enter_hook.add(look)
    try:
        yield found
    finally:
        HOOKS.launch_enter_hook.remove(look)
