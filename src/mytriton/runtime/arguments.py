"""What a launch is given: one row for each kind of argument.

A row of `ARGUMENT_KINDS` says all that is to be known of a kind: how it is recognised, the quick
key that tells apart what may compile differently, the IR type with the arrays in it, and what makes
of an argument the number or the buffer that targets take. A launch asks for the quick keys first;
what they have seen before needs no other look (`jit.py` keeps the answers).
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import CompileTypeError, CompileValueError
from ..frontend.signature import Constexpr
from ..ir.numeric import canonical
from ..ir.types import F32, PointerType, ScalarType
from ..language.constexpr import constexpr, unwrap
from ..language.promotion import natural
from ..targets.memory import Argument, Buffer
from .arrays import (
    ARRAY_KINDS,
    NEEDS_FULL_KEY,
    ArrayInfo,
    ArrayKind,
    MockTensor,
    TensorWrapper,
    array_kind,
)
from .arrays import reinterpret as reinterpret
from .constexprs import constexpr_key, exact
from .descriptor import TensorDescriptor, parts_of
from .parameters import Parameter

Converter = Callable[[Any], Any]
"""Makes of a launch value what a target takes, a `Buffer` or a number; of a tuple a flat list."""


@dataclass(frozen=True)
class Described:
    """A run-time argument in full: its IR type (a tuple of types for a tuple, a `Constexpr` for
    what is known), and the arrays in it with their names."""

    type: Any
    arrays: tuple[tuple[str, ArrayInfo], ...] = ()


@dataclass(frozen=True)
class ArgumentKind:
    """One kind of run-time argument.

    matches(value): whether it is of the kind. key_part(value): hashable; arguments of equal keys
    compile alike; `NEEDS_FULL_KEY` where only `describe` can tell. describe(parameter, name,
    value): raises CompileTypeError or CompileValueError naming the argument for what is refused.
    converter(type, value): made for an argument like this one.
    """

    matches: Callable[[Any], bool]
    key_part: Callable[[Any], Any]
    describe: Callable[[Parameter, str, Any], Described]
    converter: Callable[[Any, Any], Converter]


def kind_of(value: Any) -> ArgumentKind:
    """The row of an argument."""
    cls = type(value)
    kind = _KIND_OF_CLASS.get(cls)
    if kind is None:
        kind = next(kind for kind in ARGUMENT_KINDS if kind.matches(value))
        # Only of these can the class alone tell; and a class of the user's must not be kept alive.
        if cls.__module__ in ("builtins", "numpy", "torch", "torch.nn.parameter"):
            _KIND_OF_CLASS[cls] = kind
    return kind


_KIND_OF_CLASS: dict[type, ArgumentKind] = {}


def quick_key(value: Any) -> Any:
    """The quick key of a run-time argument."""
    return kind_of(value).key_part(value)


class QuickKeys(dict[type, Callable[[Any], Any]]):
    """The function that gives the quick key of an argument, by its class: `QUICK_KEYS[cls](x)`."""

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        if cls in _KIND_OF_CLASS:
            self[cls] = _KIND_OF_CLASS[cls].key_part
        return quick_key


QUICK_KEYS = QuickKeys()


# -- numbers


def number_type(name: str, value: Any) -> ScalarType:
    """The type of a Python or NumPy number: bool, f32, or the first of i32, i64, u64 it fits."""
    if isinstance(value, np.floating):
        return F32
    try:
        return natural(value.item() if isinstance(value, np.generic) else value)
    except CompileValueError as error:
        raise CompileValueError(f"{name}: {error.message}") from None


def _int_key(value: int) -> Any:
    if -0x80000000 <= value <= 0x7FFFFFFF:
        return "i32"
    return number_type("", value) if -(2**63) <= value < 2**64 else NEEDS_FULL_KEY


def _numpy_int_key(value: Any) -> Any:
    return "numpy", _int_key(int(value))


def _describe_number(parameter: Parameter, name: str, value: Any) -> Described:
    declared = parameter.declared
    if declared is None:
        return Described(number_type(name, value))
    if isinstance(declared, PointerType):
        raise CompileTypeError(f"{name}: an array is needed ({declared}), got {value!r}")
    if declared.kind in "iu" and not declared.min_int <= value <= declared.max_int:
        raise CompileValueError(f"{name}: {value} does not fit {declared.name}, its annotation")
    if declared.kind in "iu" and value != int(value):
        raise CompileTypeError(f"{name}: {declared.name} is annotated, got {value!r}")
    return Described(declared)


def _number_converter(ty: Any, value: Any) -> Callable[[Any], bool | int | float]:
    """What makes an argument the number that the type holds: floats are rounded to the format, and
    those beyond it are infinite."""
    if ty.kind == "b":
        return bool
    if ty.kind != "f":
        return int
    if ty is F32 and isinstance(value, (float, np.floating)):
        # A C float: rounds to nearest even, and takes what is too large for infinity.
        return lambda given: ctypes.c_float(given).value
    return lambda given: canonical(ty, given)


def _always(key: Any) -> Callable[[Any], Any]:
    return lambda value: key


def _needs_full_key(value: Any) -> Any:
    return NEEDS_FULL_KEY


def _number_kind(*classes: type, key_part: Callable[[Any], Any]) -> ArgumentKind:
    return ArgumentKind(
        lambda value: isinstance(value, classes), key_part, _describe_number, _number_converter
    )


# -- arrays


def _describe_array(kind: ArrayKind, parameter: Parameter, name: str, value: Any) -> Described:
    found = kind.describe(name, value)
    ty = PointerType(found.type.element, True) if parameter.is_const else found.type
    if isinstance(parameter.declared, PointerType):
        ty = parameter.declared
    return Described(ty, ((name, found),))


def _array_converter(kind: ArrayKind, ty: Any, value: Any) -> Converter:
    return partial(kind.buffer, ty)


def _array_argument(kind: ArrayKind) -> ArgumentKind:
    return ArgumentKind(
        kind.matches,
        _needs_full_key if kind.key_part is None else kind.key_part,
        partial(_describe_array, kind),
        partial(_array_converter, kind),
    )


# -- tuples and descriptors, known values, and what is refused


def _tuple_key(value: tuple[Any, ...]) -> Any:
    parts = [kind_of(part).key_part(part) for part in value]
    return NEEDS_FULL_KEY if NEEDS_FULL_KEY in parts else (type(value), *parts)


def _describe_tuple(parameter: Parameter, name: str, value: Any) -> Described:
    value = parts_of(value)
    found = [
        kind_of(part).describe(parameter, f"{name}[{i}]", part) for i, part in enumerate(value)
    ]
    types = getattr(type(value), "_make", tuple)(part.type for part in found)
    return Described(types, tuple(array for part in found for array in part.arrays))


def _tuple_converter(types: Any, value: Any) -> Converter:
    parts = converters(types, parts_of(value))
    return lambda given: flatten(make(part) for make, part in zip(parts, parts_of(given)))


def _known_key(value: Any) -> Any:
    try:
        return exact(value)
    except TypeError:
        return NEEDS_FULL_KEY


def _describe_known(parameter: Parameter, name: str, value: Any) -> Described:
    if isinstance(value, str) and name == parameter.name:  # those inside a tuple are constants
        raise CompileTypeError(
            f"{name}: a string is known when the kernel is compiled, got {value!r} for a run-time"
            f" argument; annotate the parameter `{parameter.name}: tl.constexpr`"
        )
    return Described(Constexpr(unwrap(value)))


def _nothing(ty: Any, value: Any) -> Converter:
    return lambda given: []


def _is_known(value: Any) -> bool:
    known = (str, ScalarType, PointerType, constexpr, enum.Enum)
    return value is None or isinstance(value, known) or (callable(value) and hasattr(value, "fn"))


def _refuse(parameter: Parameter, name: str, value: Any) -> Described:
    raise CompileTypeError(
        f"{name}: an argument of type {type(value).__name__} is not supported; allowed are arrays"
        " (NumPy, torch, CuPy, DLPack), bool, int, float, None and tuples of these; annotate the"
        " parameter tl.constexpr to pass a compile-time value"
    )


ARGUMENT_KINDS: tuple[ArgumentKind, ...] = (
    _number_kind(bool, np.bool_, key_part=_always("bool")),
    _number_kind(int, key_part=_int_key),
    _number_kind(np.integer, key_part=_numpy_int_key),
    _number_kind(float, np.floating, key_part=_always("f32")),
    ArgumentKind(
        lambda value: isinstance(value, TensorDescriptor),
        _needs_full_key,
        _describe_tuple,
        _tuple_converter,
    ),
    ArgumentKind(
        lambda value: isinstance(value, tuple), _tuple_key, _describe_tuple, _tuple_converter
    ),
    ArgumentKind(_is_known, _known_key, _describe_known, _nothing),
    *map(_array_argument, ARRAY_KINDS),
    ArgumentKind(lambda value: True, _needs_full_key, _refuse, _nothing),
)
"""The first row that matches counts."""


# -- the arguments of a launch


def is_array(value: Any) -> bool:
    """Whether the value is some library's array."""
    return array_kind(value) is not None


