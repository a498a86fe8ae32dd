"""Arrays of any library: what is known of one when a kernel is compiled, its memory at a launch.

An array is known by what it can do, not by its class, and no array library is imported to find out.
A row of `ARRAY_KINDS` says how arrays of one kind are recognised, described and read; all arrays of
a launch are of one family.

    family   "numpy" (also DLPack and buffers of host memory), "torch" (anything with `data_ptr` and
             `dtype`), "cupy", "cuda" (anything with `__cuda_array_interface__`)
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import CompileTypeError
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
from ..targets.memory import Buffer

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


NEEDS_FULL_KEY: Any = type("NeedsFullKey", (), {"__repr__": lambda self: "NEEDS_FULL_KEY"})()
"""A quick key that is none: the argument must be looked at in full."""


@dataclass(frozen=True)
class ArrayInfo:
    """One array argument: its family, whether its memory is a GPU's, its pointer type."""

    family: str
    device: bool
    type: PointerType

    def __str__(self) -> str:
        names = {"numpy": "NumPy", "torch": "torch", "cupy": "CuPy", "cuda": "CUDA"}
        where = (" CUDA" if self.device else " CPU") if self.family == "torch" else ""
        return names[self.family] + where


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


def contiguous(name: str, is_contiguous: bool) -> None:
    """Raises CompileTypeError for an array with gaps, or in another order than C's."""
    if not is_contiguous:
        raise CompileTypeError(
            f"{name}: only C-contiguous arrays are supported; pass np.ascontiguousarray({name})"
        )


def aligned(ty: PointerType, address: int) -> int:
    """The address. Raises CompileTypeError for elements that are not at multiples of their size,
    which processors and the code made for them rely on."""
    size = ty.element.itemsize
    if address & (size - 1):
        raise CompileTypeError(
            f"an array of {ty.element} starts at address {address:#x}, which is no multiple of"
            f" {size}; kernels need aligned arrays: pass a copy"
        )
    return address


# -- NumPy


def _describe_numpy(name: str, array: Any) -> ArrayInfo:
    if isinstance(array, np.ma.MaskedArray):
        raise CompileTypeError(
            f"{name}: a masked array is not supported, since kernels would not see its mask;"
            f" pass {name}.filled(…), or {name}.data and {name}.mask"
        )
    contiguous(name, array.flags.c_contiguous)
    return ArrayInfo("numpy", False, PointerType(element_type(array.dtype, name)))


HEAD = object.__basicsize__
_read = ctypes.c_void_p.from_address


def _quick_address(array: Any) -> int:
    """An array's address, ten times as fast as `array.ctypes.data`: it is the first field after the
    object's head in NumPy's C structure (`PyArrayObject` of `ndarraytypes.h`)."""
    return _read(id(array) + HEAD).value or 0


def _address_follows_head() -> bool:
    """Whether it is so here, on this Python: tried out."""
    probe = np.zeros(4, np.uint8)
    parts = (probe, probe[1:], probe[3:])
    return sys.implementation.name == "cpython" and all(
        _quick_address(part) == part.ctypes.data for part in parts
    )


QUICK = _address_follows_head()
numpy_address: Callable[[Any], int] = (
    _quick_address if QUICK else lambda array: int(array.ctypes.data)
)
_new_buffer = partial(object.__new__, Buffer)


def _numpy_buffer(ty: PointerType, array: Any) -> Buffer:
    """A Buffer made field by field: a third of the time of its own `__init__`."""
    made = _new_buffer()
    fields = made.__dict__
    fields["type"] = ty
    fields["address"] = aligned(ty, numpy_address(array))
    fields["nbytes"] = array.nbytes
    fields["owner"] = array
    fields["writable"] = array.flags.writeable
    fields["before"] = 0
    return made


# -- torch, and what looks like it


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


