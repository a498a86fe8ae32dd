"""The package `triton` while mytriton stands in for it: Triton's names, from this project."""

from mytriton import language as language
from mytriton.as_triton import aliases as _aliases
from mytriton.as_triton import inductor as _inductor

_inductor.compile_in_this_process()
# Before anything below is imported: some of its modules are modules of this project.
_aliases.install()

from mytriton import (  # noqa: E402
    aggregate,
    autotune,
    cdiv,
    constexpr_function,
    heuristics,
    must_use_result,
    next_power_of_2,
    testing,
)

from . import backends, compiler, errors, knobs, runtime, tools  # noqa: E402
from .compiler import CompilationError, compile  # noqa: E402
from .errors import TritonError  # noqa: E402
from .runtime import (  # noqa: E402
    Autotuner,
    Config,
    Heuristics,
    InterpreterError,
    JITFunction,
    KernelInterface,
    MockTensor,
    OutOfResources,
    TensorWrapper,
    reinterpret,
)
from .runtime._allocation import set_allocator  # noqa: E402
from .runtime.jit import jit  # noqa: E402

__version__ = "3.6.0"

__all__ = [
    "Autotuner",
    "CompilationError",
    "Config",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TritonError",
    "aggregate",
    "autotune",
    "backends",
    "cdiv",
    "compile",
    "compiler",
    "constexpr_function",
    "errors",
    "heuristics",
    "jit",
    "knobs",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "set_allocator",
    "testing",
    "tools",
]
