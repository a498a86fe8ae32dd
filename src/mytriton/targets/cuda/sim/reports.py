"""What the checks of cudasim found, as errors that a person can read.

data race in shared memory: no barrier stands between two accesses of `scratch`, bytes 64 to 67
  reads: line 31 of the CUDA text, thread 33 (warp 1, lane 1)
    v9[r] = ((float*)scratch)[(thread ^ 32)];
    at softmax.py:14 in kernel
  writes: line 28 of the CUDA text, thread 1 (warp 0, lane 1)
    …
  in program (0, 0, 0); 63 more accesses alike
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....errors import KernelError, KernelMemoryError, KernelRaceError, Where
from ....ir.types import PointerType
from ...memory import Argument, Buffer
from ..source import CudaSource
from .program import Variable
from .structures import Report

WRITE = 2


@dataclass(frozen=True)
class Context:
    """The launch that a report is about."""

    source: CudaSource
    arguments: Sequence[Argument]
    variables: Sequence[Variable]

    def where(self, line: int) -> Where:
        """The kernel frames of a line of the CUDA text."""
        places = self.source.places
        return places[line - 1] if 0 < line <= len(places) else ()

    def memory(self, report: Report) -> str:
        """What was accessed: an array's element, or bytes of a shared variable."""
        if report.variable >= 0:
            return self.shared(report)
        if report.array < 0:
            return f"{report.width} bytes that belong to no array"
        index = [i for i, a in enumerate(self.arguments) if _is_known(a)][report.array]
        buffer = self.arguments[index]
        assert isinstance(buffer, Buffer) and isinstance(buffer.type, PointerType)
        offset = report.offset - buffer.before
        size = buffer.type.element.itemsize
        name = self.source.parameters[index].name
        elements = f"element {offset // size}"
        if report.width > size:
            elements = f"elements {offset // size} to {(offset + report.width - 1) // size}"
        count = (buffer.nbytes or 0) // size
        return f"{elements} of `{name}`, which has {count} of {buffer.type.element}"

    def shared(self, report: Report) -> str:
        variable = self.variables[report.variable]
        start = report.offset
        place = f"bytes {start} to {start + report.width - 1}"
        return f"{place} of the shared memory `{variable.name}`, which has {variable.bytes} bytes"

    def at(self, line: int, thread: int) -> list[str]:
        """Lines that show an access: the CUDA text, the thread, the kernel's own line."""
        text = self.source.kernel.splitlines()
        shown = text[line - 1].strip() if 0 < line <= len(text) else "?"
        who = f"thread {thread} (warp {thread // 32}, lane {thread % 32})"
        lines = [f"line {line} of the CUDA text, {who}", f"    {shown}"]
        if where := self.where(line):
            lines.append(f"    at {where[0]}" + (f": {where[0].text}" if where[0].text else ""))
        return lines


def _is_known(argument: Argument) -> bool:
    return isinstance(argument, Buffer) and argument.nbytes is not None


def error(
    source: CudaSource,
    arguments: Sequence[Argument],
    variables: Sequence[Variable],
    found: Sequence[Report],
) -> KernelError:
    """The error for a launch's reports: the first one's kind, and all of their texts, causes before
    what may follow from them: wrong exchanges and races make values wrong, and so addresses."""
    context = Context(source, arguments, variables)
    ordered = sorted(found, key=lambda one: (KINDS[one.kind].rank, one.array >= 0))
    texts = ["\n".join(_lines(context, report)) for report in ordered]
    first = ordered[0]
    return KINDS[first.kind].error("\n\n".join(texts), context.where(first.line))


def _lines(context: Context, report: Report) -> list[str]:
    kind = KINDS[report.kind]
    program = f"in program {tuple(report.block)}"
    more = f"; {report.count - 1} more alike" if report.count > 1 else ""
    return [*kind.lines(context, report), f"  {program}{more}"]


def _verb(how: int) -> str:
    return "writes" if how & WRITE else "reads"


def _one(context: Context, report: Report, head: str) -> list[str]:
    """A head, and the place of the one access."""
    return [head, *(f"  {line}" for line in context.at(report.line, report.thread))]


def _race(context: Context, report: Report) -> list[str]:
    lines = [f"data race: no barrier between two accesses of {context.memory(report)}"]
    first = context.at(report.other_line, report.other_thread)
    second = context.at(report.line, report.thread)
    lines += [f"  {_verb(report.other_how)}: {first[0]}", *(f"  {line}" for line in first[1:])]
    lines += [f"  {_verb(report.how)}: {second[0]}", *(f"  {line}" for line in second[1:])]
    return lines


def _not_written(context: Context, report: Report) -> list[str]:
    head = f"a thread reads what nobody wrote: {context.memory(report)}"
    return _one(context, report, head)


def _out_of_bounds(context: Context, report: Report) -> list[str]:
    head = f"out of bounds: a thread {_verb(report.how)} {context.memory(report)}"
    return _one(context, report, head)


def _read_only(context: Context, report: Report) -> list[str]:
    return _one(context, report, f"a thread writes a read-only array: {context.memory(report)}")


def _misaligned(context: Context, report: Report) -> list[str]:
    what = f"a thread {_verb(report.how)} {report.width} bytes at once"
    head = f"misaligned: {what}, from an address that is no multiple of that: "
    return _one(context, report, head + context.memory(report))


def _before_wait(context: Context, report: Report) -> list[str]:
    what = f"a thread {_verb(report.how)} what an asynchronous copy may still be writing"
    return _one(context, report, f"{what}: {context.memory(report)}")


def _stuck(context: Context, report: Report) -> list[str]:
    what = report.what.decode()
    who = "lanes of the warp" if what != "barrier" else "threads"
    head = f"{report.waiting} of {report.lanes} {who} wait at the {what} of line {report.line}"
    lines = _one(context, report, f"{head}, which the others do not reach")
    if report.other_line == 0:
        return [*lines, f"  thread {report.other_thread} has ended"]
    lines.append("  another one is at")
    return lines + [f"  {line}" for line in context.at(report.other_line, report.other_thread)]


def _two_lines(context: Context, report: Report) -> list[str]:
    head = f"threads meet in the {report.what.decode()} of different lines"
    lines = [f"  {line}" for line in context.at(report.other_line, report.other_thread)]
    return [*_one(context, report, head), *lines]


def _no_member(context: Context, report: Report) -> list[str]:
    mask = f"mask {report.lanes:#010x}"
    head = f"a lane takes part in a {report.what.decode()} whose {mask} does not name it"
    return _one(context, report, head)


def _absent_lane(context: Context, report: Report) -> list[str]:
    mask = f"mask {report.lanes:#010x}"
    head = f"a {report.what.decode()} reads lane {report.other_thread}, which its {mask} leaves out"
    return _one(context, report, head)


@dataclass(frozen=True)
class Kind:
    """A kind of report: how it reads, which error it is, and which comes first."""

    lines: Callable[[Context, Report], list[str]]
    error: type[KernelError]
    rank: int


KINDS = (
    Kind(_race, KernelRaceError, 1),
    Kind(_not_written, KernelMemoryError, 2),
    Kind(_out_of_bounds, KernelMemoryError, 2),
    Kind(_read_only, KernelMemoryError, 2),
    Kind(_misaligned, KernelMemoryError, 2),
    Kind(_before_wait, KernelRaceError, 1),
    Kind(_stuck, KernelError, 3),
    Kind(_two_lines, KernelError, 0),
    Kind(_no_member, KernelError, 0),
    Kind(_absent_lane, KernelError, 0),
)
"""In the order of `enum kind` in runtime/reports.h."""
