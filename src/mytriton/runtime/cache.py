"""What a kernel's compilations are kept by.

A key holds what can change the code and nothing else: the types of the run-time arguments, the
values of the constexprs, and before these (put there by `jit.py`) the options of code generation.
Grids, the contents of arrays and the values of numbers are not in it. What the kernel reads from
outside its arguments is guarded (`frontend/guards.py`), not keyed.

    first cache    a kernel's own: key → Compilation       JITFunction.compilations
    second cache   loaded GPU kernels by name and source   targets/cuda
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..frontend.signature import Constexpr
from .arguments import ArrayInfo, kind_of, one_family
from .constexprs import constexpr_key, constexpr_value
from .parameters import Parameter


@dataclass(frozen=True)
class Specialization:
    """The arguments of a launch as far as a compilation depends on them.

    key: hashable. arguments: by parameter an IR type, a tuple of them, or a `Constexpr`. arrays:
    the family that all arrays are of; None without arrays.
    """

    key: tuple[Any, ...]
    arguments: Mapping[str, Any]
    arrays: ArrayInfo | None


def specialize(parameters: Sequence[Parameter], values: Sequence[Any]) -> Specialization:
    """What a launch with these values, in the order of the parameters, is compiled for.

    Raises CompileTypeError or CompileValueError naming the argument for what is refused.
    """
    key: list[Any] = []
    arguments: dict[str, Any] = {}
    arrays: list[tuple[str, ArrayInfo]] = []
    for parameter, value in zip(parameters, values):
        name = parameter.name
        if parameter.is_constexpr:
            constexpr_key(name, value)  # refuses what cannot be one
            arguments[name] = Constexpr(constexpr_value(value))
        else:
            found = kind_of(value).describe(parameter, name, value)
            arguments[name] = found.type
            arrays += found.arrays
        key.append(type_key(name, arguments[name]))
    return Specialization(tuple(key), arguments, one_family(arrays))


def type_key(name: str, ty: Any) -> Any:
    """What is in the key of one argument."""
    if isinstance(ty, Constexpr):
        return "constexpr", constexpr_key(name, ty.value)
    if isinstance(ty, tuple):
        return type(ty), tuple(type_key(name, part) for part in ty)
    return ty
