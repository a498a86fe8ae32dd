"""A launch recorded by the interpreter: what each program reads and writes, and how much it does.

    recorded = record(function, launch, gpu_accesses)
    recorded.accesses[op].touched[3]        # the elements that program 3 touches, ascending
    recorded.operations                     # of floats, over all programs that ran

The interpreter tells of each access before it is made and of each op after it, so an access belongs
to the op that is told of next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter

import numpy as np

from ..ir.effects import accesses_memory
from ..ir.nodes import Function, Op, walk
from ..ir.numeric import Array
from ..ir.types import ScalarType, element_of, shape_of
from ..layouts.linear import Layout, padded
from ..passes.provenance import makes_unknown_addresses, provenance
from ..passes.spinning import may_spin
from ..targets import Grid
from ..targets.interpret import Lanes, run
from ..targets.interpret import every as every_program
from ..targets.lanes import Index
from ..targets.memory import Buffer
from .launch import Launch

MOST_PROGRAMS = 256
"""A larger grid is recorded for its first programs only, unless programs may wait for others."""
SECONDS = 0.7
"""After so long no further program is begun, unless programs may wait for others."""
MOST_LANES = 4_000_000
"""Touches of lanes that are kept; what comes after is counted only."""
MOST_SAMPLES = 64
"""Accesses of each op that are looked at for coalescing."""
SECTOR = 32
"""Bytes that a GPU's memory moves at least (CUDA C++ Best Practices Guide, "Coalesced Access")."""

Held = tuple[Layout, int]
"""The layout in which a GPU makes an access, and the elements that a thread moves at once."""


@dataclass
class Access:
    """What one op did over all programs.

    argument: the place of the buffer, -1 elsewhere. touched: by program's number the elements, each
    once. lanes, off: how many lanes there were, and of them masked-off. sectors, wanted: of the
    samples, the 32-byte sectors that a GPU's warps ask for, and the fewest that hold what they
    want.
    """

    op: Op
    write: bool
    size: int
    argument: int = -1
    touched: dict[int, Array] = field(default_factory=dict)
    lanes: int = 0
    off: int = 0
    times: int = 0
    samples: int = 0
    sectors: int = 0
    wanted: int = 0

    @property
    def bytes(self) -> int:
        """Bytes that the masked-on lanes asked for, each time again."""
        return (self.lanes - self.off) * self.size


@dataclass
class Recorded:
    """The record of a launch. programs: those that ran, numbered in order. complete: all touches
    were kept. operations: of floats; products: those of them that `dot` made."""

    launch: Launch
    grid: Grid
    programs: dict[Index, int] = field(default_factory=dict)
    accesses: dict[tuple[Op, bool], Access] = field(default_factory=dict)
    complete: bool = True
    operations: int = 0
    products: int = 0


class Recorder:
    """The observer: see `targets.interpret.Observer`."""

    def __init__(
        self, recorded: Recorded, held: Mapping[Op, Held], owners: Mapping[Op, frozenset[int]]
    ) -> None:
        self.recorded, self.held, self.owners = recorded, held, owners
        self.pending: list[tuple[Lanes, int, bool]] = []
        self.touched: dict[tuple[Op, bool], dict[int, list[Array]]] = {}
        self.kept = 0
        arguments = enumerate(recorded.launch.arguments)
        self.spans = [(*a.span, a.address, at) for at, a in arguments if isinstance(a, Buffer)]

    def access(self, lanes: Lanes, size: int, write: bool) -> None:
        self.pending.append((lanes, size, write))

    def performed(self, op: Op, results: Sequence[Array]) -> None:
        for lanes, size, write in self.pending:
            self._keep(op, lanes, size, write)
        self.pending.clear()
        self.recorded.operations += operations(op, results)
        if op.name == "dot":
            self.recorded.products += operations(op, results)

    def _keep(self, op: Op, lanes: Lanes, size: int, write: bool) -> None:
        key = op, write
        found = self.recorded.accesses.setdefault(key, Access(op, write, size))
        found.lanes += int(np.prod(lanes.shape, dtype=np.int64))
        found.off += int(np.prod(lanes.shape, dtype=np.int64)) - lanes.addresses.size
        found.times += 1
        if not lanes.addresses.size:
            return
        start, argument = self._array(op, int(lanes.addresses.min()))
        if found.argument < 0:
            found.argument = argument
        self.kept += lanes.addresses.size
        self.recorded.complete = self.kept <= MOST_LANES
        if argument == found.argument >= 0 and self.recorded.complete:
            number = self.recorded.programs[lanes.program]
            elements = (lanes.addresses - start) // size
            self.touched.setdefault(key, {}).setdefault(number, []).append(elements)
        if op in self.held and found.samples < MOST_SAMPLES and lanes.shape:
            found.samples += 1
            sectors, wanted = coalescing(lanes, size, *self.held[op])
            found.sectors += sectors
            found.wanted += wanted

    def finish(self) -> None:
        """After the launch: what each program touched, each element once."""
        for key, programs in self.touched.items():
            found = {at: np.unique(np.concatenate(parts)) for at, parts in programs.items()}
            self.recorded.accesses[key].touched = found

    def _array(self, op: Op, address: int) -> tuple[int, int]:
        """The start and the place of the argument that an address is in: where several share their
        memory, one that the op's addresses derive from."""
        owners = self.owners.get(op, frozenset())
        inside = [span for span in self.spans if span[0] <= address < span[1]]
        inside.sort(key=lambda span: span[3] not in owners)
        return inside[0][2:] if inside else (0, -1)


