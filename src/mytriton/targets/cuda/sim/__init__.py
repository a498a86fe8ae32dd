"""cudasim: the printed CUDA text, compiled for the host and run thread by thread.

The kernel's text is compiled as it stands (program.py), and every access to memory that other
threads might see is checked (runtime/): races, reads of what nobody wrote, accesses outside every
array, misaligned ones, and threads that wait for others in vain are errors that name the kernel's
own line (reports.py).

    run(generate(function), (4, 1, 1), arguments, order="reverse")

`MYTRITON_CUDASIM` chooses the checks: names of `CHECKS` with commas, `all`, or `none`.
`MYTRITON_CUDASIM_ORDER` chooses in which order blocks and threads take their turns: `forward`,
`reverse`, `shuffle` or, by another seed, `shuffle:7`.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ....errors import CompileValueError, KernelAssertionError
from ....fork import held_over_fork
from ....ir.nodes import walk
from ....ir.types import PointerType, element_of
from ... import CompileOptions, Grid
from ...memory import Argument, Buffer
from ..prelude import host_text
from ..source import CudaSource
from ..specialise import Variants
from . import build, reports
from .prints import readable
from .program import BUILTINS, DEVICE, RUNTIME, Variable, host_program, variables
from .structures import Array, Launch, Records, Report, SharedVariable, recorded

HOST = f"{BUILTINS}\n{DEVICE}"
"""What a text needs that calls device functions of the prelude."""
ORDERS = ("forward", "reverse", "shuffle")
ORDER = "MYTRITON_CUDASIM_ORDER"
RESIDENT_THREADS = 4096
"""How many threads run side by side where programs may wait for each other."""
CHECKS = {"races": 1, "unwritten": 2, "bounds": 4, "alignment": 8, "global": 16}
"""The checks: races and reads of unwritten bytes in shared memory; accesses outside the arrays; of
addresses that are no multiple of their size; and races of a program's threads in global memory."""
DEFAULT = "races,unwritten,bounds,alignment"
MEETS = re.compile(r"__sync|_sync\(|cudasim::(barrier|sync_warp|from_|mma)|simulator->[eb]")
"""The calls in which a thread waits for others."""
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
    order: str | None = None,
    checks: str | None = None,
) -> None:
    """Runs the kernel's text for every block and thread of the grid, on host memory.

    order and checks: as the variables say, which hold where they are None. Raises KernelMemoryError
    and KernelRaceError for what the checks find, KernelError where threads wait for others in vain,
    KernelAssertionError where the kernel stops itself, CompileError where there is no C++ compiler.
    """
    _run(source, grid, arguments, _launch(source, grid, arguments, order, checks))


def trace(
    source: CudaSource,
    grid: tuple[int, int, int],
    arguments: Sequence[Argument],
    *,
    order: str | None = None,
    checks: str | None = "none",
) -> Records:
    """Runs the kernel, and returns every access to shared memory and to the arrays in the order in
    which they happened, as an array of `ACCESS`. Raises what `run` raises."""
    launch = _launch(source, grid, arguments, order, checks)
    launch.tracing = 1
    return _run(source, grid, arguments, launch)


def _run(
    source: CudaSource,
    grid: tuple[int, int, int],
    arguments: Sequence[Argument],
    launch: Launch,
) -> Records:
    held = [p.pack(argument) for argument, p in zip(arguments, source.parameters, strict=True)]
    addresses = (ctypes.c_void_p * len(held))(*(array.ctypes.data for array in held))
    launch.arguments = ctypes.addressof(addresses)
    simulator, found, count = runtime(), ctypes.POINTER(Report)(), ctypes.c_uint()
    blocks = grid[0] * grid[1] * grid[2]
    with _lock:
        kernel = _connect(source, launch, simulator, grid)
        problem = simulator.cudasim_launch(
            ctypes.byref(launch), blocks, ctypes.byref(found), ctypes.byref(count)
        )
        made = [Report.from_buffer_copy(found[place]) for place in range(count.value)]
        text = None if problem is None else problem.decode(errors="replace")
        printed = kernel.mytriton_printed() or b""
        records = recorded(simulator)
    for line in readable(printed.decode(errors="replace")):
        print(line)
    if text is not None:
        raise KernelAssertionError(text, ())
    if made:
        raise reports.error(source, arguments, variables(source), made)
    return records


def order_of(text: str | None) -> tuple[int, int]:
    """The order's number and the seed that a text names."""
    given = os.environ.get(ORDER, "forward") if text is None else text
    name, _, seed = given.partition(":")
    if name not in ORDERS or not (seed or "0").isdecimal():
        raise CompileValueError(
            f"{ORDER} must be forward, reverse, shuffle or shuffle:SEED, got `{given}`", ()
        )
    return ORDERS.index(name), int(seed or 0)


