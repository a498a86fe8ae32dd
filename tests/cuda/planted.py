"""Faults planted in the printed text of kernels, to see whether cudasim finds them.

A script changes the text in one place at a time: it removes a barrier or a wait, lets a shuffle
read another lane, leaves a lane out of a shuffle's mask, or makes a shared buffer smaller. All
variants of a kernel are one text, in which the number of the planted fault is one more argument:

    __syncthreads();            if (planted != 3) __syncthreads();
    shuffle_xor(v4[r], 8)       shuffle_xor(v4[r], planted == 4 ? 16 : 8)

so that the host compiler sees each kernel once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from mytriton.errors import KernelError
from mytriton.ir.types import I32
from mytriton.targets.cuda import CudaSource, sim
from mytriton.targets.cuda.sim import program
from mytriton.targets.cuda.sim.structures import ATOMIC, BARRIER, EXCHANGE, WRITE
from mytriton.targets.cuda.source import Parameter
from mytriton.targets.memory import Argument, Buffer

Grid = tuple[int, int, int]
ORDERS = ("forward", "reverse", "shuffle:1")


@dataclass(frozen=True)
class Launch:
    """A launch that can be repeated: its text, and its arguments as they were before it."""

    source: CudaSource
    grid: Grid
    arguments: tuple[Argument, ...]
    contents: tuple[Any, ...]

    def again(self) -> tuple[list[Argument], list[Any]]:
        """Fresh arguments, and the memory that lies behind the arrays."""
        made: list[Argument] = []
        memory = []
        for argument, content in zip(self.arguments, self.contents, strict=True):
            if content is None:
                made.append(argument)
                continue
            assert isinstance(argument, Buffer)
            room = np.zeros(content.nbytes + 128, np.uint8)
            start = -room.ctypes.data % 64 + (argument.address - argument.before) % 64
            room[start : start + content.nbytes] = content
            memory.append(room[start : start + content.nbytes])
            address = room.ctypes.data + start + argument.before
            made.append(replace(argument, address=address, owner=room))
        return made, memory


@contextmanager
def launches(found: list[Launch]) -> Iterator[None]:
    """Every launch of cudasim inside is added to the list, unless its text is there already."""
    run = sim.run

    def note(source: CudaSource, grid: Grid, arguments: Sequence[Argument], **how: Any) -> None:
        plain = all(not isinstance(a, Buffer) or a.nbytes is not None for a in arguments)
        if plain and source not in [one.source for one in found]:
            contents = tuple(_bytes_of(argument) for argument in arguments)
            found.append(Launch(source, grid, tuple(arguments), contents))
        run(source, grid, arguments, **how)

    with patch.object(sim, "run", note):
        yield


def _bytes_of(argument: Argument) -> Any:
    import ctypes

    if not isinstance(argument, Buffer):
        return None
    low, high = argument.span
    return np.frombuffer(ctypes.string_at(low, high - low), np.uint8)


@dataclass(frozen=True)
class Fault:
    """kind: what was changed; line: where, in the kernel's text; number: what `planted` must be."""

    kind: str
    line: int
    number: int
    smaller: str = ""
    """The shared variable that is smaller."""


CALL = re.compile(r"\bshuffle_xor\(((?:[^(),]|\([^()]*\))+), (\d+)\)")


def plant(source: CudaSource) -> tuple[CudaSource, list[Fault]]:
    """The text with every fault that can be planted in it, and the faults."""
    faults: list[Fault] = []
    lines = source.kernel.splitlines()
    for place, line in enumerate(lines):

        def new(kind: str, at: int = place + 1) -> int:
            faults.append(Fault(kind, at, len(faults) + 1))
            return len(faults)

        text = line.strip()
        if text == "__syncthreads();":
            lines[place] = line.replace(text, f"if (planted != {new('barrier')}) {text}")
        elif re.fullmatch(r"await_copies<\d+>\(\);", text):
            lines[place] = line.replace(text, f"if (planted != {new('wait')}) {text}")
        elif program.DECLARATION.match(line):
            name = str(program.DECLARATION.match(line)[4])  # type: ignore[index]
            faults.append(Fault("buffer", place + 1, len(faults) + 1, name))
        elif match := CALL.search(line):
            value, bits = match.groups()
            other = 16 if int(bits) != 16 else 8
            number, mask = new("lane"), new("mask")
            lanes = f"planted == {number} ? {other} : {bits}"
            short = f"__shfl_xor_sync(planted == {mask} ? 0x7fffffffU : 0xffffffffU, {value}, "
            lines[place] = line.replace(match[0], f"{short}{lanes})")
    head = next(place for place, line in enumerate(lines) if line.startswith("void "))
    assert lines[head].endswith(") {")
    comma = ", " if source.parameters else ""
    lines[head] = f"{lines[head][:-3]}{comma}int planted) {{"
    parameters = (*source.parameters, Parameter("planted", "int", I32))
    return replace(source, kernel="\n".join(lines), parameters=parameters), faults


# -- changes that change nothing


def is_equivalent(launch: Launch, source: CudaSource, fault: Fault) -> bool:
    """Whether a fault provably changes nothing in this launch, by what the sound kernel does:

    - a barrier, where no thread touches, before the next barrier that stays, a byte that another
      thread touched since the last one that stays, one of the two changing it; but for a byte that
      the reader has written itself, with the same bits;
    - a shuffle's lane, where both lanes offer the same bits to every lane that asks;
    - the end of a buffer that no access touches;
    - anything in a line that no thread reaches.
    """
    arguments, _ = launch.again()
    records = sim.trace(source, launch.grid, [*arguments, 0])
    if fault.kind == "buffer":
        return not _touches_end(source, fault, records)
    if fault.kind == "lane":
        return not _receives_other_bits(source, fault, records)
    if fault.kind == "barrier":
        return not _conflicts(fault, records)
    return not (records["line"] == fault.line).any()


