"""`triton.runtime.autotuner`: configurations chosen by timing, constexprs computed."""

from mytriton.runtime.autotune import Autotuner, autotune
from mytriton.runtime.config import Config
from mytriton.runtime.heuristics import Heuristics, heuristics
from mytriton.runtime.interface import KernelInterface
from mytriton.runtime.jit import JITFunction

from .driver import driver
from .errors import AutotunerError, OutOfResources, PTXASError

__all__ = [
    "Autotuner",
    "AutotunerError",
    "Config",
    "Heuristics",
    "JITFunction",
    "KernelInterface",
    "OutOfResources",
    "PTXASError",
    "autotune",
    "driver",
    "heuristics",
]
