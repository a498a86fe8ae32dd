"""Running a compiled kernel over a grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CompileTypeError, CompileValueError, did_you_mean
from ..ir.types import I32
from ..targets import TARGETS, Grid
from ..targets.memory import Argument, Buffer, any_overlap

if TYPE_CHECKING:
    from .compile import Compilation


class Meta(dict[str, Any]):
    """The kernel's arguments by name, as a grid function is given them."""

    def __missing__(self, name: str) -> Any:
        raise CompileValueError(
            f"the grid asks for {name!r}, which is no argument of this launch"
            f"{did_you_mean(name, self) or '; there are ' + ', '.join(self)}"
        )


def grid_of(given: Any, least: int = 0) -> Grid:
    """A grid as three ints, each `least` or more; a launch over no program does nothing.

    Raises CompileValueError `invalid launch grid: …`.
    """
    if type(given) is tuple and len(given) == 1:
        (x,) = given
        if type(x) is int and least <= x <= 0x7FFFFFFF:  # most launches
            return x, 1, 1
    extents = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(extents) <= 3:
        raise CompileValueError(
            f"invalid launch grid: {given!r}; an int or a tuple of 1 to 3 ints is needed"
        )
    for extent in extents:
        whole = isinstance(extent, (int, np.integer)) and not isinstance(extent, bool)
        if not whole or extent < least:
            kind = "a positive int" if least else "an int of 0 or more"
            raise CompileValueError(f"invalid launch grid: {given!r}; {extent!r} is not {kind}")
        if extent > I32.max_int:
            raise CompileValueError(
                f"invalid launch grid: {given!r}; {extent!r} programs do not fit int32"
            )
    x, y, z = (*map(int, extents), 1, 1)[:3]
    return x, y, z


def execute(compilation: Compilation, name: str, grid: Grid, given: Sequence[Argument]) -> None:
    """Runs a compiled kernel on a target; over a grid of no program it does nothing.

    Raises CompileTypeError if it stores to a read-only array, KernelError for what goes wrong while
    it runs.
    """
    if 0 in grid:
        return
    if name != "eager":  # its memory refuses the store itself, and nothing need be traced for it
        refuse_read_only(compilation, given)
    overlap = TARGETS[name].asks_overlap and stores_to_shared_memory(compilation, given)
    compilation.executable(name, overlap).launch(grid, given)


def stores_to_shared_memory(compilation: Compilation, given: Sequence[Argument]) -> bool:
    """Whether memory that the kernel may store to belongs to two arguments."""
    params, stored = compilation.traced.function.params, compilation.may_store_to
    buffers = [(a, param in stored) for param, a in zip(params, given) if isinstance(a, Buffer)]
    pairs = combinations(buffers, 2)
    return any((w1 or w2) and any_overlap((one, two)) for (one, w1), (two, w2) in pairs)


def refuse_read_only(compilation: Compilation, given: Sequence[Argument]) -> None:
    """Refuses a launch that would write an array that may not be written."""
    if all(not isinstance(argument, Buffer) or argument.writable for argument in given):
        return
    for param, argument in zip(compilation.traced.function.params, given):
        locked = isinstance(argument, Buffer) and not argument.writable
        if locked and param.name in compilation.written:
            raise CompileTypeError(
                f"{param.name}: the array is read-only, but the kernel stores to it; pass a copy",
                compilation.written[param.name],
            )