def record(function: Function, launch: Launch, grid: Grid, held: Mapping[Op, Held]) -> Recorded:
    """Runs a launch, whose arrays are copies, over a grid and records it. held: how a GPU makes
    each access.

    Raises KernelError for what goes wrong while it runs.
    """
    recorded = Recorded(launch, grid)
    recorder = Recorder(recorded, held, owners_of(function))
    waits = any(may_spin(op) for op in _loops(function))
    programs = _begun(recorded, every_program(grid), waits)
    run(function, launch.arguments, grid, programs, recorder)
    recorder.finish()
    return recorded


def refusal(function: Function) -> str:
    """Why a function's launches are not recorded; "" where they are."""
    if makes_unknown_addresses(function.body):
        return "it follows pointers that it loads or makes from ints, to memory that has no copy"
    return ""


def _begun(recorded: Recorded, programs: Iterable[Index], all_of_them: bool) -> Iterator[Index]:
    """The programs to run, numbered as they begin."""
    end = perf_counter() + SECONDS
    for program in programs:
        enough = len(recorded.programs) >= MOST_PROGRAMS or perf_counter() > end
        if recorded.programs and enough and not all_of_them:
            return
        recorded.programs[program] = len(recorded.programs)
        yield program


def _loops(function: Function) -> list[Op]:
    return [op for op in walk(function.body) if op.name == "while"]


def owners_of(function: Function) -> dict[Op, frozenset[int]]:
    """The places of the params that the addresses of each access derive from."""
    derived, places = provenance(function), {p: at for at, p in enumerate(function.params)}
    return {
        op: frozenset(places[param] for param in derived.of(op.operands[0]).params)
        for op in walk(function.body)
        if accesses_memory(op) and op.operands
    }


def operations(op: Op, results: Sequence[Array]) -> int:
    """The operations on floats that an op took: one an element of an element-wise one, two a
    multiplication and addition of a product."""
    if not op.types or not results:
        return 0
    if op.name == "dot":
        (left, *_) = op.operands
        assert left is not None
        return 2 * int(np.size(results[0])) * shape_of(left.ty)[-1]
    element = element_of(op.types[0])
    real = isinstance(element, ScalarType) and element.kind == "f"
    return int(np.size(results[0])) if real and op.row.element is not None else 0


def coalescing(lanes: Lanes, size: int, layout: Layout, vector: int) -> tuple[int, int]:
    """The sectors that the warps of a program ask for in an access, instruction by instruction, and
    the fewest that could hold the bytes that each instruction wants."""
    shape = padded(lanes.shape)
    if shape != layout.shape:
        return 0, 0
    addresses = np.full(shape, -1, np.int64)
    whole = np.full(lanes.shape, -1, np.int64).reshape(-1)
    whole[lanes.position] = lanes.addresses
    addresses[tuple(map(slice, lanes.shape))] = whole.reshape(lanes.shape)
    flat = addresses.reshape(-1)
    if layout.threads < 32:
        return 0, 0
    asked = np.sort(flat[_places(layout, vector)], axis=1)
    sectors = np.where(asked < 0, -1, asked // SECTOR)
    return int(_distinct(sectors).sum()), int((-(-_distinct(asked) * size // SECTOR)).sum())


def _distinct(rows: Array) -> Array:
    """How many different numbers from 0 on each sorted row has."""
    new = np.diff(rows, axis=1, prepend=-1) != 0
    counts: Array = (new & (rows >= 0)).sum(axis=1)
    return counts


@cache
def _places(layout: Layout, vector: int) -> Array:
    """The indices that the lanes of a warp access at once, a row an instruction of a warp."""
    registers = np.array([layout.index(r, 0) for r in range(layout.registers)])
    threads = np.array([layout.index(0, t) for t in range(layout.threads)])
    # (warp, instruction, lane, element of the vector)
    places = threads.reshape(-1, 1, 32, 1) ^ registers.reshape(1, -1, 1, vector)
    table: Array = places.reshape(-1, 32 * vector)
    return table
