"""cudasim: the printed CUDA text, compiled for the host and run thread by thread.

One idea: the kernel's text is compiled as it stands. `host.h` gives it what CUDA has and a host
compiler lacks, the prelude's host twins stand for its device functions, and a few generated lines
unpack the arguments.

    run(generate(function), (4, 1, 1), arguments, order="reverse")
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ....errors import KernelAssertionError
from ....fork import held_over_fork
from ... import CompileOptions, Grid
from ...memory import Argument
from ..prelude import host_text
from ..source import CudaSource
from ..specialise import Variants
from . import build
from .prints import readable

HOST = files(__package__).joinpath("host.h").read_text()
ORDERS = ("forward", "reverse", "shuffle")
DYNAMIC = "extern __shared__ __align__(16) unsigned char scratch[];"
"""How a kernel declares shared memory whose size the launch gives."""
RESIDENT_THREADS = 4096
"""How many threads run side by side where programs may wait for each other."""

_lock = held_over_fork(threading.Lock())


@dataclass(frozen=True)
class Simulated:
    """A CUDA text that runs on the host."""

    variants: Variants

    def launch(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        run(self.variants.of(grid, arguments), grid, arguments)


def compile(source: CudaSource, options: CompileOptions) -> Simulated:
    """The executable of a CUDA text; the host compiler sees it at the first launch."""
    return Simulated(Variants(source, options.overlap, options.fixed))


def run(
    source: CudaSource,
    grid: tuple[int, int, int],
    arguments: Sequence[Argument],
    *,
    order: str = "forward",
    seed: int = 0,
) -> None:
    """Runs the kernel's text for every block and thread of the grid, on host memory.

    order: in which order blocks and threads take their turns: "forward", "reverse" or, by `seed`,
    "shuffle". Raises KernelAssertionError where a device assert fails or threads wait for each
    other in vain, CompileError where there is no C++ compiler.
    """
    program = build.build(host_program(source))
    entry, printed = program.mytriton_run, program.mytriton_printed
    entry.restype = printed.restype = ctypes.c_char_p
    held = [p.pack(argument) for argument, p in zip(arguments, source.parameters, strict=True)]
    addresses = (ctypes.c_void_p * len(held))(*(array.ctypes.data for array in held))
    extents = (ctypes.c_uint * 3)(*grid)
    turns = (resident(source), ORDERS.index(order), seed)
    with _lock:
        problem = entry(addresses, extents, source.threads_per_block, *turns)
        text = printed() or b""
    for line in readable(text.decode(errors="replace")):
        print(line)
    if problem is not None:
        raise KernelAssertionError(problem.decode(errors="replace"), ())


def resident(source: CudaSource) -> int:
    """How many blocks run side by side: 0 where no thread waits for another, several where programs
    may."""
    spins = "while (" in source.kernel and re.search(r"\b(atomic|volatile_load)", source.kernel)
    if spins:
        return max(1, RESIDENT_THREADS // source.threads_per_block)
    return 1 if re.search(r"__syncthreads|shuffle|sort_shared|mma_", source.kernel) else 0


@cache
def host_program(source: CudaSource) -> str:
    """The C++ program: host header, twins, the kernel, and the entry that unpacks its arguments.

    The kernel is renamed, since a shared object's own `read` would lose to the C library's.
    """
    given = (f"*({p.c_type}*)given[{place}]" for place, p in enumerate(source.parameters))
    name = f"kernel_{source.name}"
    kernel = source.kernel.replace(DYNAMIC, f"{DYNAMIC[7:-3]}[{source.shared_bytes}];")
    return f"""{HOST}
{host_text(source.kernel)}

#define {source.name} {name}
#define printf cudasim::print
{kernel}
#undef printf
#undef {source.name}

extern "C" __attribute__((visibility("default"))) const char* mytriton_run(
    void** given, const unsigned int* grid, unsigned int threads, unsigned int resident, int order,
    unsigned int seed) {{
    auto mytriton_kernel = [](void** given) {{ {name}({", ".join(given)}); }};
    return cudasim::launch(mytriton_kernel, given, grid, threads, resident, order, seed);
}}

extern "C" __attribute__((visibility("default"))) const char* mytriton_printed() {{
    return cudasim::take_printed();
}}
"""
