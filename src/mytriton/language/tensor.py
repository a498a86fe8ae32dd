"""`tl.tensor`: what kernel code holds, one IR operand with Python's operators.

The class is thin. An operator takes what it is `given` as an operand or a number, `semantics` does
the work, the result is wrapped again. The methods that are language functions (`x.sum()`,
`x.to()`) stand in the table of `methods.py`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from ..errors import CompileTypeError, CompileValueError, is_user_code
from ..ir.build import current, tracing
from ..ir.nodes import Const, Operand
from ..ir.types import F32, Element, PointerType, Type, element_of, shape_of
from . import hints, semantics
from .constexpr import builtin, constexpr, unwrap
from .foreign import Foreign
from .portable import check_index
from .promotion import Given, Handle, Number, emit, known, operand, reshape, truth

if TYPE_CHECKING:
    from .methods import Methods
else:

    class Methods:
        """At run time `methods.py` puts the methods on the class: their modules import it."""


TensorLike: TypeAlias = Union["tensor", constexpr, Number]
"""What a function takes as a tensor: one, or a number (NumPy's too)."""
_SEQUENCES = (list, tuple, str)
"""What `*` with a known int repeats: Python does so by its `__index__`."""


class Shape(tuple[int, ...]):
    """The extents of a block; equal to a list of the same ints too, as `x.shape == [16, 32]`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


class PointerShape(Shape):
    """The shape `()` of a pointer, of which an array's extents are sometimes asked."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        raise CompileTypeError(
            "a pointer has no shape: a kernel is given an array's address alone; pass its sizes and"
            " strides as arguments"
        )


