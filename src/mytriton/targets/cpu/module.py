"""A kernel's LLVM module: one function that is a program, one that runs programs until none is
left.

Every argument of a launch lies in one block of memory, the launch record (`launch/record.py`), from
which any number of threads take chunks of programs by an atomic counter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import Where
from ...ir.nodes import Const, Function, Op, number, walk
from ...ir.text import SSAPrinter
from .atomic_sums import clear_table, summed_atomics, unread_atomics
from .code import Code, Module, Names
from .host import Host
from .launch.cooperative_launch import waits
from .launch.record import ARGUMENTS, offset
from .lowering import CALLBACKS
from .nest import Writer
from .region import FunctionEmitter, bind_params
from .schedule.planner import plan_of
from .segments import loops_text
from .table import LOWERINGS

INDICES = [f"i32 %{name}.{axis}" for name in ("program_id", "num_programs") for axis in (0, 1, 2)]
TAKEN = ("arena", "record", *(text.removeprefix("i32 %") for text in INDICES))


@dataclass(frozen=True)
class KernelText:
    """What a kernel is as text, and what its launch must know."""

    text: str
    places: tuple[Where, ...]
    """For each line of the text the kernel lines that it came from."""
    arena_bytes: int
    in_order: bool
    """The programs run one after the other, so that what they print, or tell of one another, is in
    order."""
    waits: bool
    """Programs may wait for each other."""
    reports: bool
    """It has asserts, or calls back into Python."""
    calls_back: bool
    """It has prints or checks."""
    loops: bool
    """How long a program takes depends on what it is given."""

    def header(self) -> dict[str, Any]:
        """All but the text and where it is from, as JSON."""
        held = dict(vars(self))
        del held["text"], held["places"]
        return held


def looks_for_races(op: Op) -> bool:
    """Whether the op is a report whose words programs must not write at the same time."""
    return op.name == "report" and op.attrs["kind"] == "races"


REPORTING = CALLBACKS | {"assert"}


def messages(function: Function) -> tuple[Op, ...]:
    """What a program may report: the asserts, prints, checks, and loops whose step may be 0. Each
    reports its place in this list, from 1.
    """
    return tuple(op for op in walk(function.body) if op.name in REPORTING or _steps(op))


def _steps(op: Op) -> bool:
    return op.name == "for" and not isinstance(op.operands[2], Const)


def kernel_text(function: Function, overlap: bool, host: Host) -> KernelText:
    """The LLVM module of a function whose rows all have instructions (`expand`)."""
    emitter, params = emitted(function, overlap, host)
    module, entry = emitter.writer.module, emitter.writer.entry
    signature = ", ".join(["ptr noalias %arena", "ptr %record", *INDICES, *params])
    program = [f"define internal void @program({signature}) {{", "entry:", *entry.lines, "}"]
    tiles = "llvm.x86.tilerelease" in module.declarations
    if emitter.cleared:
        module.intrinsic("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"])
    parts = [
        "\n".join(module.declarations.values()),
        "\n".join(module.globals.values()),
        "\n\n".join(module.helpers.values()),
        "\n".join(program),
        run_text(params, waits(function), tiles, emitter.table, emitter.cleared),
    ]
    text = "\n\n".join(part for part in parts if part) + "\n"
    before = text[: text.index(program[0])].count("\n") + 2
    after = text.count("\n") - before - len(entry.lines)
    places = [() if op is None else op.where for op in entry.ops]
    return described(function, emitter, text, (*((),) * before, *places, *((),) * after))


def nests_text(function: Function, overlap: bool, host: Host) -> str:
    """The loops of every nest of such a function, in the order of emission."""
    emitter, _ = emitted(function, overlap, host)
    operand = SSAPrinter(emitter.writer.numbers).operand
    lines = [line for loops in emitter.writer.loops for line in loops_text(loops, operand)]
    return "\n".join(lines) + "\n"


def emitted(function: Function, overlap: bool, host: Host) -> tuple[FunctionEmitter, list[str]]:
    """The emitter of a function whose program has been emitted into its entry block, and the
    declarations of its params.
    """
    names = Names()
    for name in TAKEN:
        names.fresh(name)
    module, entry = Module(), Code(names.fresh("entry"))
    writer = Writer(module, names, entry, host, number(function), LOWERINGS)
    meets = waits(function)
    plans = plan_of(function, overlap, LOWERINGS).inner()
    emitter = FunctionEmitter(function, writer, plans)
    params = bind_params(emitter, overlap or meets)
    emitter.messages += messages(function)
    writer.unread, writer.summed = unread_atomics(function), summed_atomics(function, overlap)
    if writer.summed:
        emitter.add_table()
    module.overloaded("llvm.umax", "i64", 0, 2)
    start = names.fresh("start")
    code = Code(start)
    emitter.emit(code, function.body, emitter.plan(function.body))
    entry.branch(start)
    entry.append(code)
    entry.add("ret void")
    return emitter, params


def described(
    function: Function, emitter: FunctionEmitter, text: str, places: tuple[Where, ...]
) -> KernelText:
    """The text with what a launch must know of the function."""
    names = {op.name for op in walk(function.body)}
    return KernelText(
        text,
        places,
        emitter.arena.size,
        in_order="print" in names or any(map(looks_for_races, walk(function.body))),
        waits=waits(function),
        reports=bool(emitter.messages),
        calls_back=not names.isdisjoint(CALLBACKS),
        loops=not names.isdisjoint(("for", "while")),
    )


def _field(name: str, type_: str) -> list[str]:
    return [
        f"  %{name}.at = getelementptr i8, ptr %record, i64 {offset(name)}",
        f"  %{name} = load {type_}, ptr %{name}.at, align 4",
    ]


def _arguments(params: list[str]) -> tuple[list[str], list[str]]:
    """Lines that load the arguments from the job, and the operands to pass."""
    lines, operands = [], []
    for position, declared in enumerate(params):
        type_ = declared.split()[0]
        held = "i8" if type_ == "i1" else type_
        lines += [
            f"  %a{position}.at = getelementptr i8, ptr %record, i64 {ARGUMENTS + 8 * position}",
            f"  %a{position} = load {held}, ptr %a{position}.at, align 8",
        ]
        if type_ == "i1":
            lines.append(f"  %a{position}.bit = trunc i8 %a{position} to i1")
        operands.append(f"{type_} %a{position}{'.bit' if type_ == 'i1' else ''}")
    return lines, operands


TAKE = (
    "take:",
    f"  %next.at = getelementptr i8, ptr %record, i64 {offset('next')}",
    "  %seen = load atomic i64, ptr %next.at monotonic, align 8",
    "  br label %try",
    "try:",
    "  %first = phi i64 [ %seen, %take ], [ %found, %claim ]",
    "  %some = icmp ult i64 %first, %total",
    "  br i1 %some, label %claim, label %done",
    "claim:",
    "  %left = sub i64 %total, %first",
    "  %part = udiv i64 %left, %chunk_divisor",
    "  %size = call i64 @llvm.umax.i64(i64 %part, i64 1)",
    "  %last = add i64 %first, %size",
    "  %swap = cmpxchg weak ptr %next.at, i64 %first, i64 %last monotonic monotonic",
    "  %found = extractvalue { i64, i1 } %swap, 0",
    "  %won = extractvalue { i64, i1 } %swap, 1",
    "  br i1 %won, label %each, label %try",
)
"""Takes programs `%first` … `%last`: one part in `chunk_divisor` of those left, at least one."""


COUNT_FINISHED = (
    f"  %finished = getelementptr i8, ptr %record, i64 {offset('finished')}",
    "  %others = atomicrmw add ptr %finished, i64 1 acq_rel",
)
GRID_SIZES = ("  %x.size = zext i32 %nx to i64", "  %y.size = zext i32 %ny to i64")


def _clear(cleared: list[tuple[int, int]]) -> list[str]:
    """Lines that set parts of the arena (offset, bytes) to zero."""
    lines = []
    for place, (start, size) in enumerate(cleared):
        at = f"%cleared{place}"
        lines.append(f"  {at} = getelementptr i8, ptr %arena, i64 {start}")
        lines.append(f"  call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {size}, i1 false)")
    return lines


def run_text(
    params: list[str],
    counts: bool,
    tiles: bool,
    table: int | None,
    cleared: list[tuple[int, int]],
) -> str:
    """`run(record, arena)`: takes chunks of programs until none is left, or the launch is stopped.

    Chunks are large at first, which memory likes, and small at last, so that threads end together.
    `counts`: it notes each program that is finished. `tiles`: it has used the matrix unit, which
    it gives back. `table`: where in the arena it sums up atomic additions. `cleared`: what it sets
    to zero in the arena (offset, bytes).
    """
    loads, operands = _arguments(params)
    fields = [line for name in ("total", "chunk_divisor") for line in _field(name, "i64")]
    extents = [line for name in ("nx", "ny", "nz") for line in _field(name, "i32")]
    ids = ["i32 %x", "i32 %y", "i32 %z", "i32 %nx", "i32 %ny", "i32 %nz"]
    call = ", ".join(["ptr noalias %arena", "ptr %record", *ids, *operands])
    lines = [
        "define void @run(ptr %record, ptr %arena) {",
        f"  %error.at = getelementptr i8, ptr %record, i64 {offset('error')}",
        *fields,
        *extents,
        *GRID_SIZES,
        *loads,
        *([] if table is None else clear_table(table)),
        *_clear(cleared),
        "  br label %take",
        *TAKE,
        "each:",
        "  %p = phi i64 [ %first, %claim ], [ %p.next, %each ]",
        "  %x.wide = urem i64 %p, %x.size",
        "  %rest = udiv i64 %p, %x.size",
        "  %y.wide = urem i64 %rest, %y.size",
        "  %z.wide = udiv i64 %rest, %y.size",
        "  %x = trunc i64 %x.wide to i32",
        "  %y = trunc i64 %y.wide to i32",
        "  %z = trunc i64 %z.wide to i32",
        f"  call void @program({call})",
        *(COUNT_FINISHED if counts else []),
        "  %p.next = add i64 %p, 1",
        "  %error = load atomic i64, ptr %error.at monotonic, align 8",
        "  %fine = icmp eq i64 %error, 0",
        "  %in.chunk = icmp ult i64 %p.next, %last",
        "  %more = and i1 %fine, %in.chunk",
        "  br i1 %more, label %each, label %rest.of.launch",
        "rest.of.launch:",
        "  br i1 %fine, label %take, label %done",
        "done:",
        *([] if table is None else ["  call void @add_table(ptr %table)"]),
        *(["  call void @llvm.x86.tilerelease()"] if tiles else []),
        "  ret void",
        "}",
        "",
    ]
    return "\n".join(lines)
