"""One launch: its grid, its target, running it, and what it gives back.

One idea: a table says what each target does with a compiled kernel; everything before it (types,
keys, tracing) is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import CompileError, CompileTypeError, CompileValueError
from ..frontend.signature import Constexpr
from ..ir.nodes import Function, Op
from ..ir.types import I32
from ..targets.memory import Argument, Buffer, any_overlap
from .cache import Artifact
from .target import RUN

Grid = tuple[int, int, int]


def grid_of(grid: Any, meta: Callable[[], Mapping[str, Any]], least: int = 0) -> Grid:
    """The grid as three ints, each `least` or more; a launch over no program does nothing.

    Raises CompileValueError `invalid launch grid: …`.
    """
    given = grid(dict(meta())) if callable(grid) else grid
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


# -- targets


def _interpret(artifact: Artifact, grid: Grid, given: Sequence[Argument]) -> None:
    from ..targets import interpret

    interpret.run(artifact.function, given, grid)


def _eager(artifact: Artifact, grid: Grid, given: Sequence[Argument]) -> None:
    from ..targets.interpret.eager import RunTime, run_eager

    values = iter(given)

    def bound(argument: Any) -> Any:
        if isinstance(argument, tuple):
            return getattr(type(argument), "_make", tuple)(map(bound, argument))
        return argument if isinstance(argument, Constexpr) else RunTime(argument, next(values))

    named = {name: bound(argument) for name, argument in artifact.arguments.items()}
    run_eager(artifact.fn, named, grid)


def _cpu(artifact: Artifact, grid: Grid, given: Sequence[Argument]) -> None:
    artifact.native(any_overlap(given)).launch(grid, given)


def _cudasim(artifact: Artifact, grid: Grid, given: Sequence[Argument]) -> None:
    from ..targets.cuda import sim

    sim.run(artifact.cuda, grid, given)


def _cuda(artifact: Artifact, grid: Grid, given: Sequence[Argument]) -> None:
    from ..targets import cuda

    cuda.launch(artifact.cuda, grid, given)


RUN |= {
    "cpu": _cpu,
    "interpret": _interpret,
    "eager": _eager,
    "cudasim": _cudasim,
    "cuda": _cuda,
}


def execute(artifact: Artifact, name: str, grid: Grid, given: Sequence[Argument]) -> None:
    """Runs a compiled kernel. Raises CompileTypeError if it stores to a read-only array."""
    read_only(artifact, given)
    RUN[name](artifact, grid, given)


def read_only(artifact: Artifact, given: Sequence[Argument]) -> None:
    """Refuses a launch that would write an array that may not be written."""
    for argument in given:
        if isinstance(argument, Buffer) and not argument.writable:
            break
    else:
        return
    for param, argument in zip(artifact.traced.params, given):
        locked = isinstance(argument, Buffer) and not argument.writable
        if locked and param.name in artifact.written:
            raise CompileTypeError(
                f"{param.name}: the array is read-only, but the kernel stores to it; pass a copy",
                artifact.written[param.name],
            )


# -- results


class SSA(list[Op]):
    """The ops of a function in order; `str()` is the SSA text."""

    def __str__(self) -> str:
        from ..ir.text import SSAPrinter

        return SSAPrinter().print_ops(self)


class Trees(list[Any]):
    """The effects of a function, each the nested tree of its operands; `str()` prints them."""

    def __str__(self) -> str:
        from ..ir.tree import print_trees

        return print_trees(self)


class Launch:
    """What a launch gives back: `expression_ops, ssa_ops, cuda_src = kernel[grid](…)`.

    Every stage is an attribute, made when it is asked for: `traced`, `function`, `cuda_src`,
    `threads_per_block`, `llvm`, `asm`. `target` is where it ran, None if it was compiled only;
    `grid` three ints.
    """

    __slots__ = ("artifact", "grid", "target")

    def __init__(self, artifact: Artifact, target: str | None, grid: Grid | None) -> None:
        self.artifact, self.target, self.grid = artifact, target, grid

    def __iter__(self) -> Iterator[Any]:
        return iter((self.expression_ops, self.ssa_ops, self.cuda_src))

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return (self.expression_ops, self.ssa_ops, self.cuda_src)[index]

    def __repr__(self) -> str:
        where = f"ran on {self.target}" if self.target else "compiled"
        return f"<{self.function.name} {where}, grid {self.grid}>"

    @property
    def expression_ops(self) -> Trees:
        """The effects as trees; a fresh list."""
        from ..ir.tree import expression_ops

        return Trees(expression_ops(self.function))

    @property
    def ssa_ops(self) -> SSA:
        """The ops in order; a fresh list. The `yield` that ends every function is left out."""
        return SSA(self.function.body.ops[:-1])

    @property
    def cuda_src(self) -> str:
        """The CUDA C++ text. Raises CompileValueError where the lane rule is not defined."""
        return str(self.artifact.cuda.text)

    @property
    def traced(self) -> Function:
        """The IR as traced."""
        return self.artifact.traced

    @property
    def function(self) -> Function:
        """The optimised IR."""
        return self.artifact.function

    @property
    def threads_per_block(self) -> int:
        """The number of CUDA threads of a program."""
        return int(self.artifact.cuda.threads_per_block)

    @property
    def llvm(self) -> str:
        """The LLVM IR of the CPU kernel."""
        return str(self.artifact.native(False).llvm)

    @property
    def asm(self) -> str:
        """The assembly of the CPU kernel."""
        return str(self.artifact.native(False).asm)


def check_options(options: Mapping[str, Any]) -> None:
    """Raises CompileValueError for a `num_warps` or `num_stages` that no target has."""
    warps, stages = options.get("num_warps"), options.get("num_stages")
    if warps is not None and warps not in (1, 2, 4, 8, 16, 32):
        raise CompileValueError(f"num_warps must be 1, 2, 4, 8, 16 or 32, got {warps!r}")
    if stages is not None and not (isinstance(stages, int) and stages >= 0):
        raise CompileValueError(f"num_stages must be an int of 0 or more, got {stages!r}")


def refuse_warps(options: Mapping[str, Any]) -> None:
    """`num_warps` asks for the tiled lowering."""
    if options.get("num_warps") is not None:
        raise CompileError(
            "num_warps= selects the tiled CUDA lowering, which does not exist yet; leave it out for"
            " one thread a lane, or choose the target cpu"
        )
