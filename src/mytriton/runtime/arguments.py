"""What a launch is given: arrays of any library and numbers, as types and as what targets take.

One idea: an array is known by what it can do, not by its class, and no array library is imported to
find out. `describe` gives its family and element type when a kernel is compiled; `buffer` its
memory at each launch.

    family   "numpy" (also DLPack and buffers of host memory), "torch", "cupy", "cuda" (anything
             with `__cuda_array_interface__`); all arrays of a launch are of one
"""

from __future__ import annotations

import ctypes
import enum
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import CompileTypeError, CompileValueError
from ..frontend.signature import Constexpr
from ..ir.numeric import canonical
from ..ir.types import (
    BF16,
    BOOL,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F16,
    F32,
    F64,
    SCALARS,
    PointerType,
    ScalarType,
)
from ..language.constexpr import constexpr, unwrap
from ..language.semantics import natural
from ..targets.memory import Argument, Buffer
from .constexprs import constexpr_key
from .descriptor import parts_of

DTYPE_NAMES: dict[str, ScalarType] = {
    **{row.name: row for row in SCALARS if row.kind in "iu"},
    "bool": BOOL,
    "float16": F16,
    "bfloat16": BF16,
    "float32": F32,
    "float64": F64,
    "float8_e4m3fn": F8E4M3FN,
    "float8_e5m2": F8E5M2,
    "float8_e4m3fnuz": F8E4M3FNUZ,
    "float8_e5m2fnuz": F8E5M2FNUZ,
}
"""Element types by the name that NumPy, ml_dtypes and torch give them."""

HOST = ("numpy", "torch")
NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


@dataclass(frozen=True)
class ArrayInfo:
    """One array argument: its family, whether its memory is a GPU's, its pointer type."""

    family: str
    device: bool
    type: PointerType


class TensorWrapper:
    """A tensor read as another element type of the same size; see `reinterpret`."""

    def __init__(self, base: Any, dtype: ScalarType) -> None:
        self.base, self.dtype = base, dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def data_ptr(self) -> int:
        return int(self.base.data_ptr())


def reinterpret(tensor: Any, dtype: ScalarType) -> Any:
    """The tensor with its bits read as another element type, for kernels only."""
    return TensorWrapper(getattr(tensor, "base", tensor), dtype)


def element_type(dtype: Any, name: str) -> ScalarType:
    """The element type of an array library's dtype. Raises CompileTypeError naming the argument."""
    if isinstance(dtype, ScalarType):
        return dtype
    if isinstance(dtype, np.dtype) and not dtype.isnative:
        raise CompileTypeError(f"{name}: byte order {dtype.str!r} is not supported")
    text = getattr(dtype, "name", None) or str(dtype)
    found = DTYPE_NAMES.get(text.split(".")[-1])
    if found is None:
        allowed = ", ".join(DTYPE_NAMES)
        raise CompileTypeError(f"{name}: arrays of {text} are not supported; allowed are {allowed}")
    return found


def is_array(value: Any) -> bool:
    """Whether the value is some library's array."""
    if isinstance(value, np.ndarray):
        return True
    if isinstance(value, (*NUMBERS, type)):
        return False
    names = ("data_ptr", "__cuda_array_interface__", "__dlpack__", "__array_interface__")
    return any(hasattr(value, attribute) for attribute in names)


def describe(name: str, array: Any) -> ArrayInfo:
    """The family and type of an array. Raises CompileTypeError naming the argument."""
    if isinstance(array, np.ndarray):
        if isinstance(array, np.ma.MaskedArray):
            raise CompileTypeError(
                f"{name}: a masked array is not supported, since kernels would not see its mask;"
                f" pass {name}.filled(…), or {name}.data and {name}.mask"
            )
        contiguous(name, array.flags.c_contiguous)
        return ArrayInfo("numpy", False, PointerType(element_type(array.dtype, name)))
    if hasattr(array, "data_ptr") and hasattr(array, "dtype"):
        kind = getattr(getattr(array, "device", None), "type", "cpu")
        if kind not in ("cpu", "cuda"):
            raise CompileTypeError(f"{name}: tensors on device {kind!r} are not supported")
        plain_memory(name, array)
        return ArrayInfo("torch", kind == "cuda", PointerType(element_type(array.dtype, name)))
    module = type(array).__module__.partition(".")[0]
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        if module == "cupy":
            contiguous(name, array.flags.c_contiguous)
        dtype = getattr(array, "dtype", None) or np.dtype(interface["typestr"])
        family = "cupy" if module == "cupy" else "cuda"
        return ArrayInfo(family, True, PointerType(element_type(dtype, name)))
    return describe(name, as_numpy(name, array))


