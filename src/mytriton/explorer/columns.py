"""The columns of the document: one row each, from a compilation to lines with their places.

A maker reads the stages that the compilation has; what it raises becomes the column's `error`, as
where there is no NVRTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import Where
from ..ir.nodes import Function, Op, number, walk
from ..ir.text import OpLine, SSAPrinter, function_lines
from ..ir.tree import tree_lines
from ..passes import pipeline
from ..passes.algebra import RULES
from ..runtime.compile import Compilation
from ..targets.cpu import CpuKernel, expand
from ..targets.cuda import Compiled, CudaSource, compile_nvrtc
from ..targets.cuda.specialise import Variants
from .changes import changes
from .document import Column, Note
from .gpu_text import Located, ptx_lines, sass_lines
from .invariants import moved_out
from .places import Places

if TYPE_CHECKING:
    from .launch import Launch


@dataclass
class Maker:
    """A compilation, and what several columns are made of."""

    compilation: Compilation
    launch: Launch | None = None
    places: Places = field(default_factory=Places)

    @cached_property
    def steps(self) -> tuple[pipeline.Step, ...]:
        """What each pass does."""
        return tuple(pipeline.explain(self.compilation["checked"]))

    @cached_property
    def cuda(self) -> CudaSource:
        """The CUDA text; where the arguments are known, that of a launch with them."""
        source: CudaSource = self.compilation["cuda"]
        if self.launch is None:
            return source
        variants = Variants(source, False, self.compilation.options.fixed)
        return variants.of(self.launch.grid or (1, 1, 1), self.launch.arguments)

    @cached_property
    def cuda_places(self) -> tuple[Where, ...]:
        """The kernel lines of each line of the whole CUDA text, the prelude included."""
        before = len(self.cuda.text.split("\n")) - len(self.cuda.places)
        return (*((),) * before, *self.cuda.places)

    def in_kernel(self, line: int) -> bool:
        """Whether a line of the CUDA text, from 1, is in the kernel."""
        return line > len(self.cuda_places) - len(self.cuda.places)

    @cached_property
    def compiled(self) -> Compiled:
        """What NVRTC makes of the CUDA text, with line information."""
        arch, flags = self.compilation.options.arch, self.cuda.flags
        return compile_nvrtc(self.cuda.text, arch, lineinfo=True, flags=flags)

    @cached_property
    def native(self) -> CpuKernel:
        """The CPU target's kernel."""
        kernel = self.compilation.executable("cpu")
        assert isinstance(kernel, CpuKernel)
        return kernel

    # -- columns

    def make(self, row: Row) -> Column:
        """The column of a row; with an error where it cannot be made."""
        empty = Column(row.name, row.title, row.about, row.language)
        try:
            return row.make(self, empty)
        except Exception as error:  # NVRTC and nvdisasm raise their own kinds
            return replace(empty, error=str(error).strip() or type(error).__name__)

    def ops(self, column: Column, lines: Iterable[OpLine]) -> Column:
        """The column of lines with their ops."""
        pairs = list(lines)
        places = self.places.each(() if op is None else op.where for _, op in pairs)
        return replace(column, lines=tuple(line for line, _ in pairs), places=places)

    def located(self, column: Column, made_from: str, rows: Located, of: Sequence[Where]) -> Column:
        """The column of lines with those of another text, whose places are `of`."""
        wheres = (of[line - 1] if line else () for _, line in rows)
        return replace(
            column,
            lines=tuple(text for text, _ in rows),
            places=self.places.each(wheres),
            made_from=made_from,
            origins=tuple(line for _, line in rows),
        )


@dataclass(frozen=True)
class Row:
    """One column: see `Column`. make: fills in the empty one."""

    name: str
    title: str
    about: str
    language: str
    make: Callable[[Maker, Column], Column]


def _tree(maker: Maker, column: Column) -> Column:
    rows = tree_lines(maker.compilation["tree"])
    return maker.ops(column, ((line, op if isinstance(op, Op) else None) for line, op in rows))


def _traced(maker: Maker, column: Column) -> Column:
    function = maker.compilation["traced"]
    lines = function_lines(function)
    made, moved = maker.ops(column, lines), moved_out(function)
    if not moved:
        return made
    marks = tuple("moved" if op in moved else "" for _, op in lines)
    wheres = (op.where for _, op in lines if op is not None and op in moved)
    places = tuple(dict.fromkeys(map(maker.places.of, wheres)))
    note = Note("loop-invariant", "leaves its loop while it is traced", places, len(moved))
    return replace(made, marks=marks, notes=(note,))


