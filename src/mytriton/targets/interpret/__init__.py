"""The interpreter: THE definition of what every op means, in NumPy, a block at a time.

One idea: a program's values are arrays (`ir/numeric.py` says how each type is held), an op is a
function from arrays to arrays, and a launch runs its programs one after the other. Every other
target is compared with this one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...ir.nodes import Function, Param, Value, walk
from ...ir.numeric import Array, canonical, held_dtype
from ...ir.types import ScalarType
from ...passes.provenance import makes_unknown_addresses
from .. import CompileOptions, Grid
from ..memory import Argument, Buffer
from .memory import Index, Lanes, Memory, Observer
from .program import MEANINGS, Launch, Program
from .turns import Turns

__all__ = ["MEANINGS", "Lanes", "Observer", "compile", "run"]


@dataclass(frozen=True)
class Interpreted:
    """A function of the IR that the interpreter runs."""

    function: Function

    def launch(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        run(self.function, arguments, grid)


def compile(function: Function, options: CompileOptions) -> Interpreted:
    """The executable of a function; any stage of the IR will do."""
    return Interpreted(function)


def run(
    function: Function,
    arguments: Sequence[Argument],
    grid: tuple[int, int, int],
    programs: Iterable[Index] | None = None,
    observer: Observer | None = None,
) -> None:
    """Runs the function for every program of the grid, or for the `programs` named; the buffers are
    written, and the observer is told what is done.

    Raises KernelError, at the kernel's line, for accesses outside every buffer, failed assertions
    and deadlocks.
    """
    assert len(arguments) == len(function.params), "as many arguments as params"
    given = list(zip(function.params, arguments))
    loops = any(op.name == "while" for op in walk(function.body))
    buffers = [(param.name, a) for param, a in given if isinstance(a, Buffer)]
    anywhere = makes_unknown_addresses(function.body)
    memory = Memory(buffers, anywhere, watch=loops, observer=observer)
    params: dict[Value | Param, Array] = {param: hold(param, a) for param, a in given}
    launch = Launch(grid, memory, observer)

    def body(index: Index) -> None:
        Program(launch, index, dict(params)).run(function.body, ())

    launch.turns = Turns(every(grid) if programs is None else programs, body, memory.count)
    launch.turns.run()


def every(grid: tuple[int, int, int]) -> Iterator[Index]:
    """The programs of a grid, the first axis fastest."""
    for z, y, x in itertools.product(*map(range, reversed(grid))):
        yield x, y, z


def hold(param: Param, argument: Argument) -> Array:
    """An argument as the interpreter holds it: an address, or a number in the param's type."""
    if isinstance(argument, Buffer):
        return np.array(argument.address, np.int64)
    assert isinstance(param.ty, ScalarType), f"`{param.name}` is a number, its type {param.ty}"
    return np.array(canonical(param.ty, argument), held_dtype(param.ty))