def checks_of(text: str | None) -> int:
    """The checks that a text names, as bits."""
    given = os.environ.get("MYTRITON_CUDASIM", DEFAULT) if text is None else text
    bits = 0
    for name in filter(None, (part.strip() for part in given.split(","))):
        if name not in (*CHECKS, "all", "none"):
            known = ", ".join(CHECKS)
            raise CompileValueError(
                f"MYTRITON_CUDASIM has no check `{name}`; there are {known}, all and none", ()
            )
        bits |= {"all": sum(CHECKS.values()), "none": 0}.get(name, CHECKS.get(name, 0))
    return bits


@cache
def runtime() -> ctypes.CDLL:
    """The simulator."""
    library = build.build(RUNTIME, build.PLAIN)
    library.cudasim_table.restype = ctypes.c_void_p
    library.cudasim_trace.restype = ctypes.c_void_p
    library.cudasim_launch.restype = ctypes.c_char_p
    return library


def _connect(
    source: CudaSource, launch: Launch, simulator: ctypes.CDLL, grid: tuple[int, int, int]
) -> ctypes.CDLL:
    """Makes the kernel's object and the simulator known to each other; the object."""
    kernel = build.build(host_program(source), build.CHECKED)
    connect = kernel.mytriton_connect
    connect.restype = ctypes.POINTER(ctypes.c_uint)
    connect.argtypes = (ctypes.c_void_p,)
    indices = connect(simulator.cudasim_table())
    for place, extent in enumerate((source.threads_per_block, 1, 1, *grid)):
        indices[6 + place] = extent
    launch.body = ctypes.cast(kernel.mytriton_kernel, ctypes.c_void_p)
    launch.indices = ctypes.cast(indices, ctypes.c_void_p)
    kernel.mytriton_printed.restype = ctypes.c_char_p
    return kernel


def _launch(
    source: CudaSource,
    grid: tuple[int, int, int],
    arguments: Sequence[Argument],
    order: str | None,
    checks: str | None,
) -> Launch:
    """What the simulator must know of a launch."""
    declared, arrays = variables(source), _arrays(arguments)
    roots = _roots(source)
    launch = Launch()
    launch.threads, launch.resident = source.threads_per_block, resident(source)
    launch.shared_bytes = _end(declared)
    launch.variable_count, launch.array_count = len(declared), len(arrays)
    shared = _array_of(SharedVariable, [(v.offset, v.bytes) for v in declared])
    buffers, lines = _array_of(Array, arrays), (ctypes.c_ulonglong * len(roots))(*roots)
    launch.line_count = len(roots)
    launch.variables, launch.arrays = ctypes.addressof(shared), ctypes.addressof(buffers)
    launch.roots = ctypes.addressof(lines)
    launch.kept = (shared, buffers, lines)
    (launch.order, launch.seed), launch.checks = order_of(order), checks_of(checks)
    launch.unknown = sum(
        1 << place
        for place, argument in enumerate(arguments)
        if isinstance(argument, Buffer) and argument.nbytes is None
    )
    launch.open = makes_pointers(source) or launch.unknown != 0
    return launch


def _array_of(
    kind: type[ctypes.Structure], rows: Sequence[tuple[object, ...]]
) -> ctypes.Array[ctypes.Structure]:
    return (kind * max(1, len(rows)))(*(kind(*row) for row in rows))


def _arrays(arguments: Sequence[Argument]) -> list[tuple[object, ...]]:
    """The arrays whose extent is known: first address, end, whether writable, which argument."""
    return [
        (*argument.span, int(argument.writable), place, None)
        for place, argument in enumerate(arguments)
        if isinstance(argument, Buffer) and argument.nbytes is not None
    ]


def _end(declared: Sequence[Variable]) -> int:
    """Bytes of a block's shared memory, with a gap at the end."""
    return -(-(declared[-1].offset + declared[-1].bytes + 64) // 16) * 16 if declared else 0


@cache
def _roots(source: CudaSource) -> tuple[int, ...]:
    """For each line of the kernel, from 1 on, the pointer parameters that it names, as bits: what
    it may touch. 0 where it names none, and reaches memory by an address made before."""
    names = {
        p.name: 1 << place
        for place, p in enumerate(source.parameters)
        if isinstance(element_of(p.type), PointerType) and place < 64
    }
    found = [0]
    for line in source.kernel.splitlines():
        bits = 0
        for word in re.findall(r"[A-Za-z_]\w*(?=\[| \+)", line):
            bits |= names.get(word, 0)
        found.append(bits)
    return tuple(found)


@cache
def makes_pointers(source: CudaSource) -> bool:
    """Whether addresses come from elsewhere than the arguments: out of memory, or out of ints."""
    return source.function is not None and any(
        isinstance(element_of(ty), PointerType) and op.name in ("load", "cast", "bitcast")
        for op in walk(source.function.body)
        for ty in op.types
    )


@cache
def resident(source: CudaSource) -> int:
    """How many blocks run side by side: 0 where no thread waits for another, several where programs
    may."""
    spins = "while (" in source.kernel and re.search(r"\b(atomic|volatile_load)", source.kernel)
    if spins:
        return max(1, RESIDENT_THREADS // source.threads_per_block)
    return 1 if MEETS.search(source.kernel + host_text(source.kernel)) else 0
