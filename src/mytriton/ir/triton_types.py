"""Triton's public questions about a dtype, which the types of the IR answer.

`tl.float32` is a type of the IR, so its methods are those of this base class.

Nothing in the IR, the passes or the targets asks these; kernels and libraries written for Triton
do.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar


class KIND(enum.Enum):
    """The kinds of element types, the lower first in promotion."""

    BOOLEAN = 0
    INTEGRAL = 1
    FLOATING = 2


class Kind(str):
    """The letter of a kind; called, as Triton's `dtype.kind()` is, the member of `KIND`."""

    __slots__ = ()

    def __call__(self) -> KIND:
        if self == "p":
            raise TypeError("a pointer is of no kind; ask for that of its element_ty")
        return {"b": KIND.BOOLEAN, "f": KIND.FLOATING}.get(self, KIND.INTEGRAL)


class TritonType:
    """Base of the IR's types: Triton's dtype questions, answered for scalars, pointers and blocks
    alike from the scalar type."""

    scalars: ClassVar[Mapping[str, Any]] = {}
    """The scalar types by Triton's name."""
    element: Any
    kind: Any
    name: Any
    bits: int

    @property
    def scalar(self) -> Any:
        """The element type of a block; the type itself otherwise."""
        return self

    @property
    def element_ty(self) -> Any:
        """What a pointer points to, or a block consists of."""
        return self.element

    def get_block_shapes(self) -> tuple[int, ...]:
        """The shape of a block; () of the others."""
        return ()

    @property
    def primitive_bitwidth(self) -> int:
        """The bits of an element."""
        return int(self.scalar.bits)

    @property
    def int_bitwidth(self) -> int:
        return self.primitive_bitwidth

    @property
    def fp_mantissa_width(self) -> int:
        return int(self.scalar.mantissa)

    @property
    def exponent_bias(self) -> int:
        return int(self.scalar.bias)

    def get_int_min_value(self) -> int:
        return int(self._int_type().min_int)

    def get_int_max_value(self) -> int:
        return int(self._int_type().max_int)

    def _int_type(self) -> Any:
        if not self.is_int():
            raise TypeError(f"{self} is no int type")
        return self.scalar

    def is_block(self) -> bool:
        return bool(self.get_block_shapes())

    def is_ptr(self) -> bool:
        return self._kind() == "p" and not self.is_block()

    def _kind(self) -> str:
        return getattr(self.scalar, "kind", "")

    def is_floating(self) -> bool:
        return self._kind() == "f"

    def is_int(self) -> bool:
        return self._kind() in ("b", "i", "u")

    def is_int_signed(self) -> bool:
        return self._kind() == "i"

    def is_int_unsigned(self) -> bool:
        return self._kind() in ("u", "b")

    def is_bool(self) -> bool:
        return self._kind() == "b"

    def is_void(self) -> bool:
        return False

    def is_const(self) -> bool:
        return getattr(self.scalar, "const", False)

    def is_fp8(self) -> bool:
        return self.is_floating() and self.scalar.bits == 8

    def is_standard_floating(self) -> bool:
        return self.is_floating() and self.scalar.bits > 8

    @property
    def cache_key_part(self) -> str:
        """What tells this type from others in a key."""
        return str(self.name)

    def codegen_name(self) -> str:
        """NumPy's name of the scalar type, where Triton's is shorter: `float32` of `fp32`."""
        return str(self.scalar.name).replace("bf", "bfloat").replace("fp", "float")

    def mangle(self) -> str:
        """A short name that may be part of an identifier: `i32`, `u8`, `fp16`, `Pfp16`,
        `fp16S16_32S`."""
        if self.is_block():
            return f"{self.element.mangle()}S{'_'.join(map(str, self.get_block_shapes()))}S"
        if self.is_ptr():
            return f"P{self.element.mangle()}"
        if self.is_int():
            return f"{'i' if self.is_int_signed() else 'u'}{self.bits}"
        return str(self.name)

    def with_element_ty(self, element_ty: Any) -> Any:
        """The same type of other elements; of a scalar, the other type itself."""
        compound: Any = self
        nested = self.is_block() or self.is_ptr()
        return replace(compound, element=element_ty) if nested else element_ty

    def to_ir(self, builder: Any) -> Any:
        """Refused: there is no MLIR. Raises TypeError."""
        raise TypeError(f"{self} has no MLIR type here: the type itself is that of the IR")

    def __getattr__(self, name: str) -> Any:
        """`is_fp16()`, `is_int64()`, `is_fp8e4nv()`, …: whether the scalar type has that Triton
        name."""
        if name.startswith("is_") and name[3:] in self.scalars:
            return lambda: self.scalar is self.scalars[name[3:]]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
