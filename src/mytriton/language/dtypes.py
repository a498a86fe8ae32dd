"""The dtype objects under their public names.

There are no second type objects; `tl.float32 is ir.types.F32`. `tl.dtype`,
`tl.pointer_type` and `tl.block_type` are only ways to say the IR types in Triton's words.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import CompileTypeError
from ..ir.triton_types import KIND, TritonType
from ..ir.types import (
    BF16,
    BOOL,
    BY_NAME,
    BY_TRITON_NAME,
    F8E4M3B15,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    SCALARS,
    U8,
    U16,
    U32,
    U64,
    Element,
    PointerType,
    ScalarType,
    VectorType,
    element_of,
    parse_type,
    shape_of,
)
from .constexpr import unwrap

int1, int8, int16, int32, int64 = BOOL, I8, I16, I32, I64
uint8, uint16, uint32, uint64 = U8, U16, U32, U64
float16, bfloat16, float32, float64 = F16, BF16, F32, F64
float8e4nv, float8e5 = F8E4M3FN, F8E5M2
float8e4b8, float8e5b16, float8e4b15 = F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3B15
pi32_t = PointerType(I32)


class _Void(TritonType):
    """The type of nothing."""

    name = "void"
    ir = "void"

    def is_void(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "void"


void = _Void()


class _TypeMaker(type):
    """A class that makes, and recognises as its instances, types of the IR."""

    types: tuple[type, ...] = ()

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.types)


class SIGNEDNESS(enum.Enum):
    """Whether ints have negative values."""

    SIGNED = 0
    UNSIGNED = 1


class dtype(TritonType, metaclass=_TypeMaker):
    """`tl.dtype("fp32")`: the type of that name; every IR type is an instance."""

    SINT_TYPES: ClassVar = [row.name for row in SCALARS if row.kind == "i"]
    UINT_TYPES: ClassVar = [row.name for row in SCALARS if row.kind in "bu"]
    FP_TYPES: ClassVar = [row.name for row in SCALARS if row.kind == "f"]
    STANDARD_FP_TYPES: ClassVar = [row.name for row in SCALARS if row.kind == "f" and row.bits > 8]
    OTHER_TYPES: ClassVar = ["void"]
    KIND = KIND
    SIGNEDNESS = SIGNEDNESS
    types: ClassVar[tuple[Any, ...]] = (ScalarType, PointerType, VectorType, _Void)

    def __new__(cls, name: str) -> Any:
        return as_dtype(name)

    @staticmethod
    def is_dtype(type_str: str) -> bool:
        """Whether a scalar type has this name."""
        return type_str in BY_NAME


class pointer_type(dtype):
    """`tl.pointer_type(element_ty, address_space, const)`: the type of a pointer to elements."""

    types = (PointerType,)

    def __new__(cls, element_ty: Any, address_space: Any = 1, const: bool = False) -> Any:
        return PointerType(as_dtype(element_ty), bool(unwrap(const)))


class block_type(dtype):
    """`tl.block_type(element_ty, shape)`: the type of a block; the element type itself for ()."""

    types = (VectorType,)

    def __new__(cls, element_ty: Any, shape: Sequence[int]) -> Any:
        extents = tuple(int(extent) for extent in unwrap(shape))
        return VectorType(extents, as_dtype(element_ty)) if extents else as_dtype(element_ty)


class constexpr_type:
    """The type of a constexpr: its value."""

    def __init__(self, value: Any) -> None:
        self.value = unwrap(value)

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"

    def mangle(self) -> str:
        """A short name of the type."""
        return repr(self)


class tuple_type:
    """The type of a tuple: those of its items, and their names where it has them."""

    def __init__(self, types: Sequence[Any], fields: Sequence[str] | None = None) -> None:
        self.types = list(types)
        self.fields = list(fields) if fields else [""] * len(self.types)
        self.name = f"[{','.join(map(str, self.types))}]"

    def mangle(self) -> str:
        """A short name of the type."""
        return f"T{'_'.join(ty.mangle() for ty in self.types)}T"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, tuple_type)
            and self.types == other.types
            and self.fields == other.fields
        )

    def __hash__(self) -> int:
        return hash((tuple(map(repr, self.types)), tuple(self.fields)))

    def __iter__(self) -> Any:
        return iter(self.types)

    def __getitem__(self, index: int) -> Any:
        return self.types[index]


def as_dtype(value: Any) -> Element:
    """The element type that is meant: a dtype, a block's element type, or a name such as "fp32",
    "*fp32", "*kfp32" (const).

    Raises CompileTypeError for anything else.
    """
    value = unwrap(value)
    if isinstance(value, (ScalarType, PointerType, VectorType)):
        return element_of(value)
    named = parse_type(value) if isinstance(value, str) else None
    if named is not None:
        return named
    raise CompileTypeError(f"a dtype such as tl.float32 is needed, got {value!r}")


def str_to_ty(name: Any, c: Any = None) -> Any:
    """The type of a signature's entry: "fp32", "*fp32", "constexpr" (of value `c`), or a tuple."""
    if isinstance(name, tuple):
        values = c if c is not None else [None] * len(name)
        return tuple_type([str_to_ty(item, value) for item, value in zip(name, values)])
    return constexpr_type(c) if name == "constexpr" else as_dtype(name)


def get_int_dtype(bitwidth: int, signed: bool) -> ScalarType:
    """The int type of this width. Raises CompileTypeError if there is none."""
    width, sign = int(unwrap(bitwidth)), bool(unwrap(signed))
    if width == 1:
        return BOOL
    name = f"{'int' if sign else 'uint'}{width}"
    if name not in BY_TRITON_NAME:
        raise CompileTypeError(f"there is no int of {width} bits; 1, 8, 16, 32 and 64 are allowed")
    return BY_TRITON_NAME[name]


__all__ = [
    "as_dtype",
    "bfloat16",
    "block_type",
    "constexpr_type",
    "dtype",
    "float8e4b8",
    "float8e4b15",
    "float8e4nv",
    "float8e5",
    "float8e5b16",
    "float16",
    "float32",
    "float64",
    "get_int_dtype",
    "int1",
    "int8",
    "int16",
    "int32",
    "int64",
    "pi32_t",
    "pointer_type",
    "shape_of",
    "str_to_ty",
    "tuple_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "void",
]
