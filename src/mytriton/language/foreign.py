"""What NumPy's and torch's functions ask of an array, answered by tensors.

`np.log2(k)` of a typed scalar is NumPy's function of its number. A tensor that only the run knows
is no array in memory, and is refused with the advice to use the functions of `tl`. NumPy's own
numbers leave their operators to the tensor: `np.float32(2) * x` is `2.0 * x`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import CompileTypeError
from ..ir.nodes import Const
from . import hints
from .promotion import Handle, Number

_OPERATORS: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}
"""The operators behind NumPy's functions of two numbers."""


class Foreign:
    """A base of `tensor`."""

    handle: Handle

    @property
    def number(self) -> Number | None:
        """The value of a typed scalar; None of all else."""
        return self.handle.value if isinstance(self.handle, Const) else None

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        found = self._array()
        return refuse("NumPy") if found is None else np.array(found, *args, **kwargs)

    def numpy(self) -> Any:
        """The elements as a new NumPy array, where the kernel runs as Python (`target="eager"`);
        floats below 32 bits as float32, pointers as addresses.

        Raises CompileTypeError on the other targets, which know no element while they compile.
        """
        found = self._array()
        if found is None:
            raise CompileTypeError(
                ".numpy(): the elements are known where the kernel runs as Python: launch it with"
                ' target="eager"'
            )
        return np.array(found)

    def _array(self) -> Any:
        """The elements, if they are known by now: of a typed scalar, or of a value of a program
        that runs eagerly."""
        return getattr(self.handle, "array", self.number)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [value.item() if isinstance(value, np.generic) else value for value in inputs]
        if ufunc in _OPERATORS and not any(isinstance(value, np.ndarray) for value in plain):
            return _OPERATORS[ufunc](*plain)
        numbers = [value.number if isinstance(value, Foreign) else value for value in plain]
        if method != "__call__" or None in numbers:
            return refuse(f"np.{ufunc.__name__}")
        return ufunc(*numbers, **kwargs)

    def __array_function__(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return refuse(f"np.{getattr(function, '__name__', function)}")

    @classmethod
    def __torch_function__(cls, function: Any, *args: Any, **kwargs: Any) -> Any:
        return refuse(f"torch.{getattr(function, '__name__', function)}")


def refuse(name: str) -> Any:
    """Raises CompileTypeError: the function works on arrays; what to use instead."""
    instead = hints.instead_of(name.rpartition(".")[2])
    raise CompileTypeError(f"{name} works on numbers and arrays, not on tensors: {instead}")
