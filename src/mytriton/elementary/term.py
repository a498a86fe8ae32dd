"""Terms: values with strict arithmetic, in which the formulas of this folder are written.

A formula reads like its mathematics and runs on whatever implements `Term`: `IrTerm` emits the ops
of the IR, `numpy_meaning.ArrayTerm` computes on NumPy arrays.

    def formula(x: Term) -> Term:
        return (x * x + 1.0).sqrt()       # every element-wise row of the op table is a method

Strict and loose: the operands of a term's operation have one element type and nothing is promoted;
a Python number takes the element type of the term it meets. Users of kernels write the loose
language (`mytriton.language`), which promotes its operands, leaves explicit casts, and then calls
these formulas. So what is said here is exactly what is computed, bit for bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..ir.build import emit
from ..ir.fold import constant
from ..ir.nodes import Operand
from ..ir.types import ScalarType, Type, VectorType, element_of, shape_of

T = TypeVar("T", bound="Term")
Number = bool | int | float


class Term(ABC):
    """A value of one element type, scalar or block. Methods are named after the op table's rows."""

    @property
    @abstractmethod
    def element(self) -> ScalarType:
        """The element type."""

    @abstractmethod
    def of(self: T, number: T | Number) -> T:
        """The number as a constant of this term's element type; a term itself."""

    @abstractmethod
    def full(self: T, number: Number) -> T:
        """A constant of this term's element type and shape."""

    @abstractmethod
    def op(self: T, name: str, *others: T | Number) -> T:
        """The element-wise op of that name on this term and the others."""

    @abstractmethod
    def to(self: T, element: ScalarType) -> T:
        """The cast to an element type, as `tl.cast` means it."""

    @abstractmethod
    def bits(self: T, element: ScalarType) -> T:
        """The same bits as another element type of the same width."""

    @abstractmethod
    def _select(self: T, left: T, right: T) -> T:
        """`left` where this bool is true, else `right`."""

    def where(self: T, left: T | Number, right: T | Number) -> T:
        """`left` where this bool is true, else `right`; at least one of the two is a term."""
        typed = left if isinstance(left, Term) else right
        assert isinstance(typed, Term), "a choice between two numbers has no element type"
        return self._select(typed.of(left), typed.of(right))

    def __getattr__(self: T, name: str) -> Callable[..., T]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *others: self.op(name, *others)

    def __add__(self: T, other: T | Number) -> T:
        return self.op("add", other)

    def __radd__(self: T, other: Number) -> T:
        return self.of(other).op("add", self)

    def __sub__(self: T, other: T | Number) -> T:
        return self.op("sub", other)

    def __rsub__(self: T, other: Number) -> T:
        return self.of(other).op("sub", self)

    def __mul__(self: T, other: T | Number) -> T:
        return self.op("mul", other)

    def __rmul__(self: T, other: Number) -> T:
        return self.of(other).op("mul", self)

    def __truediv__(self: T, other: T | Number) -> T:
        return self.op("div", other)

    def __rtruediv__(self: T, other: Number) -> T:
        return self.of(other).op("div", self)

    def __and__(self: T, other: T | Number) -> T:
        return self.op("and", other)

    def __or__(self: T, other: T | Number) -> T:
        return self.op("or", other)

    def __xor__(self: T, other: T | Number) -> T:
        return self.op("xor", other)

    def __lshift__(self: T, other: T | Number) -> T:
        return self.op("shl", other)

    def __rshift__(self: T, other: T | Number) -> T:
        return self.op("shr", other)

    def __neg__(self: T) -> T:
        return self.op("neg")

    def __invert__(self: T) -> T:
        return self.op("not")

    def __lt__(self: T, other: T | Number) -> T:
        return self.op("cmp_lt", other)

    def __le__(self: T, other: T | Number) -> T:
        return self.op("cmp_le", other)

    def __gt__(self: T, other: T | Number) -> T:
        return self.op("cmp_gt", other)

    def __ge__(self: T, other: T | Number) -> T:
        return self.op("cmp_ge", other)

    def eq(self: T, other: T | Number) -> T:
        return self.op("cmp_eq", other)

    def ne(self: T, other: T | Number) -> T:
        return self.op("cmp_ne", other)


@dataclass(frozen=True, eq=False)
class IrTerm(Term):
    """A term that is an operand of the IR; its operations emit ops with the current builder."""

    value: Operand

    @property
    def ty(self) -> Type:
        assert self.value is not None, "an absent operand is no term"
        return self.value.ty

    @property
    def element(self) -> ScalarType:
        element = element_of(self.ty)
        assert isinstance(element, ScalarType)
        return element

    def of(self, number: IrTerm | Number) -> IrTerm:
        return number if isinstance(number, IrTerm) else IrTerm(constant(number, self.element))

    def full(self, number: Number) -> IrTerm:
        value, block = constant(number, self.element), isinstance(self.ty, VectorType)
        return IrTerm(emit("broadcast", value, shape=shape_of(self.ty)) if block else value)

    def op(self, name: str, *others: IrTerm | Number) -> IrTerm:
        return IrTerm(emit(name, self.value, *(self.of(other).value for other in others)))

    def to(self, element: ScalarType) -> IrTerm:
        return IrTerm(emit("cast", self.value, to=element))

    def bits(self, element: ScalarType) -> IrTerm:
        return IrTerm(emit("bitcast", self.value, to=element))

    def _select(self, left: IrTerm, right: IrTerm) -> IrTerm:
        return IrTerm(emit("select", self.value, left.value, right.value))
