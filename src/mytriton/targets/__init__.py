"""What runs kernels: one row a target, and the one signature that they all have.

    executable = TARGETS["cpu"].compile(function, CompileOptions())
    executable.launch((4, 1, 1), arguments)

A target takes one stage of a compilation (`runtime/compile.py` lists them): the optimised function,
the CUDA source, or the kernel's own Python. Its package is imported when it compiles first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol, runtime_checkable

from .memory import Argument

Grid = tuple[int, int, int]
"""The number of programs along x, y and z."""


@dataclass(frozen=True)
class CompileOptions:
    """What a launch asks of code generation. All of it is part of a compilation's key.

    debug: CUDA code checks device asserts; the other targets always do. checks: the kinds of faults
    that the code looks for (`passes/checks/`). num_warps: the tiled CUDA
    lowering with so many warps a program; None: one thread a lane where that rule is defined, else
    4 warps. fixed: the parameters whose
    arguments' divisibility is not looked at (`do_not_specialize`). arch: the GPU architecture that
    PTX and machine code are made for where no device says. overlap: pointer arguments may share
    memory; without it a target may take distinct ones to be apart. strict: the frontend refuses
    what Triton refuses. num_stages: the stages of software pipelines; None: the target's default.
    maxnreg: the most registers a thread of CUDA code may have. fp_fusion: CUDA code may round
    a * b + c once. f32_dot: the input precision of f32 products that say none.
    """

    debug: bool = False
    checks: tuple[str, ...] = ()
    num_warps: int | None = None
    fixed: frozenset[str] = frozenset()
    arch: str = "sm_80"
    overlap: bool = True
    strict: bool = False
    num_stages: int | None = None
    maxnreg: int | None = None
    fp_fusion: bool = True
    f32_dot: str = "ieee"


@dataclass(frozen=True)
class PythonKernel:
    """A kernel as its Python function, for a target that runs that.

    arguments: by parameter an IR type, a tuple of them, or a `Constexpr`.
    """

    fn: Callable[..., Any]
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Device:
    """A GPU: its number, and whether launches go to torch's stream of it, not to CuPy's."""

    number: int
    torch_stream: bool


Launcher = Callable[..., None]
"""`launch(nx, ny, nz, *values)` runs a grid of one program or more; a value is a number, or the
address of an array."""


class Executable(Protocol):
    """A kernel that can run."""

    def launch(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        """Runs every program of the grid on the run-time arguments, in the order of the function's
        params. Raises KernelError for what goes wrong."""


@runtime_checkable
class QuickExecutable(Executable, Protocol):
    """One of a target that takes addresses."""

    def launcher(self, device: Device | None) -> Launcher:
        """The quick form of `launch`, for arrays on a GPU, or on the host."""


@dataclass(frozen=True)
class Target:
    """One target: where its package is, the stage that it takes, and whose memory it reaches.

    takes_addresses: its executables take the address of an array, an int, for a `Buffer`.
    asks_overlap: its code for arguments that share memory differs from that for others.
    """

    name: str
    about: str
    stage: Literal["python", "traced", "ssa", "cuda"]
    package: str
    memory: Literal["host", "gpu"] = "host"
    takes_addresses: bool = False
    asks_overlap: bool = False

    def compile(self, source: Any, options: CompileOptions) -> Executable:
        """The executable of a kernel. `source` is the stage the target takes.

        Raises CompileError for what the target cannot run.
        """
        package: Any = import_module(f"{__name__}.{self.package}")
        made: Executable = package.compile(source, options)
        return made


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target(
            "cpu",
            "machine code for this processor, through LLVM",
            "ssa",
            "cpu",
            takes_addresses=True,
            asks_overlap=True,
        ),
        Target("interpret", "NumPy, a block at a time: what every op means", "ssa", "interpret"),
        Target(
            "eager",
            "the kernel's own Python, a program at a time, on real blocks",
            "python",
            "interpret.eager",
        ),
        Target(
            "cudasim",
            "the CUDA text, thread by thread on the host",
            "cuda",
            "cuda.sim",
            asks_overlap=True,
        ),
        Target(
            "cuda",
            "the CUDA text on an NVIDIA GPU",
            "cuda",
            "cuda",
            "gpu",
            takes_addresses=True,
            asks_overlap=True,
        ),
    )
}
"""Every target by name."""