class tensor(Methods, Foreign):
    """A block of numbers or pointers, or a scalar (shape `()`).

    handle: the IR operand. type: the IR type; dtype: its element type; shape: a tuple of ints;
    numel: the number of elements. Arithmetic promotes as docs/semantics.md says; shapes broadcast
    from the last axis. Indexing takes None (a new axis of extent 1), `:`, constant ints and
    constant ranges.
    """

    def __init__(self, handle: Operand, type: Type | None = None) -> None:
        assert handle is not None
        self.handle = handle
        self.type: Any = handle.ty if type is None else type

    @property
    def dtype(self) -> Element:
        """The element type."""
        return element_of(self.type)

    @property
    def shape(self) -> Shape:
        """The extents, () of a scalar."""
        if isinstance(self.type, PointerType):
            return PointerShape()
        return Shape(shape_of(self.type))

    @property
    def numel(self) -> int:
        """The number of elements."""
        return self.type.size if self.shape else 1

    @property
    def T(self) -> tensor:
        """The transpose: the last two axes swapped (rank 2 or more)."""
        rank = len(self.shape)
        if rank < 2:
            raise CompileValueError(f".T needs a block of rank 2 or more, got shape {self.shape}")
        order = (*range(rank - 2), rank - 1, rank - 2)
        return tensor(emit("trans", self.handle, order=order))

    def __repr__(self) -> str:
        show = getattr(current(), "show", None) if tracing() else None
        if show:
            return str(show(self.handle))
        known = self._constant()
        return f"tensor<{self.type}{'' if known is None else f' = {known}'}>"

    # -- a scalar as a Python value

    def _known(self, use: str) -> bool | int | float:
        value = current().known(self.handle)
        if value is None:
            raise CompileTypeError(
                f"{hints.subject(self)} cannot be used as {use}; {hints.python_value(self, use)}"
            )
        return value

    def __bool__(self) -> bool:
        return bool(self._known("a Python condition"))

    def __index__(self) -> int:
        value = self._known("a Python int")
        if isinstance(value, float):
            raise CompileTypeError(f"an int is needed, got {value}")
        return int(value)

    def __str__(self) -> str:
        known = self._constant()
        return repr(self) if known is None else str(known)

    def __format__(self, spec: str) -> str:
        known = self._constant()
        if known is not None:
            return format(known, spec)
        shown = hasattr(current(), "show") if tracing() else False
        if not shown:
            hints.refuse_text(self)
        return str(self)

    def _constant(self) -> Any:
        """The number of a typed scalar, a float as the shortest text of its type shows it."""
        number = self.number
        return float(str(np.float32(number))) if number and self.dtype == F32 else number

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """An attribute of the number of a typed scalar: `k.bit_length()`."""
            number = None if name.startswith("_") else self.number
            if hasattr(number, name):
                return getattr(number, name)
            raise AttributeError(f"a tensor of type {self.type} has no attribute {name!r}")

    def __round__(self, digits: int | None = None) -> Any:
        return round(float(self), digits)

    def __int__(self) -> int:
        return int(self._known("a Python int"))

    def __float__(self) -> float:
        return float(self._known("a Python float"))

    def __iter__(self) -> Any:
        raise CompileTypeError(
            f"a tensor of type {self.type} cannot be unpacked or iterated over; see tl.split and"
            " constant indices x[k]"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise CompileTypeError("a scalar has no len()")
        return self.shape[0]

    def __hash__(self) -> int:
        """That of the number where it is known, so that a typed scalar finds what its value does in
        a dict or a set."""
        handle = self.handle
        return hash(handle.value) if isinstance(handle, Const) else object.__hash__(self)

    # -- operators

    def __add__(self, other: TensorLike) -> tensor:
        return tensor(semantics.add(self.handle, given(other)))

    def __radd__(self, other: TensorLike) -> tensor:
        return tensor(semantics.add(given(other), self.handle))

    def __sub__(self, other: TensorLike) -> tensor:
        return tensor(semantics.subtract(self.handle, given(other)))

    def __rsub__(self, other: TensorLike) -> tensor:
        return tensor(semantics.subtract(given(other), self.handle))

    def __mul__(self, other: TensorLike) -> tensor:
        if isinstance(other, _SEQUENCES):
            return NotImplemented
        return tensor(semantics.binary("mul", "*", self.handle, given(other)))

    def __rmul__(self, other: TensorLike) -> tensor:
        if isinstance(other, _SEQUENCES):
            return NotImplemented
        return tensor(semantics.binary("mul", "*", given(other), self.handle))

    def __truediv__(self, other: TensorLike) -> tensor:
        return tensor(semantics.true_divide(self.handle, given(other)))

    def __rtruediv__(self, other: TensorLike) -> tensor:
        return tensor(semantics.true_divide(given(other), self.handle))

    def __floordiv__(self, other: TensorLike) -> tensor:
        return tensor(semantics.floor_divide(self.handle, given(other)))

    def __rfloordiv__(self, other: TensorLike) -> tensor:
        return tensor(semantics.floor_divide(given(other), self.handle))

    def __mod__(self, other: TensorLike) -> tensor:
        return tensor(semantics.modulo(self.handle, given(other)))

    def __rmod__(self, other: TensorLike) -> tensor:
        return tensor(semantics.modulo(given(other), self.handle))

    def __matmul__(self, other: TensorLike) -> tensor:
        raise CompileTypeError("@ is not an operator of tensors; write tl.dot(a, b)")

    __rmatmul__ = __matmul__

    def __divmod__(self, other: TensorLike) -> tuple[tensor, tensor]:
        return self // other, self % other

    def __rdivmod__(self, other: TensorLike) -> tuple[tensor, tensor]:
        return other // self, other % self

    def __and__(self, other: TensorLike) -> tensor:
        return tensor(semantics.bitwise("and", "&", self.handle, given(other)))

    def __rand__(self, other: TensorLike) -> tensor:
        return tensor(semantics.bitwise("and", "&", given(other), self.handle))

    def __or__(self, other: TensorLike) -> tensor:
        return tensor(semantics.bitwise("or", "|", self.handle, given(other)))

    def __ror__(self, other: TensorLike) -> tensor:
        return tensor(semantics.bitwise("or", "|", given(other), self.handle))

    def __xor__(self, other: TensorLike) -> tensor:
        return tensor(semantics.bitwise("xor", "^", self.handle, given(other)))

    def __rxor__(self, other: TensorLike) -> tensor:
        return tensor(semantics.bitwise("xor", "^", given(other), self.handle))

    def __lshift__(self, other: TensorLike) -> tensor:
        return tensor(semantics.shift("shl", "<<", self.handle, given(other)))

    def __rlshift__(self, other: TensorLike) -> tensor:
        return tensor(semantics.shift("shl", "<<", given(other), self.handle))

    def __rshift__(self, other: TensorLike) -> tensor:
        return tensor(semantics.shift("shr", ">>", self.handle, given(other)))

    def __rrshift__(self, other: TensorLike) -> tensor:
        return tensor(semantics.shift("shr", ">>", given(other), self.handle))

    def __pow__(self, other: TensorLike) -> tensor:
        return tensor(semantics.power(self.handle, given(other)))

    def __rpow__(self, other: TensorLike) -> tensor:
        return tensor(semantics.power(given(other), self.handle))

    def __abs__(self) -> tensor:
        return tensor(emit("abs", self.handle))

    def __neg__(self) -> tensor:
        return tensor(semantics.negate(self.handle))

    def __pos__(self) -> tensor:
        return self

    def __invert__(self) -> tensor:
        return tensor(emit("not", self.handle))

    def __lt__(self, other: TensorLike) -> tensor:
        return tensor(semantics.compare("cmp_lt", "<", self.handle, given(other)))

    def __le__(self, other: TensorLike) -> tensor:
        return tensor(semantics.compare("cmp_le", "<=", self.handle, given(other)))

    def __gt__(self, other: TensorLike) -> tensor:
        return tensor(semantics.compare("cmp_gt", ">", self.handle, given(other)))

    def __ge__(self, other: TensorLike) -> tensor:
        return tensor(semantics.compare("cmp_ge", ">=", self.handle, given(other)))

    def __eq__(self, other: Any) -> Any:
        if unwrap(other) is None:
            return False
        return tensor(semantics.compare("cmp_eq", "==", self.handle, given(other)))

    def __ne__(self, other: Any) -> Any:
        if unwrap(other) is None:
            return True
        return tensor(semantics.compare("cmp_ne", "!=", self.handle, given(other)))

    def logical_and(self, other: TensorLike, _semantic: Any = None) -> tensor:
        """`and` of truth values, element by element."""
        return tensor(semantics.logical("and", self.handle, given(other)))

    def logical_or(self, other: TensorLike, _semantic: Any = None) -> tensor:
        """`or` of truth values, element by element."""
        return tensor(semantics.logical("or", self.handle, given(other)))

    def logical_not(self, _semantic: Any = None) -> tensor:
        """`not` of truth values, element by element."""
        return tensor(emit("not", truth(self.handle)))

    # -- indexing

    def __getitem__(self, index: Any) -> tensor:
        if is_user_code(sys._getframe(1).f_code.co_filename):
            check_index(index if isinstance(index, tuple) else (index,))
        return tensor(_indexed(self, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        instead = (
            "store through it: tl.store(pointer + index, value)"
            if isinstance(self.dtype, PointerType)
            else "choose element by element: tl.where(tl.arange(0, extent) == index, value, block)"
        )
        raise CompileTypeError(f"a tensor of type {self.type} cannot be assigned to; {instead}")


def _indexed(value: tensor, index: Any) -> Handle:
    """One slice for the constant parts, one reshape for new and dropped axes."""
    index = unwrap(index)
    parts = index if isinstance(index, tuple) else (index,)
    shaped = all(part is None or _is_whole(part) for part in parts)
    if isinstance(value.type, PointerType) and not shaped:
        raise CompileTypeError(
            f"a pointer ({value.type}) cannot be indexed; read it with tl.load(pointer + index)"
        )
    items = _full_index(parts, value.shape)
    starts, extents, result = [], [], []
    axes = iter(value.shape)
    for item in items:
        if item is None:
            result.append(1)
            continue
        start, extent, keep = _part(item, next(axes))
        starts.append(start)
        extents.append(extent)
        result += [extent] if keep else []
    handle = value.handle
    if starts:
        handle = emit("slice", handle, starts=tuple(starts), shape=tuple(extents))
    return reshape(handle, tuple(result))


def _full_index(items: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """The index with `...` and missing trailing axes written out as `:`.

    A scalar has no axis, and as in Triton `:` of it says nothing: `x[:, None]` has the shape [1].
    """
    listed = [unwrap(item) for item in items]
    if not shape:
        listed = [item for item in listed if not _is_whole(item)]
    missing = len(shape) - sum(item is not None and item is not Ellipsis for item in listed)
    if missing < 0:
        raise CompileValueError(f"too many indices for a tensor of shape {shape}")
    if not any(item is Ellipsis for item in listed):
        listed.append(Ellipsis)
    at = next(place for place, item in enumerate(listed) if item is Ellipsis)
    listed[at : at + 1] = [slice(None)] * missing
    return listed


def _is_whole(item: Any) -> bool:
    return isinstance(item, slice) and item == slice(None)


def _part(item: Any, extent: int) -> tuple[int, int, bool]:
    """Where an index begins, how many it takes, and whether it keeps the axis."""
    if isinstance(item, slice):
        bounds = [
            None if (b := unwrap(part)) is None else int(b)
            for part in (item.start, item.stop, item.step)
        ]
        chosen = range(extent)[slice(*bounds)]
        if chosen.step != 1 or not chosen:
            raise CompileValueError(
                f"a slice must have step 1 and be inside the extent {extent}, got {item}"
            )
        return chosen.start, len(chosen), True
    place = known(given(item))
    if isinstance(place, bool) or not isinstance(place, int):
        raise CompileTypeError(
            "indices must be constants: ints, ranges, `:`, `...` or None; to pick elements at run"
            " time use tl.gather, or load through computed pointers"
        )
    if not -extent <= place < extent:
        raise CompileValueError(f"index {place} is outside the extent {extent}")
    return place % extent, 1, False


def given(value: Any) -> Given:
    """The operand of a tensor, or a Python number; of a constexpr or NumPy number its value.

    Raises CompileTypeError for anything else.
    """
    value = unwrap(value)
    if isinstance(value, tensor):
        return value.handle
    if isinstance(value, (bool, int, float, Handle)):
        return value
    if getattr(value, "shape", None) == () and isinstance(value.item(), (bool, int, float)):
        number: Number = value.item()
        return number
    silent = hints.returned_nothing() if value is None else ""
    raise CompileTypeError(f"a tensor or a number is needed, got {value!r}{silent}")


@builtin
def to_tensor(x: TensorLike) -> tensor:
    """The value itself, or a scalar tensor of a number (bool, i32, u32, i64, u64, f32 or f64)."""
    return x if isinstance(x, tensor) else tensor(operand(given(x)))


def wrap(results: tuple[Operand, ...]) -> Any:
    """One tensor, or a tuple of them."""
    return tensor(results[0]) if len(results) == 1 else tuple(map(tensor, results))