def one_family(arrays: Iterable[tuple[str, ArrayInfo]]) -> ArrayInfo | None:
    """The family all arrays are of; None without arrays. Raises CompileTypeError for a mixture."""
    first: tuple[str, ArrayInfo] | None = None
    for name, found in arrays:
        if first is None:
            first = name, found
        elif (found.family, found.device) != (first[1].family, first[1].device):
            raise CompileTypeError(
                "all arrays of a launch must be of one kind, got"
                f" {first[0]}: {first[1]} and {name}: {found}"
            )
    return first[1] if first else None


def key_part_of(parameter: Parameter) -> Callable[[Any], Any]:
    """The quick key of arguments of a parameter: equal keys mean one compilation;
    `NEEDS_FULL_KEY` where only a full look will tell."""
    if parameter.is_constexpr:
        return partial(constexpr_key, parameter.name)
    declared = parameter.declared
    if declared is None:
        return quick_key
    if isinstance(declared, ScalarType) and declared.kind in "iu":
        low, high = declared.min_int, declared.max_int
        return lambda value: (
            "fits" if type(value) is int and low <= value <= high else NEEDS_FULL_KEY
        )
    numbers = (float, int, bool)
    return lambda value: type(value) if type(value) in numbers else NEEDS_FULL_KEY


def converters(types: Sequence[Any], values: Sequence[Any]) -> list[Converter]:
    """One converter per run-time argument, for arguments like these."""
    return [kind_of(value).converter(ty, value) for ty, value in zip(types, values)]


def flatten(parts: Iterable[Any]) -> list[Argument]:
    """One list of what converters made."""
    return [x for part in parts for x in (part if isinstance(part, list) else [part])]


__all__ = [
    "ARGUMENT_KINDS",
    "NEEDS_FULL_KEY",
    "ArgumentKind",
    "ArrayInfo",
    "Buffer",
    "Described",
    "MockTensor",
    "TensorWrapper",
    "converters",
    "flatten",
    "is_array",
    "key_part_of",
    "kind_of",
    "one_family",
    "reinterpret",
]
