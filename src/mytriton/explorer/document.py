"""The document of the explorer: all that is known of one compiled kernel, as one JSON value.

The dataclasses here are the value; `json_of` gives it as dicts, lists, strings and numbers, which
`schema.json` describes (`schema()` reads it). A text is a column: its lines, and for each line the
number of its *place*, a call stack of kernel lines, and of the line of another column that it was
made from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib.resources import files
from typing import Any

VERSION = 1
"""Raised by a change that a reader of the document must know of."""


@dataclass(frozen=True)
class Frame:
    """One frame of kernel code: a source (its number in `Document.sources`), a line of its file
    (from 1), and the function's name."""

    source: int
    line: int
    function: str


@dataclass(frozen=True)
class Source:
    """A part of a Python file: one function's lines, the first of which is line `first`."""

    file: str
    function: str
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A text of the kernel: a stage of the compiler, or what another tool makes of one.

    places: for each line a number in `Document.places`; -1 where it has none. origins: for each
    line the line of the column `made_from` that it was made from, from 1; 0 where it has none.
    marks: for each line of a pass's result what the pass did: "new", "operands" (the same op on
    other operands), "moved" (to another region), "gone" (a line of the text before, which is not in
    this one), or "". notes: what else there is to say, each perhaps at a place. error: why there is
    no text.
    """

    name: str
    title: str
    about: str
    language: str
    lines: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    made_from: str | None = None
    origins: tuple[int, ...] = ()
    marks: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Note:
    """A remark about a column: a rule that a pass applied so many times, and the rule's law."""

    text: str
    detail: str = ""
    places: tuple[int, ...] = ()
    count: int = 1


@dataclass(frozen=True)
class HeldValue:
    """A value in a layout: its name and line in the SSA text, its type, and its place."""

    name: str
    text: str
    type: str
    place: int


@dataclass(frozen=True)
class LayoutView:
    """A linear layout: location (register, lane, warp) holds the element whose row-major index in
    the padded shape is the exclusive or of the bases of the location's set bits. picture: its first
    rows and columns as text. values: what is held so."""

    shape: tuple[int, ...]
    register: tuple[int, ...]
    lane: tuple[int, ...]
    warp: tuple[int, ...]
    picture: str
    values: tuple[HeldValue, ...]


@dataclass(frozen=True)
class MoveView:
    """A value that changes from one layout to another, by number.

    kind: "permute" (registers of a thread), "shuffle" (lanes of a warp) or "shared" (through shared
    memory). width: bytes of an element. Of "shared": offsets, for each bit of an element's index
    the offset in elements that it contributes (by exclusive or); vectors, the elements that one
    access of a lane writes and reads; conflicts, the most words of one bank that a phase touches
    when it writes and when it reads, 1 being none.
    """

    value: str
    place: int
    source: int
    target: int
    kind: str
    words: str
    width: int
    offsets: tuple[int, ...] = ()
    vectors: tuple[int, ...] = ()
    conflicts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Measured:
    """What an access did in a recorded launch: whether it wrote, how often, over how many lanes,
    how many of them were masked off, the bytes asked for; and of so many samples the 32-byte
    sectors that a GPU's warps ask for, and the fewest that hold what they want."""

    write: bool
    times: int
    lanes: int
    off: int
    bytes: int
    samples: int
    sectors: int
    wanted: int


@dataclass(frozen=True)
class AccessView:
    """An access to memory: its SSA line and place; `kind`, the op; the params that its addresses
    derive from; the element type and the block's shape; the steps along its axes, in elements, and
    the class that they make; the classes that the CPU target's loops have; the bytes that a thread
    moves at once on a GPU, 0 where there is no CUDA text; the reasons, and what was measured."""

    text: str
    place: int
    kind: str
    arguments: tuple[str, ...]
    element: str
    shape: tuple[int, ...]
    steps: tuple[str, ...]
    access_class: str
    cpu: tuple[str, ...]
    vector_bytes: int
    reasons: tuple[str, ...]
    measured: tuple[Measured, ...]


