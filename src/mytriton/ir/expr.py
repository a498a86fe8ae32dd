"""Strict arithmetic on IR values, for writing what an op means in terms of other ops.

One idea: an expansion (the polynomial of exp, the bit steps of a cast) reads like the formula.
Operands have one element type; a Python number takes the type of the value it meets. There is no
promotion here: that is the language's business.

    def expansion(x):                     # x: Expr of f32
        return (x * x + 1.0).sqrt()       # any row of the table is a method
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .build import emit
from .fold import constant
from .nodes import Operand
from .types import ScalarType, Type, VectorType, element_of, shape_of


@dataclass(frozen=True, eq=False)
class Expr:
    """An IR value with operators; methods are named after the rows of the op table."""

    value: Operand

    @property
    def ty(self) -> Type:
        assert self.value is not None
        return self.value.ty

    @property
    def element(self) -> Any:
        return element_of(self.ty)

    def of(self, number: Any) -> Expr:
        """A constant of this value's element type; an Expr itself."""
        return number if isinstance(number, Expr) else Expr(constant(number, self.element))

    def op(self, name: str, *others: Any) -> Expr:
        return Expr(emit(name, self.value, *(self.of(other).value for other in others)))

    def __getattr__(self, name: str) -> Callable[..., Expr]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *others: self.op(name, *others)

    def to(self, element: ScalarType) -> Expr:
        return Expr(emit("cast", self.value, to=element))

    def bits(self, element: ScalarType) -> Expr:
        """The same bits as another type of the same width."""
        return Expr(emit("bitcast", self.value, to=element))

    def where(self, left: Any, right: Any) -> Expr:
        """Left where this bool is true, else right; one of the two is an Expr."""
        ground = left if isinstance(left, Expr) else right
        return Expr(emit("select", self.value, ground.of(left).value, ground.of(right).value))

    def full(self, number: Any) -> Expr:
        """A constant of this value's type and shape."""
        value = constant(number, self.element)
        block = isinstance(self.ty, VectorType)
        return Expr(emit("broadcast", value, shape=shape_of(self.ty)) if block else value)

    def __add__(self, other: Any) -> Expr:
        return self.op("add", other)

    def __radd__(self, other: Any) -> Expr:
        return self.of(other).op("add", self)

    def __sub__(self, other: Any) -> Expr:
        return self.op("sub", other)

    def __rsub__(self, other: Any) -> Expr:
        return self.of(other).op("sub", self)

    def __mul__(self, other: Any) -> Expr:
        return self.op("mul", other)

    def __rmul__(self, other: Any) -> Expr:
        return self.of(other).op("mul", self)

    def __truediv__(self, other: Any) -> Expr:
        return self.op("div", other)

    def __rtruediv__(self, other: Any) -> Expr:
        return self.of(other).op("div", self)

    def __and__(self, other: Any) -> Expr:
        return self.op("and", other)

    def __or__(self, other: Any) -> Expr:
        return self.op("or", other)

    def __xor__(self, other: Any) -> Expr:
        return self.op("xor", other)

    def __lshift__(self, other: Any) -> Expr:
        return self.op("shl", other)

    def __rshift__(self, other: Any) -> Expr:
        return self.op("shr", other)

    def __neg__(self) -> Expr:
        return self.op("neg")

    def __invert__(self) -> Expr:
        return self.op("not")

    def __lt__(self, other: Any) -> Expr:
        return self.op("cmp_lt", other)

    def __le__(self, other: Any) -> Expr:
        return self.op("cmp_le", other)

    def __gt__(self, other: Any) -> Expr:
        return self.op("cmp_gt", other)

    def __ge__(self, other: Any) -> Expr:
        return self.op("cmp_ge", other)

    def eq(self, other: Any) -> Expr:
        return self.op("cmp_eq", other)

    def ne(self, other: Any) -> Expr:
        return self.op("cmp_ne", other)