def plain_memory(name: str, tensor: Any) -> int:
    """The address of a tensor.

    Raises CompileTypeError for one whose memory does not hold its elements: a negated view, or one
    without storage, as fake tensors are.
    """
    if getattr(tensor, "is_neg", bool)():
        raise CompileTypeError(
            f"{name}: the tensor is a view that negates its memory (is_neg); pass"
            f" {name}.resolve_neg()"
        )
    is_fake = getattr(tensor, "fake_mode", None) is not None
    address = 0 if is_fake else start_of(name, tensor)
    if not address and getattr(tensor, "numel", bool)():
        raise CompileTypeError(
            f"{name}: this {type(tensor).__name__} of {tensor.numel()} elements has no memory (a"
            " fake tensor, or a storage resized to 0); kernels need real data"
        )
    return address


def _describe_tensor(name: str, tensor: Any) -> ArrayInfo:
    kind = getattr(getattr(tensor, "device", None), "type", "cpu")
    if kind not in ("cpu", "cuda"):
        raise CompileTypeError(f"{name}: tensors on device {kind!r} are not supported")
    element = element_type(tensor.dtype, name)
    plain_memory(name, tensor)
    return ArrayInfo("torch", kind == "cuda", PointerType(element))


def _tensor_buffer(ty: PointerType, tensor: Any) -> Buffer:
    """A tensor's memory is its whole storage, whatever part of it the tensor shows."""
    address = aligned(ty, plain_memory("a tensor", tensor))
    storage = getattr(tensor, "untyped_storage", None)
    if storage is None:
        return Buffer(ty, address, None, tensor)
    whole = storage()
    before = address - whole.data_ptr()
    return Buffer(ty, address, whole.nbytes() - before, tensor, True, before)


# -- CUDA arrays that are no torch tensors


def _describe_cuda(name: str, array: Any) -> ArrayInfo:
    is_cupy = type(array).__module__.partition(".")[0] == "cupy"
    if is_cupy:
        contiguous(name, array.flags.c_contiguous)
    interface = array.__cuda_array_interface__
    dtype = getattr(array, "dtype", None) or np.dtype(interface["typestr"])
    element = PointerType(element_type(dtype, name))
    return ArrayInfo("cupy" if is_cupy else "cuda", True, element)


def _cuda_buffer(ty: PointerType, array: Any) -> Buffer:
    address, read_only = array.__cuda_array_interface__["data"]
    nbytes = getattr(array, "nbytes", None)
    return Buffer(ty, aligned(ty, address), nbytes, array, not read_only)


# -- what shares its memory with a NumPy array


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


def _describe_shared(name: str, array: Any) -> ArrayInfo:
    return _describe_numpy(name, as_numpy(name, array))


def _shared_buffer(ty: PointerType, array: Any) -> Buffer:
    return _numpy_buffer(ty, as_numpy("an array", array))


@dataclass(frozen=True)
class Reader:
    """Python text that reads the array `v#`; `#` stands for its place among the values.

    same: true where it has the key of an array whose class it has, whose dtype is `d#`, and which
    lies on the GPU of number `g#`. address: sets `a#`, its first element, and what `span` needs;
    span: sets `s#` and `e#`, where its memory starts and ends. amiss: true where the array must be
    looked at in full; locked: true where it may not be written. device: the number of the GPU that
    an array lies on; None for arrays on the host.
    """

    same: str
    address: str
    span: str
    amiss: str = ""
    locked: str = ""
    device: Callable[[Any], int] | None = None


@dataclass(frozen=True)
class ArrayKind:
    """How arrays of one kind are handled.

    matches: whether an object is one. describe(name, array): what a compilation depends on; raises
    CompileTypeError naming the argument. buffer(type, array): its memory, at each launch.
    key_part(array): arrays of equal keys are described alike; None where nothing quick can tell.
    reader: how generated code reads one (`quick.py`); None where it cannot.
    """

    matches: Callable[[Any], bool]
    describe: Callable[[str, Any], ArrayInfo]
    buffer: Callable[[PointerType, Any], Buffer]
    key_part: Callable[[Any], Any] | None = None
    reader: Reader | None = None