@dataclass(frozen=True)
class Machine:
    """Occupancy: the blocks that a multiprocessor runs at once, their warps of those that it could
    hold, how many blocks each resource has room for, and which have room for no more."""

    blocks: int
    warps: int
    most_warps: int
    limits: Mapping[str, int]
    limited_by: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """What machine code takes, read from it: instructions; registers a thread (0: not said); the
    lines of its column that touch the stack frame, or a GPU thread's local memory, where spilled
    values are; threads and bytes of shared memory a block."""

    machine: str
    column: str
    instructions: int
    registers: int
    stack: tuple[int, ...]
    threads: int
    shared: int
    occupancy: Machine | None


@dataclass(frozen=True)
class Totals:
    """What recorded programs did: how many ran, of how many; the bytes that they asked for, and
    those of the elements that they touched, each once; operations on floats, and how many of them
    were those of products."""

    programs: int
    grid: int
    bytes: int
    distinct: int
    operations: int
    products: int


@dataclass(frozen=True)
class Roof:
    """A machine's peaks, bytes and operations a second; `words` says where they come from."""

    machine: str
    words: str
    bandwidth: float
    flops: float


@dataclass(frozen=True)
class Performance:
    """What the kernel costs, and why. `totals` and `roofs` are those of a recorded launch."""

    accesses: tuple[AccessView, ...]
    code: tuple[Code, ...]
    totals: Totals | None
    roofs: tuple[Roof, ...]


@dataclass(frozen=True)
class Touched:
    """What an access touched: the program's number, and its elements as runs of start, count and
    step."""

    program: int
    runs: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class AccessRecord:
    """An access of a recorded launch: its place and SSA line, which array it touched, whether it
    wrote, and what each program touched."""

    text: str
    place: int
    array: int
    write: bool
    touched: tuple[Touched, ...]


@dataclass(frozen=True)
class ArrayRecord:
    """An array of a recorded launch: its parameter and element type, its extents (one, of its
    memory, where it has no shape); how many elements nothing touched, how many were stored to by
    several programs, and the first of each; `outside`: touches of memory between its elements.
    Elements are numbered in row-major order of the shape."""

    name: str
    element: str
    shape: tuple[int, ...]
    outside: int
    untouched: int
    first_untouched: int
    overlapping: int
    first_overlapping: int


@dataclass(frozen=True)
class RunRecord:
    """A recorded launch: its grid, the programs that ran, the arrays, the accesses. complete: every
    touch is here."""

    grid: tuple[int, int, int]
    programs: tuple[tuple[int, int, int], ...]
    arrays: tuple[ArrayRecord, ...]
    accesses: tuple[AccessRecord, ...]
    complete: bool


@dataclass(frozen=True)
class Document:
    """Everything about a kernel.

    kernel: its name. arguments: each parameter's type, or its value where it is a constexpr.
    places: call stacks, innermost frame first. not_recorded: why there is no `run`.
    """

    kernel: str
    file: str
    arguments: Mapping[str, str]
    options: Mapping[str, str]
    made_by: str
    sources: tuple[Source, ...]
    places: tuple[tuple[Frame, ...], ...]
    columns: tuple[Column, ...]
    layouts: tuple[LayoutView, ...] = ()
    moves: tuple[MoveView, ...] = ()
    performance: Performance | None = None
    run: RunRecord | None = None
    not_recorded: str = ""
    version: int = VERSION

    def column(self, name: str) -> Column:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)


def json_of(value: Any) -> Any:
    """A value of these dataclasses as JSON holds it."""
    if is_dataclass(value):
        return {field.name: json_of(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (tuple, list)):
        return [json_of(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): json_of(item) for key, item in value.items()}
    assert value is None or isinstance(value, (str, int, float)), f"{value!r} is no JSON"
    return value


@cache
def schema() -> Any:
    """The JSON Schema of the document."""
    return json.loads(files(__package__).joinpath("schema.json").read_text(encoding="utf-8"))
