"""The second driver: the kernel's own Python runs, program by program, on real blocks.

An `EagerBuilder` is a builder whose ops are performed as they are emitted, by the very
meanings that `run` uses, and whose values carry their arrays. So `print(x)`, `breakpoint()` and
every Python tool work inside a kernel, and its loops and branches are Python's. Only the body of a
region (a combine function) is first traced as usual.

    run_eager(add, {"x": RunTime(ptr, buffer), "n": RunTime(I32, 5), "BLOCK": 16}, (1, 1, 1))
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...frontend.inline import is_debugger_quit, run
from ...frontend.signature import Constexpr
from ...ir.build import Builder, using
from ...ir.effects import is_sync_point
from ...ir.nodes import Op, Operand, Param, Region, Value
from ...ir.numeric import Array
from ...ir.ops import Row
from ...ir.structural import HINT
from ...ir.types import Type, shape_of
from ...language.tensor import tensor
from ...passes.provenance import makes_unknown_address, makes_unknown_addresses
from .. import CompileOptions, Grid, PythonKernel
from ..memory import Argument, Buffer
from ..show import show, show_typed
from . import every, hold
from .memory import Index, Memory
from .program import Launch, Program
from .turns import Turns

PATIENCE = 20_000
"""How many times round without a change of memory make a deadlock, where a program's own state is
not seen."""


@dataclass(frozen=True)
class RunTime:
    """A run-time argument and the type that the kernel sees it in; all other arguments are
    constexpr."""

    type: Type
    value: Argument


@dataclass(frozen=True, eq=False)
class EagerValue(Value):
    """A value that carries its array."""

    array: Array


@dataclass(frozen=True, eq=False)
class Performed(Op):
    """An op that has run: its results carry arrays. It keeps no operands, so blocks out of use are
    freed."""

    arrays: tuple[Array, ...] = ()

    def __post_init__(self) -> None:
        pairs = enumerate(zip(self.types, self.arrays, strict=True))
        values = tuple(EagerValue(self, index, ty, array) for index, (ty, array) in pairs)
        object.__setattr__(self, "results", values)


class EagerProgram(Program):
    """A program whose operands carry their arrays, but for those of a region."""

    def value(self, operand: Operand) -> Any:
        return operand.array if isinstance(operand, EagerValue) else super().value(operand)


class EagerBuilder(Builder):
    """Performs each op of one program as it is emitted; inside a region it only records, as its
    base does."""

    def __init__(self, launch: Launch, index: Index) -> None:
        super().__init__()
        self.program = EagerProgram(launch, index, {})
        self.program_id = index
        self.met: Any = None

    @property
    def recording(self) -> bool:
        return self.level > 0

    @property
    def eager(self) -> bool:  # type: ignore[override]
        return not self.recording

    def _place(
        self,
        row: Row,
        operands: tuple[Operand, ...],
        types: tuple[Type, ...],
        attrs: Mapping[str, Any],
        regions: tuple[Region, ...],
    ) -> Op:
        if self.recording:
            return super()._place(row, operands, types, attrs, regions)
        op = Op(row, operands, types, attrs, regions, self.source())
        memory = self.program.launch.memory
        memory.anywhere |= makes_unknown_address(op)
        memory.anywhere |= any(map(makes_unknown_addresses, regions))
        arrays = tuple(self.program.perform(op))
        self._meet(op, arrays)
        return Performed(row, (), types, attrs, (), op.where, arrays)

    def check_effect_allowed(self, row: Row) -> None:
        """A print may look on while elements are combined."""
        if row.name != "print":
            super().check_effect_allowed(row)

    def _hoist_level(self, operands: tuple[Operand, ...]) -> int:
        """Nothing moves out of a region: outside, ops are performed at once."""
        return max(1, super()._hoist_level(operands))

    def _meet(self, op: Op, arrays: tuple[Array, ...]) -> None:
        """Lets other programs run if this one finds the same thing again where it may be waiting
        for them."""
        if is_sync_point(op):
            met = op.where, [array.tobytes() for array in arrays]
            if met == self.met:
                self.program.pause(op.where, same=True)
            self.met = met

    def known(self, operand: Operand) -> bool | int | float | None:
        """The number a scalar holds; None of a block, and inside a combine function."""
        if isinstance(operand, EagerValue) and not shape_of(operand.ty):
            number: bool | int | float = operand.array.item()
            return number
        return super().known(operand)

    def value_text(self, operand: Operand, hexadecimal: bool = False) -> str:
        """The numbers of a value: `[0 1 2 3]`."""
        assert operand is not None
        if isinstance(operand, (Value, Param)) and not isinstance(operand, EagerValue):
            return str(operand.ty)
        return show(operand.ty, self.program.value(operand), hexadecimal)

    def show(self, operand: Operand) -> str:
        """The type and the numbers of a value: `vector<4 x i32> [0 1 2 3]`."""
        assert operand is not None
        if isinstance(operand, (Value, Param)) and not isinstance(operand, EagerValue):
            return str(operand.ty)
        return show_typed(operand.ty, self.program.value(operand))


@dataclass(frozen=True)
class EagerKernel:
    """A kernel that runs as Python."""

    kernel: PythonKernel

    def launch(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        values = iter(arguments)

        def bound(argument: Any) -> Any:
            if isinstance(argument, tuple):
                return getattr(type(argument), "_make", tuple)(map(bound, argument))
            known = isinstance(argument, Constexpr)
            return argument if known else RunTime(argument, next(values))

        named = {name: bound(argument) for name, argument in self.kernel.arguments.items()}
        try:
            run_eager(self.kernel.fn, named, grid)
        except Exception as error:
            if not is_debugger_quit(error) or hasattr(sys, "ps1"):
                raise
            raise SystemExit(1) from None  # `quit` in a debugger ends the program, not one kernel


def compile(kernel: PythonKernel, options: CompileOptions) -> EagerKernel:
    """The executable of a kernel; nothing is compiled."""
    return EagerKernel(kernel)


def run_eager(
    function: Callable[..., object], arguments: Mapping[str, Any], grid: tuple[int, int, int]
) -> None:
    """Calls the kernel's Python for every program of the grid; the buffers are written.

    function: the kernel's Python function. arguments: by name, run-time ones as `RunTime` (or
    tuples of them), the others as the kernel is to see them. Raises what `run` and tracing raise.
    """
    given = [pair for name, argument in arguments.items() for pair in _runtime(name, argument)]
    buffers = [(name, a.value) for name, a in given if isinstance(a.value, Buffer)]
    memory = Memory(buffers, watch=True)
    launch = Launch(grid, memory)

    def body(index: Index) -> None:
        with using(EagerBuilder(launch, index)):
            run(function, {name: _seen(name, a) for name, a in arguments.items()})

    launch.turns = Turns(every(grid), body, memory.count, PATIENCE)
    launch.turns.run()


def _runtime(name: str, argument: Any) -> Iterator[tuple[str, RunTime]]:
    """The run-time parts of an argument, which may be a tuple of some, with their names."""
    if isinstance(argument, RunTime):
        yield name, argument
    elif isinstance(argument, tuple):
        for number, part in enumerate(argument):
            yield from _runtime(f"{name}_{number}", part)


def _seen(name: str, argument: Any) -> Any:
    """An argument as the kernel sees it: run-time parts as tensors."""
    if isinstance(argument, RunTime):
        array = hold(Param(name, argument.type), argument.value)
        return tensor(Performed(HINT, (), (argument.type,), arrays=(array,)).results[0])
    if isinstance(argument, tuple):
        parts = [_seen(f"{name}_{number}", part) for number, part in enumerate(argument)]
        return getattr(type(argument), "_make", tuple)(parts)
    return argument.value if isinstance(argument, Constexpr) else argument