NUMPY_READER = Reader(
    same="v#.dtype is d# and v#.flags.c_contiguous",
    address=(
        f"a# = s# = address(id(v#) + {HEAD}).value or 0" if QUICK else "a# = s# = v#.ctypes.data"
    ),
    span="e# = s# + v#.nbytes",
    locked="not v#.flags.writeable",
)
TORCH_READER = Reader(
    same="v#.dtype is d# and v#.is_cpu",
    address="a# = v#.data_ptr()",
    span="m# = v#.untyped_storage(); s# = m#.data_ptr(); e# = s# + m#.nbytes()",
    amiss="not a# or v#.is_neg()",
)
TORCH_GPU_READER = replace(
    TORCH_READER,
    same="v#.dtype is d# and v#.get_device() == g#",
    device=lambda tensor: int(tensor.get_device()),
)
CUPY_READER = Reader(
    same="v#.dtype is d# and v#.flags.c_contiguous and v#.data.device_id == g#",
    address="a# = s# = v#.data.ptr",
    span="e# = s# + v#.nbytes",
    device=lambda array: int(array.data.device_id),
)


def _is_numpy(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _numpy_key(array: Any) -> Any:
    if type(array) is np.ndarray and array.flags.c_contiguous:
        return array.dtype
    return NEEDS_FULL_KEY


def _is_torch(value: Any) -> bool:
    """Whether it is a tensor or parameter; torch's other classes are looked at in full."""
    is_plain = type(value).__module__ in ("torch", "torch.nn.parameter")
    return is_plain and hasattr(value, "data_ptr")


def _is_torch_on_gpu(value: Any) -> bool:
    return _is_torch(value) and getattr(value, "is_cuda", False) is True


def _torch_key(tensor: Any) -> Any:
    return tensor.dtype, tensor.device


def _is_cupy(value: Any) -> bool:
    kind = type(value)
    return (kind.__module__.partition(".")[0], kind.__name__) == ("cupy", "ndarray")


def _cupy_key(array: Any) -> Any:
    return (array.dtype, array.data.device_id) if array.flags.c_contiguous else NEEDS_FULL_KEY


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda value: all(hasattr(value, name) for name in names)


ARRAY_KINDS: tuple[ArrayKind, ...] = (
    ArrayKind(_is_numpy, _describe_numpy, _numpy_buffer, _numpy_key, NUMPY_READER),
    ArrayKind(_is_torch_on_gpu, _describe_tensor, _tensor_buffer, _torch_key, TORCH_GPU_READER),
    ArrayKind(_is_torch, _describe_tensor, _tensor_buffer, _torch_key, TORCH_READER),
    ArrayKind(_has("data_ptr", "dtype"), _describe_tensor, _tensor_buffer),
    ArrayKind(_is_cupy, _describe_cuda, _cuda_buffer, _cupy_key, CUPY_READER),
    ArrayKind(_has("__cuda_array_interface__"), _describe_cuda, _cuda_buffer),
    ArrayKind(_has("__array_interface__"), _describe_shared, _shared_buffer),
    ArrayKind(_has("__dlpack__"), _describe_shared, _shared_buffer),
)
"""The first row that matches counts."""


def array_kind(value: Any) -> ArrayKind | None:
    """The row of an array; None for what is no array."""
    if isinstance(value, (bool, int, float, str, type, np.generic)):
        return None
    return next((kind for kind in ARRAY_KINDS if kind.matches(value)), None)


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


class MockTensor:
    """Stands for a tensor of a dtype where a kernel is only compiled (`kernel.warmup`).

    dtype: torch's, NumPy's or the language's. shape: its extents, () if not given.
    """

    def __init__(self, dtype: Any, shape: tuple[int, ...] | None = None) -> None:
        self.dtype = dtype
        self.shape = () if shape is None else tuple(shape)

    @staticmethod
    def wrap_dtype(argument: Any) -> Any:
        """A torch or NumPy dtype as the tensor it stands for; anything else as it is."""
        kind = type(argument)
        is_dtype = isinstance(argument, np.dtype) or (kind.__module__, kind.__name__) == (
            "torch",
            "dtype",
        )
        return MockTensor(argument) if is_dtype else argument

    def stride(self) -> tuple[int, ...]:
        """The strides of a contiguous tensor of the shape, in elements."""
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * extent)
        return tuple(strides)[: len(self.shape)]

    @staticmethod
    def data_ptr() -> int:
        """As aligned as can be."""
        return 0

    @staticmethod
    def ptr_range() -> int:
        """The bytes that a pointer may be offset by: none are known."""
        return 0