def start_of(name: str, tensor: Any) -> int:
    """The address of a tensor. Raises CompileTypeError for one without memory of its own, such as a
    sparse one.
    """
    try:
        return int(tensor.data_ptr())
    except RuntimeError as error:
        layout = getattr(tensor, "layout", type(tensor).__name__)
        raise CompileTypeError(
            f"{name}: a tensor with plain memory is needed, got one of layout {layout}: {error}"
        ) from None


def plain_memory(name: str, tensor: Any) -> None:
    """Raises CompileTypeError for a tensor whose memory does not hold its elements: a negated view,
    or one without storage, as fake tensors are."""
    if getattr(tensor, "is_neg", bool)():
        raise CompileTypeError(
            f"{name}: the tensor is a view that negates its memory (is_neg); pass"
            f" {name}.resolve_neg()"
        )
    is_fake = getattr(tensor, "fake_mode", None) is not None
    if is_fake or (not start_of(name, tensor) and getattr(tensor, "numel", bool)()):
        kind = type(tensor).__name__
        raise CompileTypeError(
            f"{name}: this {kind} of {tensor.numel()} elements has no memory (a fake tensor, or a"
            " storage resized to 0); kernels need real data"
        )


def contiguous(name: str, is_contiguous: bool) -> None:
    if not is_contiguous:
        raise CompileTypeError(
            f"{name}: only C-contiguous arrays are supported; pass np.ascontiguousarray({name})"
        )


def as_numpy(name: str, array: Any) -> np.ndarray[Any, Any]:
    """A host array that shares the memory of an object with `__dlpack__` or an array interface."""
    try:
        if hasattr(array, "__array_interface__"):
            return np.asarray(array)
        if array.__dlpack_device__()[0] != 1:
            raise CompileTypeError(f"{name}: a DLPack object on a GPU needs CuPy: cupy.from_dlpack")
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, AttributeError) as error:
        kind = type(array).__name__
        raise CompileTypeError(f"{name}: {kind} cannot be shared: {error}") from None


