"""What `import mytriton as triton` gives: kernels, their launch, and the host's small helpers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import language
from .errors import CompileError, KernelError, KernelFault, OutOfResources
from .runtime.arrays import MockTensor, TensorWrapper, reinterpret
from .runtime.autotune import Autotuner, autotune
from .runtime.config import Config
from .runtime.heuristics import Heuristics, heuristics
from .runtime.host_functions import (
    aggregate,
    cdiv,
    constexpr_function,
    must_use_result,
    next_power_of_2,
)
from .runtime.jit import JITFunction, KernelInterface, jit
from .runtime.target import set_target, target

if TYPE_CHECKING:
    from .tools import testing

__version__ = "0.1.0"

__all__ = [
    "Autotuner",
    "CompileError",
    "Config",
    "Heuristics",
    "JITFunction",
    "KernelError",
    "KernelFault",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "aggregate",
    "autotune",
    "cdiv",
    "constexpr_function",
    "heuristics",
    "jit",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "set_target",
    "target",
    "testing",
]

# Triton's library functions are themselves kernels, so its modules hold `jit`.
vars(language.standard)["jit"] = vars(language.random)["jit"] = jit


def __getattr__(name: str) -> Any:
    """`triton.testing`, which is loaded when it is first asked for."""
    if name == "testing":
        return import_module("mytriton.tools.testing")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
