"""A formula as a NumPy function: the meaning of the functions that NumPy does not have.

The formula is run on arrays: an `ArrayTerm` does each operation at once, by the NumPy meaning in
the row of the op table. So a rare function is written once, as its formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..ir.fold import evaluate
from ..ir.numeric import Array, bitcast, canonical, convert, held_dtype
from ..ir.ops import TABLE
from ..ir.types import BOOL, F32, F64, ScalarType
from .term import Number, Term

Formula = Callable[..., Term]


@dataclass(frozen=True, eq=False)
class ArrayTerm(Term):
    """A term that is an array in its element type's held dtype."""

    value: Array
    type: ScalarType

    @property
    def element(self) -> ScalarType:
        return self.type

    def of(self, number: ArrayTerm | Number) -> ArrayTerm:
        if isinstance(number, ArrayTerm):
            return number
        held = np.array(canonical(self.type, number), held_dtype(self.type))
        return ArrayTerm(held, self.type)

    def full(self, number: Number) -> ArrayTerm:
        constant = self.of(number).value
        return ArrayTerm(np.broadcast_to(constant, self.value.shape), self.type)

    def op(self, name: str, *others: ArrayTerm | Number) -> ArrayTerm:
        row = TABLE[name].element
        assert row is not None, f"{name} is not element-wise"
        result = BOOL if row.boolean else row.result or self.type
        arrays = [self.value, *(self.of(other).value for other in others)]
        return ArrayTerm(evaluate(row, result, arrays), result)

    def to(self, element: ScalarType) -> ArrayTerm:
        return ArrayTerm(convert(self.type, element, self.value), element)

    def bits(self, element: ScalarType) -> ArrayTerm:
        return ArrayTerm(bitcast(self.type, element, self.value), element)

    def _select(self, left: ArrayTerm, right: ArrayTerm) -> ArrayTerm:
        return ArrayTerm(np.where(self.value, left.value, right.value), left.type)


def meaning(formula: Formula, wide: bool = True) -> Callable[..., Array]:
    """The formula as a function of float32 or float64 arrays, with a result of their dtype.

    wide: both are computed in float64 and rounded once; otherwise each in its own type.
    """

    def numpy(*arrays: Array) -> Array:
        given = arrays[0].dtype
        element = F64 if wide or given == np.float64 else F32
        held = held_dtype(element)
        with np.errstate(all="ignore"):
            result = formula(*(ArrayTerm(array.astype(held), element) for array in arrays))
            assert isinstance(result, ArrayTerm)
            return result.value.astype(given)

    return numpy