def number_type(name: str, value: Any) -> ScalarType:
    """The type of a Python or NumPy number: bool, f32, or the first of i32, i64, u64 it fits."""
    if isinstance(value, np.floating):
        return F32
    try:
        return natural(value.item() if isinstance(value, np.generic) else value)
    except CompileValueError as error:
        raise CompileValueError(f"{name}: {error.message}") from None


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel, under the names that Triton gives them."""

    name: str
    num: int
    default: Any
    annotation: Any
    is_constexpr: bool
    is_const: bool
    declared: ScalarType | PointerType | None
    do_not_specialize: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not Parameter.empty

    class empty:
        """The default of a parameter without one."""


def argument_type(parameter: Parameter, name: str, value: Any) -> Any:
    """The IR type of a run-time argument, a tuple of them, or a `Constexpr` for what can only be
    known. Raises CompileTypeError naming the argument."""
    value = parts_of(value)
    if isinstance(value, NUMBERS):
        return _declared_number(parameter, name, value)
    if value is None or isinstance(value, (str, ScalarType, PointerType, constexpr)):
        return Constexpr(unwrap(value))
    if isinstance(value, tuple):
        parts = [argument_type(parameter, f"{name}[{i}]", part) for i, part in enumerate(value)]
        return getattr(type(value), "_make", tuple)(parts)
    if is_array(value):
        found = describe(name, value).type
        if isinstance(parameter.declared, PointerType):
            return parameter.declared
        return PointerType(found.element, True) if parameter.is_const else found
    if isinstance(value, enum.Enum) or (callable(value) and hasattr(value, "fn")):
        return Constexpr(value)
    raise CompileTypeError(
        f"{name}: an argument of type {type(value).__name__} is not supported; allowed are arrays"
        " (NumPy, torch, CuPy, DLPack), bool, int, float, None and tuples of these; annotate the"
        " parameter tl.constexpr to pass a compile-time value"
    )


def _declared_number(parameter: Parameter, name: str, value: Any) -> ScalarType:
    declared = parameter.declared
    if declared is None:
        return number_type(name, value)
    if isinstance(declared, PointerType):
        raise CompileTypeError(f"{name}: an array is needed ({declared}), got {value!r}")
    if declared.kind in "iu" and not declared.min_int <= value <= declared.max_int:
        raise CompileValueError(f"{name}: {value} does not fit {declared.name}, its annotation")
    if declared.kind in "iu" and value != int(value):
        raise CompileTypeError(f"{name}: {declared.name} is annotated, got {value!r}")
    return declared


def arrays_in(values: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The arrays among arguments, tuples taken apart, with their names."""
    for name, given in values:
        value = parts_of(given)
        if isinstance(value, tuple):
            yield from arrays_in([(f"{name}[{i}]", part) for i, part in enumerate(value)])
        elif is_array(value):
            yield name, value


def one_family(values: Sequence[tuple[str, Any]]) -> ArrayInfo | None:
    """The family all arrays are of; None without arrays. Raises CompileTypeError for a mixture."""
    first: tuple[str, ArrayInfo] | None = None
    for name, array in arrays_in(values):
        found = describe(name, array)
        if first is None:
            first = name, found
        elif (found.family, found.device) != (first[1].family, first[1].device):
            raise CompileTypeError(
                "all arrays of a launch must be of one kind, got"
                f" {first[0]}: {_kind(first[1])} and {name}: {_kind(found)}"
            )
    return first[1] if first else None


def _kind(found: ArrayInfo) -> str:
    names = {"numpy": "NumPy", "torch": "torch", "cupy": "CuPy", "cuda": "CUDA"}
    where = (" CUDA" if found.device else " CPU") if found.family == "torch" else ""
    return names[found.family] + where


def converters(types: Sequence[Any], values: Sequence[Any]) -> list[Callable[[Any], Any]]:
    """For each run-time argument, what makes of an argument like it what targets take; of a tuple,
    a list."""
    return [_converter(ty, value) for ty, value in zip(types, values)]


def _converter(ty: Any, value: Any) -> Callable[[Any], Any]:
    if isinstance(ty, tuple):
        parts = converters(ty, parts_of(value))
        return lambda given: flat(make(part) for make, part in zip(parts, parts_of(given)))
    if isinstance(ty, ScalarType):
        return _number_converter(ty)
    if not isinstance(ty, PointerType):
        return lambda given: []
    return partial(_numpy_buffer if isinstance(value, np.ndarray) else buffer, ty)


def _number_converter(ty: ScalarType) -> Callable[[Any], bool | int | float]:
    """What makes an argument the number that the type holds: floats are rounded to the format, and
    those beyond it are infinite."""
    if ty.kind == "b":
        return bool
    if ty.kind != "f":
        return int
    if ty is F32:
        # A C float: rounds to nearest even, and takes what is too large for infinity.
        return lambda given: ctypes.c_float(given).value
    return lambda given: canonical(ty, given)


def flat(parts: Iterable[Any]) -> list[Argument]:
    """One list of what converters made."""
    return [x for part in parts for x in (part if isinstance(part, list) else [part])]


