"""The second driver: the kernel's own Python runs, program by program, on real blocks.

One idea: an `EagerBuilder` is a builder whose ops are performed as they are emitted, by the very
meanings that `run` uses, and whose values carry their arrays. So `print(x)`, `breakpoint()` and
every Python tool work inside a kernel, and its loops and branches are Python's. Only the body of a
region (a combine function) is first traced as usual.

    run_eager(add, {"x": RunTime(ptr, buffer), "n": RunTime(I32, 5), "BLOCK": 16}, (1, 1, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...ir.build import Builder, using
from ...ir.nodes import Op, Operand, Param, Region, Value
from ...ir.numeric import Array
from ...ir.ops import Row
from ...ir.types import Type, shape_of
from ...language.tensor import tensor
from ..memory import Argument, Buffer
from . import every, hold
from .control import is_meeting
from .effects import leads_elsewhere
from .memory import Index, Memory
from .program import Launch, Program, makes_pointers
from .show import show_typed
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
        self.met: Any = None

    @property
    def recording(self) -> bool:
        return len(self.scopes) > 1

    @property
    def eager(self) -> bool:  # type: ignore[override]
        return not self.recording

    def _place(
        self,
        row: Row,
        operands: tuple[Operand, ...],
        types: tuple[Type, ...],
        attrs: dict[str, Any],
        regions: tuple[Region, ...],
    ) -> Op:
        if self.recording:
            return super()._place(row, operands, types, attrs, regions)
        op = Op(row.name, operands, types, attrs, regions, self.source())
        memory = self.program.launch.memory
        memory.anywhere |= leads_elsewhere(op) or any(map(makes_pointers, regions))
        arrays = tuple(self.program.perform(op))
        self._meet(op, arrays)
        return Performed(op.name, (), types, attrs, (), op.where, arrays)

    def _level(self, operands: tuple[Operand, ...]) -> int:
        """Nothing moves out of a region: outside, ops are performed at once."""
        return max(1, super()._level(operands))

    def _meet(self, op: Op, arrays: tuple[Array, ...]) -> None:
        """Lets other programs run if this one finds the same thing again where it may be waiting
        for them."""
        if is_meeting(op):
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

    def show(self, operand: Operand) -> str:
        """The type and the numbers of a value: `vector<4 x i32> [0 1 2 3]`."""
        assert operand is not None
        if isinstance(operand, (Value, Param)) and not isinstance(operand, EagerValue):
            return str(operand.ty)
        return show_typed(operand.ty, self.program.value(operand))


def run_eager(
    function: Callable[..., object], arguments: Mapping[str, Any], grid: tuple[int, int, int]
) -> None:
    """Calls the kernel's Python for every program of the grid; the buffers are written.

    function: takes the arguments by name, run-time ones (`RunTime`) as tensors, the others as they
    are. Raises what `run` raises, and whatever the kernel's own Python does.
    """
    runtime = {name: a for name, a in arguments.items() if isinstance(a, RunTime)}
    buffers = [(name, a.value) for name, a in runtime.items() if isinstance(a.value, Buffer)]
    memory = Memory(buffers, watch=True)
    launch = Launch(grid, memory)

    def body(index: Index) -> None:
        with using(EagerBuilder(launch, index)):
            tensors = {name: _tensor(name, argument) for name, argument in runtime.items()}
            trace_entry(function, {**arguments, **tensors})

    launch.turns = Turns(every(grid), body, memory.count, PATIENCE)
    launch.turns.run()


def trace_entry(function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
    """The frame above the kernel's own; see `errors.user_stack`."""
    function(**arguments)


def _tensor(name: str, argument: RunTime) -> tensor:
    array = hold(Param(name, argument.type), argument.value)
    return tensor(Performed("hint", (), (argument.type,), arrays=(array,)).results[0])
