"""What a launch gives back: a compiled kernel, with its stages, that can be launched again.

expression_ops, ssa_ops, cuda_src = kernel[grid](…)     # it unpacks into these three
compiled = kernel[grid](…)
compiled.asm["ttir"]                                     # any stage as text
compiled[grid](x, y, out, n)                             # launches what was compiled
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import CompileTypeError
from ..frontend.signature import Constexpr
from ..ir.nodes import Function, Op
from ..targets import Grid
from .arguments import converters, flatten, one_family
from .arrays import ArrayInfo, array_kind
from .launch import execute, grid_of
from .target import target_of

if TYPE_CHECKING:
    from ..targets.cuda.launch.machine_code import Resources
    from .compile import Compilation


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


class LazyDict(dict[str, Any]):
    """A dict whose values are made, by the functions it is given, when they are first read."""

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        super().__init__(makers)

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if callable(value):
            value = self[key] = value()
        return value

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default


class KernelMetadata(NamedTuple):
    """What Triton says of a compiled kernel. shared: bytes of shared memory a program takes."""

    name: str
    hash: str
    target: str | None
    num_warps: int
    num_stages: int
    num_ctas: int
    debug: bool
    shared: int = 0
    cluster_dims: tuple[int, int, int] = (1, 1, 1)
    global_scratch_size: int = 0
    profile_scratch_size: int = 0
    tmem_size: int = 0


HOST_TEXTS = {"ttir": "ssa", "llir": "llvm", "asm": "asm"}
GPU_TEXTS = {"ttir": "ssa", "cuda": "cuda", "ptx": "ptx"}
"""The keys of `asm`, and the stage of each (see `compile.STAGES`)."""


class CompiledKernel:
    """A kernel compiled for a launch. It unpacks into `expression_ops, ssa_ops, cuda_src`.

    Every stage is made when it is asked for, as text in the dict `asm` ("ttir" is the SSA text;
    "llir" and "asm" on the host, "cuda", "ptx" and "cubin" else) or as an attribute: `traced`,
    `function`, `cuda_src`, `threads_per_block`, `llvm`. `target` is where it ran, None if it was
    compiled only; `grid` three ints, None of a warm-up; `name`, `hash`, `metadata`; `n_regs`,
    `n_spills`: registers and spilled ones a thread, 0 on the host.
    """

    __slots__ = ("compilation", "grid", "target")

    n_max_threads = 1024

    def __init__(self, compilation: Compilation, target: str | None, grid: Grid | None) -> None:
        self.compilation, self.target, self.grid = compilation, target, grid

    @property
    def n_regs(self) -> int:
        """The registers a thread takes, as NVRTC compiles for the options' architecture."""
        return self._resources.registers if self.target in (None, "cuda") else 0

    @property
    def n_spills(self) -> int:
        """The words of 4 bytes of local memory a thread takes, for registers that are spilled."""
        return self._resources.local // 4 if self.target in (None, "cuda") else 0

    @property
    def _resources(self) -> Resources:
        from ..targets.cuda.launch.machine_code import resources

        return resources(self.compilation["cubin"])

    # -- the three results

    def __iter__(self) -> Iterator[Any]:
        return iter((self.expression_ops, self.ssa_ops, self.cuda_src))

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Any:
        """One of the three results for an int; for a grid (a tuple, a list or a function) what
        launches the kernel over it again, with all parameters or with those that are no
        constexprs."""
        if isinstance(index, (int, slice)):
            return tuple(self)[index]
        return partial(self._launch, index)

    def __repr__(self) -> str:
        if self.grid is None:
            return f"<{self.name} compiled; not run: launch it over a grid>"
        if self.target is None:
            return (
                f"<{self.name} compiled for CUDA; not run: with NumPy arrays a launch runs on the"
                ' target it is given, as target="cpu">'
            )
        return f"<{self.name} ran on {self.target}, grid {self.grid}>"

    @property
    def expression_ops(self) -> Trees:
        """The effects as trees; a fresh list."""
        return Trees(self.compilation["tree"])

    @property
    def ssa_ops(self) -> SSA:
        """The ops in order; a fresh list. The `yield` that ends every function is left out."""
        return SSA(self.function.body.ops[:-1])

    @property
    def cuda_src(self) -> str:
        """The CUDA C++ text. Raises CompileValueError where the lane rule is not defined."""
        return self.compilation.text("cuda")

    # -- the stages

    @property
    def traced(self) -> Function:
        """The IR as traced."""
        function: Function = self.compilation["traced"]
        return function

    @property
    def function(self) -> Function:
        """The optimised IR."""
        return self.compilation.function

    @property
    def threads_per_block(self) -> int:
        """The number of CUDA threads of a program."""
        return int(self.compilation["cuda"].threads_per_block)

    @property
    def llvm(self) -> str:
        """The LLVM IR of the CPU kernel."""
        return self.compilation.text("llvm")

    @property
    def asm(self) -> LazyDict:
        """The stages that Triton's users look for, as text; a cubin as bytes."""
        on_host = self.target not in (None, "cuda")
        names = HOST_TEXTS if on_host else GPU_TEXTS
        makers: dict[str, Callable[[], Any]] = {
            key: partial(self.compilation.text, stage) for key, stage in names.items()
        }
        if not on_host:
            makers["cubin"] = partial(self.compilation.__getitem__, "cubin")
        return LazyDict(makers)

    @property
    def name(self) -> str:
        """The kernel's name, or what `@jit(repr=…)` makes of it."""
        return self.compilation.name

    @property
    def hash(self) -> str:
        """A name for the source, the types and the options: a SHA-256 in hexadecimal."""
        return self.compilation.hash

    @property
    def metadata(self) -> KernelMetadata:
        options = self.compilation.options
        warps, stages = options.num_warps or 4, options.num_stages
        on_gpu = self.target in (None, "cuda", "cudasim")
        return KernelMetadata(
            self.name,
            self.hash,
            self.target,
            warps,
            3 if stages is None else stages,
            1,
            options.debug,
            self.compilation["cuda"].shared_total if on_gpu else 0,
        )

    # -- launching again

    def _init_handles(self) -> None:
        """Makes what a launch needs, so that the next one finds it."""
        self.compilation.executable(self.target or "cpu")

    def _launch(self, grid: Any, *args: Any, stream: Any = None) -> CompiledKernel:
        extents = grid_of(grid({}) if callable(grid) else grid)
        values = run_time_arguments(self.compilation, args)
        types = self.compilation.types
        target = target_of(self.target, one_family(arrays_in(values)))
        if target is not None:
            makers = converters(types, values)
            given = flatten(make(value) for make, value in zip(makers, values))
            execute(self.compilation, target, extents, given)
        return CompiledKernel(self.compilation, target, extents)


def arrays_in(values: Sequence[Any]) -> Iterator[tuple[str, ArrayInfo]]:
    """The arrays among arguments, named by their places."""
    for place, value in enumerate(values):
        kind = array_kind(value)
        if kind is not None:
            name = f"argument {place}"
            yield name, kind.describe(name, value)


def run_time_arguments(compilation: Compilation, args: Sequence[Any]) -> tuple[Any, ...]:
    """The run-time ones of the arguments, which are all parameters or the run-time ones only.

    Raises CompileTypeError for another number of them.
    """
    kinds = tuple(compilation.arguments.values())
    if len(args) == len(compilation.types):
        return tuple(args)
    if len(args) != len(kinds):
        raise CompileTypeError(
            f"{compilation.name} takes {len(kinds)} arguments, or the {len(compilation.types)} that"
            f" are no constexprs, but {len(args)} were given"
        )
    return tuple(value for value, kind in zip(args, kinds) if not isinstance(kind, Constexpr))