def _pass(at: int) -> Callable[[Maker, Column], Column]:
    def make(maker: Maker, column: Column) -> Column:
        step = maker.steps[at]
        before = maker.steps[at - 1].function if at else maker.compilation["checked"]
        old, new = function_lines(before), function_lines(step.function)
        found = changes(before, step.function, old, new)
        made = maker.ops(column, ((change.line, change.op) for change in found))
        notes = tuple(_rules(maker.places, step))
        return replace(made, marks=tuple(change.mark for change in found), notes=notes)

    return make


def _rules(places: Places, step: pipeline.Step) -> Iterator[Note]:
    """Each rule that a pass applied, where, and how often."""
    wheres: dict[str, list[Where]] = {}
    for applied in step.applied:
        wheres.setdefault(applied.rule, []).append(applied.where)
    for rule, of in wheres.items():
        at = tuple(dict.fromkeys(places.of(where) for where in of if where))
        yield Note(rule, LAWS.get(rule, ""), at, len(of))


LAWS = {rule.name: rule.law for rule in RULES}


def _named(maker: Maker, column: Column, text: str, function: Function) -> Column:
    """The column of a text about a function's values: a line is placed at the op whose line it
    shows, else at the one whose result it names first."""
    numbers = number(function)
    printer = SSAPrinter(numbers)
    heads = {printer.head(op): op for op in walk(function.body)}
    made = {numbers[value]: op for op in walk(function.body) for value in op.results}

    def op_of(line: str) -> Op | None:
        named = VALUE.search(line)
        return heads.get(line.strip()) or (made.get(int(named[1])) if named else None)

    return maker.ops(column, ((line, op_of(line)) for line in text.splitlines()))


VALUE = re.compile(r"%(\d+)\b")


def _plan(maker: Maker, column: Column) -> Column:
    return _named(maker, column, maker.compilation["plan"], expand(maker.compilation["ssa"]))


def _loops(maker: Maker, column: Column) -> Column:
    return _named(maker, column, maker.compilation["loops"], expand(maker.compilation["ssa"]))


def _cuda(maker: Maker, column: Column) -> Column:
    return replace(
        column,
        lines=tuple(maker.cuda.text.split("\n")),
        places=maker.places.each(maker.cuda_places),
    )


def _ptx(maker: Maker, column: Column) -> Column:
    rows = ptx_lines(maker.compiled.ptx, maker.in_kernel)
    return maker.located(column, "cuda", rows, maker.cuda_places)


def _sass(maker: Maker, column: Column) -> Column:
    from ..targets.cuda.launch.machine_code import sass

    rows = sass_lines(sass(maker.compiled.cubin, lines=True), maker.in_kernel)
    return maker.located(column, "cuda", rows, maker.cuda_places)


def _llvm(maker: Maker, column: Column) -> Column:
    source = maker.native.source
    lines = source.text.removesuffix("\n").split("\n")
    places = maker.places.each(source.places[: len(lines)])
    return replace(column, lines=tuple(lines), places=places)


def _asm(maker: Maker, column: Column) -> Column:
    kernel = maker.native
    return maker.located(column, "llvm", kernel.located_asm, kernel.source.places)


def _passes() -> Iterator[Row]:
    for at, step in enumerate(pipeline.PASSES):
        name = step.__name__
        about = (step.__doc__ or "").strip().split("\n")[0]
        yield Row(name, f"SSA after {name}", about, "ssa", _pass(at))


ROWS: tuple[Row, ...] = (
    Row("tree", "Expression tree", "each effect as the tree of its operands", "tree", _tree),
    Row("traced", "SSA as traced", "before any pass", "ssa", _traced),
    *_passes(),
    Row("plan", "CPU plan", "loop nests, and what lies in buffers", "plan", _plan),
    Row("loops", "CPU loops", "loops over lanes, and how they access memory", "plan", _loops),
    Row("cuda", "CUDA C++", "what NVRTC compiles", "cuda", _cuda),
    Row("ptx", "PTX", "NVIDIA's virtual instructions, by NVRTC", "ptx", _ptx),
    Row("sass", "SASS", "the GPU's machine code, by nvdisasm", "sass", _sass),
    Row("llvm", "LLVM IR", "of the CPU target, before LLVM's passes", "llvm", _llvm),
    Row("asm", "Assembly", "this machine's, by LLVM", "asm", _asm),
)
"""Every column but Python, which is the document's sources."""
