"""The compiler, from a kernel's Python to what a target runs, as one ordered table.

`STAGES` is the table of contents: each row is a stage with a name, what it is, how it is made from
the stages before it, and how it reads as text. A launch makes the stage that its target takes;
`mytriton show`, the object that a launch returns, and warming up read the same rows.

    compilation = Compilation(add_kernel.fn, {"x": PointerType(F32), …, "BLOCK": Constexpr(64)})
    compilation["ssa"]                    # the optimised ir.Function
    compilation.text("cuda")              # CUDA C++
    compilation.executable("cpu")         # what runs it: launch(grid, arguments)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from ..errors import Where
from ..fork import compiling
from ..frontend.guards import Guards
from ..frontend.signature import Constexpr
from ..frontend.trace import traced
from ..ir.nodes import Function, Param
from ..log import tell
from ..passes import pipeline
from ..passes.checks.hidden import Hidden
from ..passes.checks.instrument import Instrumented, instrument
from ..passes.provenance import makes_unknown_addresses, written
from ..strict import strict
from ..targets import TARGETS, CompileOptions, Executable, PythonKernel, Target
from .checked import Checked


@dataclass(frozen=True)
class Traced:
    """What tracing gives: the function, and the guards under which it stays valid."""

    function: Function
    guards: Guards


class Compilation:
    """One kernel for one set of argument types, constexpr values and options.

    fn: the Python function. arguments: by parameter an IR type, a tuple of them, or a `Constexpr`.
    `compilation[name]` is a stage of `STAGES`, made when it is first asked for and kept; what its
    making raises is raised each time.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        arguments: Mapping[str, Any],
        options: CompileOptions = CompileOptions(),  # noqa: B008 - frozen
        name: str = "",
    ) -> None:
        self.fn, self.arguments, self.options = fn, arguments, options
        self.name = name or fn.__name__
        self._made: dict[str, Any] = {}
        self._executables: dict[tuple[str, bool], Executable] = {}

    def __getitem__(self, stage: str) -> Any:
        if stage not in self._made:
            with compiling:
                if stage not in self._made:
                    self._made[stage] = STAGES[stage].make(self)
        return self._made[stage]

    def variant(self, options: CompileOptions) -> Compilation:
        """The same kernel with other options for GPU code, which shares what has been made and does
        not depend on them."""
        other = Compilation(self.fn, self.arguments, options, self.name)
        if "traced" in vars(self):
            vars(other)["traced"] = self.traced
        if options.checks == self.options.checks:
            other._made = {k: v for k, v in self._made.items() if k not in GPU_STAGES}
            other._executables = {k: v for k, v in self._executables.items() if k[0] == "cpu"}
        return other

    def made(self) -> tuple[str, ...]:
        """The stages made so far."""
        return tuple(self._made)

    def text(self, stage: str) -> str:
        """A stage as text. Raises CompileError where it cannot be made."""
        return STAGES[stage].text(self[stage])

    @cached_property
    def traced(self) -> Traced:
        """The function as traced, and its guards."""
        with compiling, strict(self.options.strict):
            return Traced(*traced(self.fn, self.arguments))

    def violated(self) -> str | None:
        """The name of something that was read while tracing and has changed since."""
        return self.traced.guards.violated() if "traced" in vars(self) else None

    @property
    def function(self) -> Function:
        """The optimised IR."""
        function: Function = self["ssa"]
        return function

    @cached_property
    def hash(self) -> str:
        """A name for the source, the arguments and the options: a SHA-256 in hexadecimal."""
        import hashlib

        parts = (_source(self.fn), sorted(self.arguments.items()), self.options)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def types(self) -> tuple[Any, ...]:
        """The types of the run-time arguments, in order."""
        return tuple(v for v in self.arguments.values() if not isinstance(v, Constexpr))

    def prepare(self, target: str | None) -> None:
        """Makes the stage that a target takes; without one, those of a launch that only compiles.
        Raises CompileError for what the target cannot be given."""
        self["cuda" if target is None else TARGETS[target].stage]

    def executable(self, target: str, overlap: bool = False) -> Executable:
        """What runs the kernel on a target, for arguments that may share memory or that do not."""
        key = target, overlap
        found = self._executables.get(key)
        if found is None:
            if (target, not overlap) in self._executables:
                shared = "share memory now" if overlap else "share no memory now"
                tell("recompiles", f"{self.name} on {target}: arrays that it stores to {shared}")
            row, options = TARGETS[target], dataclasses.replace(self.options, overlap=overlap)
            with compiling:
                found = self._executables[key] = self._executable(row, options)
        return found

    def _executable(self, row: Target, options: CompileOptions) -> Executable:
        if row.stage == "python" or not self.options.checks:
            return row.compile(self[row.stage], options)
        hidden = tuple(param for param in self.function.params if isinstance(param, Hidden))
        fixed = options.fixed.union(param.name for param in hidden)
        made = row.compile(self[row.stage], dataclasses.replace(options, fixed=fixed))
        params, origins = self.traced.function.params, self.instrumented.origins
        return Checked(made, self.name, params, hidden, origins, self.written)

    @cached_property
    def instrumented(self) -> Instrumented:
        """The traced function with the checks that the launch asks for."""
        with compiling:
            return instrument(self.traced.function, self.options.checks)

    @cached_property
    def may_store_to(self) -> frozenset[Param]:
        """The pointer params whose memory the kernel may store to; all, where an address may come
        from elsewhere."""
        function = self.traced.function
        if makes_unknown_addresses(function.body):
            return frozenset(function.params)
        return frozenset(param for param in function.params if param.name in self.written)

    @cached_property
    def written(self) -> dict[str, Where]:
        """The names of the params that are stored through, with the line that does."""
        return written(self.traced.function)