def _quick_address() -> Callable[[Any], int]:
    """What gives an array's address ten times as fast as `array.ctypes.data`.

    The address is the first field after the object's head in NumPy's C structure; whether it is
    here, on this Python, is tried out.
    """
    head = object.__basicsize__
    read = ctypes.c_void_p.from_address

    def quick(array: Any) -> int:
        return read(id(array) + head).value or 0

    probe = np.zeros(4, np.uint8)
    parts = (probe, probe[1:], probe[3:])
    agree = sys.implementation.name == "cpython" and all(
        quick(part) == part.ctypes.data for part in parts
    )
    return quick if agree else lambda array: int(array.ctypes.data)


_address = _quick_address()
_new_buffer = partial(object.__new__, Buffer)


def _numpy_buffer(ty: PointerType, array: Any) -> Buffer:
    """A Buffer made field by field: a third of the time of its own `__init__`."""
    made = _new_buffer()
    fields = made.__dict__
    fields["type"] = ty
    address = fields["address"] = _address(array)
    if address & (ty.element.itemsize - 1):
        raise unaligned(ty, address)
    fields["nbytes"] = array.nbytes
    fields["owner"] = array
    fields["writable"] = array.flags.writeable
    fields["before"] = 0
    return made


def unaligned(ty: PointerType, address: int) -> CompileTypeError:
    """What an array raises whose elements do not start at multiples of their size."""
    size = ty.element.itemsize
    return CompileTypeError(
        f"an array of {ty.element} starts at address {address:#x}, which is no multiple of {size};"
        " kernels need aligned arrays: pass a copy"
    )


def buffer(ty: PointerType, array: Any) -> Buffer:
    """The memory of an array argument."""
    if isinstance(array, np.ndarray):
        return _numpy_buffer(ty, array)
    if hasattr(array, "data_ptr"):
        return _storage(ty, array)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        address, read_only = interface["data"]
        if address & (ty.element.itemsize - 1):
            raise unaligned(ty, address)
        return Buffer(ty, address, getattr(array, "nbytes", None), array, not read_only)
    return buffer(ty, as_numpy("", array))


def _storage(ty: PointerType, tensor: Any) -> Buffer:
    """A tensor's memory is its whole storage, whatever part of it the tensor shows."""
    address = start_of("a tensor", tensor)
    plain_memory("a tensor", tensor)
    if address & (ty.element.itemsize - 1):
        raise unaligned(ty, address)
    storage = getattr(tensor, "untyped_storage", None)
    if storage is None:
        return Buffer(ty, address, None, tensor)
    whole = storage()
    before = address - whole.data_ptr()
    return Buffer(ty, address, whole.nbytes() - before, tensor, True, before)


# -- what a launch looks at first

UNSEEN: Any = type("Unseen", (), {"__repr__": lambda self: "UNSEEN"})()
"""Says that an argument must be looked at in full."""


def _array_piece(array: Any) -> Any:
    return array.dtype if array.flags.c_contiguous else UNSEEN


def _int_piece(value: int) -> Any:
    if -0x80000000 <= value <= 0x7FFFFFFF:
        return "i32"
    return number_type("", value) if -(2**63) <= value < 2**64 else UNSEEN


def _tensor_piece(tensor: Any) -> Any:
    return tensor.dtype, tensor.device


_PIECES: dict[type, Callable[[Any], Any]] = {
    np.ndarray: _array_piece,
    int: _int_piece,
    float: lambda value: "f32",
    bool: lambda value: "bool",
    type(None): lambda value: None,
}


def _piece(value: Any) -> Any:
    kind = type(value)
    make = _PIECES.get(kind)
    if make is not None:
        return make(value)
    if kind.__module__ == "torch" and hasattr(value, "data_ptr"):
        _PIECES[kind] = _tensor_piece
        return _tensor_piece(value)
    return UNSEEN


def piece_of(parameter: Parameter) -> Callable[[Any], Any]:
    """A quick look at an argument of a parameter: equal results mean one compilation; UNSEEN where
    only a full look will tell."""
    if parameter.is_constexpr:
        return lambda value: constexpr_key(parameter.name, value)
    if parameter.declared is not None:
        return lambda value: UNSEEN
    return _piece