def _touches_end(source: CudaSource, fault: Fault, records: Any) -> bool:
    """Whether an access reaches the bytes that are gone."""
    declared = program.variables(source)
    place = next(i for i, v in enumerate(declared) if v.name == fault.smaller)
    own = records[records["variable"] == place]
    ends = own["offset"] + own["bytes"]
    return bool((ends > declared[place].bytes - 16).any())


def _receives_other_bits(source: CudaSource, fault: Fault, records: Any) -> bool:
    """Whether a lane gets other bits from the lane that it asks by mistake."""
    match = re.search(r"\? (\d+) : (\d+)\)", source.kernel.splitlines()[fault.line - 1])
    assert match is not None
    wrong, right = map(int, match.groups())
    own = records[(records["how"] == EXCHANGE) & (records["line"] == fault.line)]
    offered: dict[tuple[int, int], list[int]] = {}
    for one in own:
        offered.setdefault((int(one["block"]), int(one["thread"])), []).append(int(one["after"]))
    return any(
        offered[block, thread ^ wrong] != offered[block, thread ^ right]
        for block, thread in offered
    )


def _conflicts(fault: Fault, records: Any) -> bool:
    """Whether accesses that only the removed barrier orders touch one byte from two threads."""
    for block in np.unique(records["block"]):
        own = records[records["block"] == block]
        passed = own[(own["how"] == BARRIER) & (own["thread"] == 0)]
        gone = {int(one["epoch"]) for one in passed if one["line"] == fault.line}
        merged = [0]
        for epoch in range(int(own["epoch"].max(initial=0))):
            merged.append(merged[-1] + (epoch not in gone))
        touched: dict[tuple[int, ...], list[Any]] = {}
        for one in own[(own["how"] & (BARRIER | EXCHANGE)) == 0]:
            first, space = int(one["offset"]), (int(one["variable"]), int(one["array"]))
            for byte in range(first, first + int(one["bytes"])):
                touched.setdefault((*space, byte, merged[int(one["epoch"])]), []).append(one)
        if any(map(_any_conflict, touched.values())):
            return True
    return False


def _any_conflict(accesses: Sequence[Any]) -> bool:
    """Whether two accesses of one byte, of two threads and epochs, may not be exchanged."""
    writes = [one for one in accesses if one["how"] & WRITE]
    own = {(int(one["thread"]), int(one["after"])) for one in writes}
    return any(
        one["thread"] != other["thread"]
        and one["epoch"] != other["epoch"]
        and not (one["how"] & other["how"] & ATOMIC)
        and (int(other["thread"]), int(one["after"])) not in own
        for one in writes
        if one["before"] != one["after"]
        for other in accesses
    )


@dataclass(frozen=True)
class Outcome:
    """What became of a planted fault: the report, if there was one; whether values differ."""

    fault: Fault
    report: str
    differs: bool

    @property
    def lines(self) -> list[int]:
        """The lines of the text that the report names."""
        return [int(number) for number in re.findall(r"line (\d+) of the CUDA text", self.report)]


def run_planted(
    launch: Launch, source: CudaSource, fault: Fault | None, order: str, checks: str = "all"
) -> tuple[str, list[Any]]:
    """The report of a run with one fault, and the memory that it leaves."""
    arguments, memory = launch.again()
    number = 0 if fault is None else fault.number
    declared = program.variables(source)
    smaller = "" if fault is None else fault.smaller
    shrunk = tuple(replace(v, bytes=v.bytes - 16) if v.name == smaller else v for v in declared)
    with patch.object(sim, "variables", lambda source: shrunk):
        try:
            sim.run(source, launch.grid, [*arguments, number], order=order, checks=checks)
        except (KernelError, AssertionError) as error:
            return str(error), memory
    return "", memory


def outcome(launch: Launch, source: CudaSource, fault: Fault) -> Outcome:
    """Runs a kernel with one fault, in one order after the other until a report comes."""
    differs = False
    for order in ORDERS:
        report, memory = run_planted(launch, source, fault, order)
        if report:
            return Outcome(fault, report, differs)
        right = run_planted(launch, source, None, order)[1]
        differs |= any(a.tobytes() != b.tobytes() for a, b in zip(memory, right))
    return Outcome(fault, "", differs)


# -- the right line


def loops(source: CudaSource) -> list[tuple[int, int]]:
    """The first and last line of every loop of the kernel's text."""
    found, open_ = [], []
    for number, line in enumerate(source.kernel.splitlines(), 1):
        opens, closes = line.count("{"), line.count("}")
        if line.strip().startswith("}") and closes:
            start, is_loop = open_.pop()
            if is_loop:
                found.append((start, number))
            opens, closes = opens, closes - 1
        is_loop = re.match(r"\s*(for|while) \(", line) is not None
        for _ in range(opens - closes):
            open_.append((number, is_loop))
    return found


def names_the_line(source: CudaSource, outcome: Outcome) -> bool:
    """Whether the first report shows the fault's place: the line itself; for a barrier, one access
    on each side of it, or both in a loop around it; for memory, an access of the buffer."""
    fault, named = outcome.fault, outcome.lines[:2]
    if fault.kind in ("buffer", "wait"):
        text = "out of bounds" if fault.kind == "buffer" else "data race|asynchronous copy"
        return re.search(text, outcome.report) is not None and bool(named)
    if fault.kind != "barrier":
        return fault.line in named
    if len(named) < 2:
        return False
    around = [loop for loop in loops(source) if loop[0] <= fault.line <= loop[1]]
    inside = any(all(low <= line <= high for line in named) for low, high in around)
    return min(named) <= fault.line <= max(named) or inside