# -- the stages


@dataclass(frozen=True)
class Stage:
    """One stage of the compiler.

    about: what it is, in a few words. make: the stage from a compilation, whose earlier stages it
    reads. text: the stage as text. lexer: the name of the lexer that colours the text.
    """

    name: str
    about: str
    make: Callable[[Compilation], Any]
    text: Callable[[Any], str]
    lexer: str


def _print(function: Function) -> str:
    from ..ir.text import print_function

    return print_function(function)


def _after(step: pipeline.Pass, before: str, compilation: Compilation) -> Function:
    return step(compilation[before])


def _passes() -> Iterator[Stage]:
    """One stage a pass: what the optimiser's steps leave, one after the other."""
    before = "checked"
    for step in pipeline.PASSES:
        about = f"SSA after the pass {step.__name__}"
        yield Stage(step.__name__, about, partial(_after, step, before), _print, "ssa")
        before = step.__name__


def _tree(compilation: Compilation) -> Any:
    from ..ir.tree import expression_ops

    return expression_ops(compilation["ssa"])


def _print_tree(trees: Any) -> str:
    from ..ir.tree import print_trees

    return print_trees(trees)


def _cuda(compilation: Compilation) -> Any:
    from ..targets.cuda import generate

    asked = compilation.options
    return generate(
        compilation["ssa"],
        debug=asked.debug,
        num_warps=asked.num_warps,
        num_stages=asked.num_stages,
        maxnreg=asked.maxnreg,
        fp_fusion=asked.fp_fusion,
        f32_dot=asked.f32_dot,
    )


def _nvrtc(compilation: Compilation) -> Any:
    from ..targets.cuda import compile_nvrtc

    source = compilation["cuda"]
    return compile_nvrtc(source.text, compilation.options.arch, flags=source.flags)


def _sass(code: bytes) -> str:
    """GPU machine code as text, by `nvdisasm`."""
    from ..targets.cuda.launch.machine_code import sass

    return sass(code)


def _loops(compilation: Compilation) -> str:
    from ..targets.cpu import loops_text

    return loops_text(compilation["ssa"])


def _plan(compilation: Compilation) -> str:
    from ..targets.cpu import plan_text

    return plan_text(compilation["ssa"])


def _native(compilation: Compilation) -> Any:
    return compilation.executable("cpu")


STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            "python",
            "the kernel's own Python",
            lambda c: PythonKernel(c.fn, c.arguments),
            lambda kernel: _source(kernel.fn),
            "python",
        ),
        Stage(
            "traced", "SSA as traced, before any pass", lambda c: c.traced.function, _print, "ssa"
        ),
        Stage(
            "checked",
            "SSA with the checks that `debug` asks for",
            lambda c: c.instrumented.function,
            _print,
            "ssa",
        ),
        *_passes(),
        Stage("ssa", "SSA after all passes", lambda c: _optimised(c["checked"]), _print, "ssa"),
        Stage("tree", "each effect as the tree of its operands", _tree, _print_tree, "python"),
        Stage("cuda", "CUDA C++", _cuda, lambda source: str(source.text), "cuda"),
        Stage("ptx", "PTX from NVRTC", lambda c: _nvrtc(c).ptx, str, "ptx"),
        Stage(
            "cubin", "GPU machine code", lambda c: _nvrtc(c).cubin, lambda code: code.hex(), "text"
        ),
        Stage(
            "sass",
            "GPU machine code as text (nvdisasm)",
            lambda c: _sass(c["cubin"]),
            str,
            "text",
        ),
        Stage("plan", "the CPU target's loop nests and buffers", _plan, str, "text"),
        Stage(
            "loops", "the CPU target's loops over lanes, and how they access", _loops, str, "text"
        ),
        Stage("llvm", "LLVM IR of the CPU target", lambda c: _native(c).llvm, str, "llvm"),
        Stage("asm", "this machine's assembly", lambda c: _native(c).asm, str, "gas"),
    )
}
"""Every stage by name, in the order of the pipeline."""
GPU_STAGES = ("cuda", "ptx", "cubin", "sass")
"""Those that depend on options that only GPU code knows."""


def _optimised(traced: Function) -> Function:
    return pipeline.optimize(traced)


def _source(fn: Callable[..., Any]) -> str:
    from ..frontend.source import source

    return source(fn)
