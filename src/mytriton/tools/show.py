"""Any stage of any kernel as text, without running it.

One idea: a stage is a function from a `Kernel` (the traced and the optimised function) to text and
the lexer that colours it; the command line lists them from this one table.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from ..ir.nodes import Function
from .signature import SignatureError, complete, parse_signature


@dataclass(frozen=True)
class Kernel:
    """A jit function with a type or constexpr value for every parameter."""

    function: Any
    arguments: dict[str, Any]
    architecture: str = "sm_80"

    @cached_property
    def traced(self) -> Function:
        from ..frontend.trace import trace

        return trace(self.function.fn, self.arguments)

    @cached_property
    def optimised(self) -> Function:
        from ..passes.pipeline import optimize

        return optimize(self.traced)

    @cached_property
    def cuda(self) -> str:
        from ..targets.cuda import generate

        return generate(self.optimised).text

    @cached_property
    def native(self) -> Any:
        from ..targets.cpu import compile as compile_cpu

        return compile_cpu(self.optimised, overlap=False)


def _tree(kernel: Kernel) -> str:
    from ..ir.tree import expression_ops

    return "\n".join(map(str, expression_ops(kernel.traced)))


def _traced(kernel: Kernel) -> str:
    from ..ir.text import print_function

    return print_function(kernel.traced)


def _ssa(kernel: Kernel) -> str:
    from ..ir.text import print_function

    return print_function(kernel.optimised)


def _plan(kernel: Kernel) -> str:
    from ..targets.cpu import plan_text

    return plan_text(kernel.optimised, overlap=False)


def _ptx(kernel: Kernel) -> str:
    from ..targets.cuda import compile_nvrtc

    return compile_nvrtc(kernel.cuda, kernel.architecture).ptx


def _sass(kernel: Kernel) -> str:
    from ..targets.cuda import compile_nvrtc

    disassembler = shutil.which("nvdisasm")
    if disassembler is None:
        raise SignatureError("sass needs nvdisasm on the PATH; it comes with the CUDA toolkit")
    code = compile_nvrtc(kernel.cuda, kernel.architecture).cubin
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        command = [disassembler, "--print-code", file.name]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@dataclass(frozen=True)
class Stage:
    """One stage: what it is in a few words, how to get it, and the name of its lexer."""

    about: str
    text: Callable[[Kernel], str]
    lexer: str


STAGES: dict[str, Stage] = {
    "tree": Stage("each effect as the tree of its operands", _tree, "python"),
    "traced": Stage("SSA as traced, before any pass", _traced, "llvm"),
    "ssa": Stage("SSA after the passes", _ssa, "llvm"),
    "cuda": Stage("CUDA C++", lambda kernel: kernel.cuda, "cuda"),
    "ptx": Stage("PTX from NVRTC", _ptx, "ptx"),
    "sass": Stage("GPU machine code (needs nvdisasm)", _sass, "text"),
    "plan": Stage("the CPU target's loop nests and buffers", _plan, "text"),
    "llvm": Stage("LLVM IR of the CPU target", lambda kernel: kernel.native.llvm, "llvm"),
    "asm": Stage("this machine's assembly", lambda kernel: kernel.native.asm, "gas"),
}


def load_kernel(place: str, signature: str, architecture: str) -> Kernel:
    """The kernel at `file.py::name`, with the types that the signature's text gives.

    Raises SignatureError where the file, the kernel or a parameter does not fit.
    """
    path, separator, name = place.partition("::")
    if not separator:
        raise SignatureError(f"say which kernel: {path}::name")
    function = jit_function(getattr(load_module(Path(path)), name, None))
    if function is None:
        raise SignatureError(f"{path} has no @jit function named {name!r}")
    given = parse_signature(signature)
    return Kernel(function, complete(function.fn, set(function.constexprs), given), architecture)


def jit_function(decorated: Any) -> Any:
    """The jit function under any autotuners and heuristics; None where there is none."""
    while decorated is not None and not hasattr(decorated, "constexprs"):
        decorated = getattr(decorated, "fn", None)
    return decorated


def load_module(path: Path) -> ModuleType:
    """The module of a Python file; its folder is importable, as when the file is run."""
    if not path.is_file():
        raise SignatureError(f"there is no file {path}")
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
