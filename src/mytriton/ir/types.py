"""The types of the IR and the facts about each element type, one row a type.

Everything that any part knows of a dtype (its names, width, float format) is a field of its row in
`SCALARS`; the types are frozen and hashable, compare by value, and print as in the SSA text
(`vector<16x32 x f32>`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .triton_types import Kind, TritonType


@dataclass(frozen=True, repr=False)
class ScalarType(TritonType):
    """An element type.

    kind: "b" bool, "i" signed, "u" unsigned, "f" float. `name` is Triton's, `ir` the SSA text's.
    Floats: `exponent` and `mantissa` bits, `bias`, and how the format spells infinity and NaN:
    "ieee" both; "fn" no infinity, NaN is all ones; "fnuz" no infinity, NaN is minus zero's pattern;
    "none" neither.
    """

    ir: str
    name: str
    kind: str
    bits: int
    exponent: int = 0
    mantissa: int = 0
    bias: int = 0
    special: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))

    def __repr__(self) -> str:
        return self.ir

    def __hash__(self) -> int:
        return hash(self.ir)

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory (a bool takes one)."""
        return max(1, self.bits // 8)

    @property
    def min_int(self) -> int:
        """The least value of an integer type."""
        return -(1 << self.bits - 1) if self.kind == "i" else 0

    @property
    def max_int(self) -> int:
        """The greatest value of an integer type."""
        return (1 << self.bits - 1) - 1 if self.kind == "i" else (1 << self.bits) - 1

    @property
    def max_finite(self) -> float:
        """The greatest finite value of a float type."""
        top = (1 << self.exponent) - 1 - self.bias - (self.special == "ieee")
        fraction = 2 - 2.0**-self.mantissa * (2 if self.special == "fn" else 1)
        return math.ldexp(fraction, top)


@dataclass(frozen=True, repr=False)
class PointerType(TritonType):
    """The address of elements of a scalar or pointer type; no stores through `const` ones."""

    element: ScalarType | PointerType
    const: bool = False

    kind = Kind("p")
    bits = 64
    itemsize = 8

    @property
    def name(self) -> str:
        return f"pointer<{self.element.name}>"

    @property
    def ir(self) -> str:
        return f"ptr<{'const ' * self.const}{self.element.ir}>"

    def __repr__(self) -> str:
        return self.ir


Element = ScalarType | PointerType


@dataclass(frozen=True, repr=False)
class VectorType(TritonType):
    """A block: a shape of positive extents (rank 1 or more) and an element type, row-major."""

    shape: tuple[int, ...]
    element: Element

    @property
    def scalar(self) -> Element:
        return self.element

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    numel = size

    @property
    def kind(self) -> str:
        """The kind of the elements."""
        return self.element.kind

    @property
    def nbytes(self) -> int:
        return self.size * self.element.itemsize

    @property
    def ir(self) -> str:
        return f"vector<{'x'.join(map(str, self.shape))} x {self.element.ir}>"

    @property
    def name(self) -> str:
        return f"<[{', '.join(map(str, self.shape))}], {self.element.name}>"

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.shape

    def __repr__(self) -> str:
        return self.ir


Type = ScalarType | PointerType | VectorType

SCALARS: tuple[ScalarType, ...] = (
    ScalarType("bool", "int1", "b", 1),
    ScalarType("i8", "int8", "i", 8),
    ScalarType("i16", "int16", "i", 16),
    ScalarType("i32", "int32", "i", 32),
    ScalarType("i64", "int64", "i", 64),
    ScalarType("u8", "uint8", "u", 8),
    ScalarType("u16", "uint16", "u", 16),
    ScalarType("u32", "uint32", "u", 32),
    ScalarType("u64", "uint64", "u", 64),
    ScalarType("f8e4m3fn", "fp8e4nv", "f", 8, 4, 3, 7, "fn"),
    ScalarType("f8e5m2", "fp8e5", "f", 8, 5, 2, 15, "ieee"),
    ScalarType("f8e4m3fnuz", "fp8e4b8", "f", 8, 4, 3, 8, "fnuz"),
    ScalarType("f8e5m2fnuz", "fp8e5b16", "f", 8, 5, 2, 16, "fnuz"),
    ScalarType("f8e4m3b15", "fp8e4b15", "f", 8, 4, 3, 15, "none"),
    ScalarType("f16", "fp16", "f", 16, 5, 10, 15, "ieee"),
    ScalarType("bf16", "bf16", "f", 16, 8, 7, 127, "ieee"),
    ScalarType("f32", "fp32", "f", 32, 8, 23, 127, "ieee"),
    ScalarType("f64", "fp64", "f", 64, 11, 52, 1023, "ieee"),
)
BY_IR_NAME = {row.ir: row for row in SCALARS}
BY_TRITON_NAME = {row.name: row for row in SCALARS}
TritonType.scalars = BY_TRITON_NAME
BY_NAME = {
    **BY_IR_NAME,
    **BY_TRITON_NAME,
    **{row.codegen_name(): row for row in SCALARS},
    "i1": SCALARS[0],
    "B": SCALARS[0],
}
"""The element types by their names: the SSA text's, Triton's, and all of these with NumPy's."""
BOOL, I8, I16, I32, I64, U8, U16, U32, U64 = SCALARS[:9]
F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3B15, F16, BF16, F32, F64 = SCALARS[9:18]


def element_of(ty: Type) -> Element:
    """The element type of a block; a scalar or pointer type itself."""
    return ty.element if isinstance(ty, VectorType) else ty


def shape_of(ty: Type) -> tuple[int, ...]:
    """The shape of a block; () of a scalar."""
    return ty.shape if isinstance(ty, VectorType) else ()


def with_shape(element: Element, shape: tuple[int, ...]) -> Type:
    """The block type of this shape, or the scalar type itself for ()."""
    return VectorType(tuple(shape), element) if shape else element


def with_element(ty: Type, element: Element) -> Type:
    """The type of the same shape with another element type."""
    return with_shape(element, shape_of(ty))


def parse_type(text: str) -> Element | None:
    """The type that a text names: `fp32` or `float32`, `f32`, `*fp32`, `*kfp32` (const); None where
    it names none."""
    if text.startswith("*"):
        element = parse_type(text[1:].strip().removeprefix("k"))
        return PointerType(element, text.startswith("*k")) if element else None
    return BY_NAME.get(text)


def compute_type(element: ScalarType) -> ScalarType:
    """The type arithmetic of this element type is done in: f32 for floats below 32 bits, else
    itself."""
    return F32 if element.kind == "f" and element.bits < 32 else element
