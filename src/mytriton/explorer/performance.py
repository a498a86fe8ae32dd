"""What a kernel costs, and why: a row for each access to memory, and what its machine code takes.

Three sources, never mixed: what the compiler knows (address steps, vectors), what a recorded launch
did (bytes, operations, sectors), and what the machine code says (registers, spills).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ..errors import CompileError
from ..ir.effects import accesses_memory
from ..ir.nodes import Function, Op, Operand, Value, number, walk
from ..ir.structural import pointee
from ..ir.text import SSAPrinter
from ..ir.types import shape_of
from ..passes.axis_info import AxisInfo, axis_info
from ..passes.provenance import provenance
from ..targets.cpu.host import host
from ..targets.cuda.generate import known
from ..targets.cuda.launch.machine_code import resources
from .addresses import Forms, NoSteps
from .classes import class_of, distinct_bytes, measured, narrowness, reasons, steps_text
from .columns import Maker
from .document import AccessView, Code, Column, Machine, Measured, Performance, Roof, Totals
from .gpus import Gpu, occupancy
from .recording import Held, Recorded
from .roof import measured_roof


@dataclass
class Costs:
    """Makes the view of what a kernel costs; `columns` are those of the document."""

    maker: Maker
    gpu: Gpu
    columns: Sequence[Column]
    recorded: Recorded | None = None

    @cached_property
    def function(self) -> Function:
        return self.maker.compilation.function

    @cached_property
    def forms(self) -> Forms:
        return Forms(self.function)

    @cached_property
    def held(self) -> dict[Op, Held]:
        """How a GPU makes each access; empty where there is no CUDA text."""
        return held_by(self.maker)

    def view(self) -> Performance:
        """The whole."""
        return Performance(
            tuple(self.accesses()),
            tuple(code for code in (self.gpu_code(), self.cpu_code()) if code is not None),
            self.totals(),
            self.roofs(),
        )

    # -- accesses

    def accesses(self) -> Iterator[AccessView]:
        """A row for each access, in the order of the SSA text."""
        printer, derived = SSAPrinter(number(self.function)), provenance(self.function)
        facts = self.facts()
        for op in accesses_of(self.function):
            pointer = op.operands[0]
            assert pointer is not None
            form, shape, element = self.forms.of(pointer), shape_of(pointer.ty), pointee(pointer.ty)
            vector = self.held[op][1] if op in self.held else 0
            why = list(reasons(op, form))
            if vector and op.name in ("load", "store") and not isinstance(form, NoSteps):
                why.append(narrowness(op, form, vector, facts))
            yield AccessView(
                printer.head(op),
                self.maker.places.of(op.where),
                op.name,
                tuple(sorted(param.name for param in derived.of(pointer).params)),
                str(element),
                shape,
                steps_text(form),
                class_of(form, shape),
                self.cpu_classes(op),
                vector * element.itemsize,
                tuple(filter(None, why)),
                tuple(self.measured(op)),
            )

    def facts(self) -> dict[Operand, AxisInfo]:
        """The axis information of each pointer and mask, with what the CUDA text relies on."""
        if not self.held:
            return {}
        analysis = axis_info(self.function, known(self.function, self.maker.cuda.options))
        operands = {v for op in accesses_of(self.function) for v in op.operands if v is not None}
        return {operand: analysis.of(operand) for operand in operands}

    def cpu_classes(self, op: Op) -> tuple[str, ...]:
        """The classes that the CPU target's loops say of an access, each once."""
        pointer = op.operands[0]
        place = self.maker.places.of(pointer.op.where) if isinstance(pointer, Value) else -1
        found: dict[str, None] = {}
        column = next(column for column in self.columns if column.name == "loops")
        for line, at in zip(column.lines, column.places):
            words = LOOP_ACCESS.match(line)
            if words and words[1] == op.name and at == place:
                found[words[2]] = None
        return tuple(found)

    def measured(self, op: Op) -> Iterator[Measured]:
        """What a recorded launch did: reads, then writes."""
        if self.recorded is None:
            return
        for write in (False, True):
            access = self.recorded.accesses.get((op, write))
            if access is not None:
                yield measured(access)

    # -- machine code

    def gpu_code(self) -> Code | None:
        """What the GPU's code takes; None where there is none."""
        column = next(column for column in self.columns if column.name == "sass")
        if column.error is not None:
            return None
        source, taken = self.maker.cuda, resources(self.maker.compiled.cubin)
        spills = _lines(column, SPILL_SASS)
        shared = taken.shared + source.shared_bytes
        room = occupancy(self.gpu.holds, source.threads_per_block, taken.registers, shared)
        return Code(
            f"{self.gpu.name} ({self.gpu.arch})",
            "sass",
            len(_lines(column, SASS)),
            taken.registers,
            tuple(spills),
            source.threads_per_block,
            shared,
            Machine(room.blocks, room.warps, room.most_warps, room.limits, room.limited_by),
        )

    def cpu_code(self) -> Code | None:
        """What this machine's code takes."""
        column = next(column for column in self.columns if column.name == "asm")
        if column.error is not None:
            return None
        spills = _lines(column, SPILL_ASM)
        return Code(host().cpu, "asm", len(_lines(column, ASM)), 0, tuple(spills), 1, 0, None)

    # -- the roof

    def totals(self) -> Totals | None:
        """What the recorded programs did together."""
        if self.recorded is None:
            return None
        accesses = self.recorded.accesses.values()
        return Totals(
            len(self.recorded.programs),
            prod(self.recorded.grid),
            sum(access.bytes for access in accesses),
            distinct_bytes(self.recorded),
            self.recorded.operations,
            self.recorded.products,
        )

    def roofs(self) -> tuple[Roof, ...]:
        """This machine's, measured, and the GPU's, published; without a launch there is nothing to
        put under them."""
        if self.recorded is None:
            return ()
        tensor = bool(self.held) and self._tensor_cores()
        peak = self.gpu.tensor_flops if tensor else self.gpu.flops
        words = "published, tensor cores" if tensor else "published"
        return (measured_roof(host().cpu), Roof(self.gpu.name, words, self.gpu.bandwidth, peak))

    def _tensor_cores(self) -> bool:
        record = self.maker.cuda.record
        return record is not None and bool(record.distribution.dots)


def accesses_of(function: Function) -> Iterator[Op]:
    """The ops that access memory, in the order of the text."""
    return (op for op in walk(function.body) if accesses_memory(op) and op.operands)


def held_by(maker: Maker) -> dict[Op, Held]:
    """How a GPU makes each access of the function: its layout, and elements a thread at once."""
    try:
        record = maker.cuda.record
    except CompileError:
        return {}
    function = maker.compilation.function
    return {} if record is None else {op: record.access(op) for op in accesses_of(function)}


LOOP_ACCESS = re.compile(r"\s+(load|store) [^:]+: ([^,]+)")
SASS = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s")
SPILL_SASS = re.compile(r"\s*/\*[0-9a-f]{4,}\*/.*\b(STL|LDL)\b")
"""Stores to and loads from a thread's local memory (CUDA Binary Utilities, "Instruction Set
Reference")."""
ASM = re.compile(r"\t[a-z]")
SPILL_ASM = re.compile(r"\t(?!push|pop|call|lea|sub|add|and)\w+\t.*\d*\(%[re][sb]p[,)]")
"""Instructions that touch the stack frame."""


def _lines(column: Column, pattern: re.Pattern[str]) -> list[int]:
    """The lines of a column, from 1, that match."""
    return [at for at, line in enumerate(column.lines, 1) if pattern.match(line)]
