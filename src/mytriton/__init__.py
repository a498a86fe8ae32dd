"""What `import mytriton as triton` gives: kernels, their launch, and the host's small helpers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import language
from .errors import CompileError, KernelError, KernelFault, OutOfResources, did_you_mean
from .runtime.arrays import MockTensor, TensorWrapper, reinterpret
from .runtime.host_functions import (
    aggregate,
    cdiv,
    constexpr_function,
    must_use_result,
    next_power_of_2,
)
from .runtime.interface import KernelInterface
from .runtime.jit import JITFunction, jit
from .runtime.target import set_target, target
from .strict import StrictError, strict

if TYPE_CHECKING:
    from .runtime.autotune import Autotuner, autotune
    from .runtime.checks import sanitize
    from .runtime.config import Config
    from .runtime.heuristics import Heuristics, heuristics
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
    "StrictError",
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
    "sanitize",
    "set_target",
    "strict",
    "target",
    "testing",
]

# Triton's library functions are themselves kernels, so its modules hold `jit`.
vars(language.standard)["jit"] = vars(language.random)["jit"] = jit


_LATER = {
    "Autotuner": "runtime.autotune",
    "autotune": "runtime.autotune",
    "Config": "runtime.config",
    "Heuristics": "runtime.heuristics",
    "heuristics": "runtime.heuristics",
    "sanitize": "runtime.checks",
    "testing": "tools.testing",
}
"""Names that most programs do not use, by the module that is loaded for them."""


def __getattr__(name: str) -> Any:
    """Loads a name of `_LATER` when it is first asked for."""
    if name not in _LATER:
        meant = did_you_mean(name, __all__, "triton.")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{meant}")
    module = import_module(f"{__name__}.{_LATER[name]}")
    found = module if name == "testing" else getattr(module, name)
    globals()[name] = found
    return found
