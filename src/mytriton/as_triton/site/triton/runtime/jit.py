"""`triton.runtime.jit`: kernels."""

from mytriton.runtime.arrays import MockTensor, TensorWrapper, reinterpret
from mytriton.runtime.host_functions import constexpr_function
from mytriton.runtime.interface import KernelInterface
from mytriton.runtime.jit import JITFunction, jit

from .driver import driver

JITCallable = JITFunction


class ConstexprFunction:
    """The class of what `constexpr_function` gives in Triton; here that is a plain function."""


__all__ = [
    "ConstexprFunction",
    "JITCallable",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "TensorWrapper",
    "constexpr_function",
    "driver",
    "jit",
    "reinterpret",
]
