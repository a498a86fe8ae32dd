"""Tensor descriptors: an array in memory and a block shape, loaded and stored in blocks.

A descriptor is a window (`block_pointers.py`) whose offsets are given at each load and store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import CompileTypeError, CompileValueError
from ..ir.build import current
from ..ir.types import I32, I64
from .arguments import ConstStr, DTypeLike, ShapeLike, TensorLike
from .block_pointers import Scalars, Window, array_argument, int_scalars, padding_value
from .constexpr import builtin, unwrap
from .creation import arange, cast
from .memory import pointee, value_operand
from .promotion import broadcast_to, known
from .shapes import along_axis
from .tensor import tensor, to_tensor

__all__ = [
    "_experimental_descriptor_load",
    "_experimental_descriptor_store",
    "_experimental_make_tensor_descriptor",
    "load_tensor_descriptor",
    "make_tensor_descriptor",
    "store_tensor_descriptor",
    "tensor_descriptor",
    "tensor_descriptor_type",
]


class tensor_descriptor(Window):
    """An array and a block shape: what make_tensor_descriptor gives, or the host hands over.

    Loads outside the array give zero (or NaN, by its padding); stores outside do nothing.
    """

    def __init__(
        self,
        base: tensor,
        shape: Sequence[tensor],
        strides: Sequence[tensor],
        block_shape: tuple[int, ...],
        padding: str = "zero",
    ) -> None:
        super().__init__(base, shape, strides, block_shape)
        self.padding = padding

    def __flatten__(self) -> tuple[list[Any], Callable[[list[Any]], tensor_descriptor]]:
        rank = len(self.block_shape)

        def build(parts: list[Any]) -> tensor_descriptor:
            shape, strides = parts[1 : rank + 1], parts[rank + 1 :]
            return tensor_descriptor(parts[0], shape, strides, self.block_shape, self.padding)

        return [self.base, *self.shape, *self.strides], build

    @property
    def type(self) -> tensor_descriptor_type:
        return tensor_descriptor_type(self.block_type)

    def _at(self, offsets: Scalars) -> list[tensor]:
        starts = int_scalars(offsets, I32, len(self.block_shape), "descriptor: offsets")
        return self.rows(starts)

    def load(self, offsets: Scalars, _semantic: Any = None) -> tensor:
        """The block at these offsets (int scalars, one an axis), of block_shape."""
        axes = range(len(self.block_shape))
        return self.load_at(self._at(offsets), axes, self.padding, self.block_shape, {})

    def store(self, offsets: Scalars, value: TensorLike, _semantic: Any = None) -> None:
        """Writes a block of block_shape at these offsets."""
        axes = range(len(self.block_shape))
        self.store_at(self._at(offsets), axes, value, self.block_shape, {})

    def _gathered(
        self, x_offsets: TensorLike, y_offset: TensorLike
    ) -> tuple[list[tensor], tuple[int, ...]]:
        """Row i of the result is row x_offsets[i] of the array, from column y_offset on."""
        rows = to_tensor(x_offsets)
        if len(self.block_shape) != 2 or len(rows.shape) != 1 or rows.dtype.kind not in "iu":
            raise CompileTypeError(
                "gather and scatter need a 2-D descriptor and a 1-D block of int rows, got"
                f" block_shape {self.block_shape} and {rows.type}"
            )
        column = int_scalars([y_offset], I32, 1, "descriptor: y_offset")[0]
        count = cast(arange(0, self.block_shape[1]), I64) + cast(column, I64)
        places = [along_axis(cast(rows, I64), 0, 2), along_axis(count, 1, 2)]
        return places, (rows.numel, self.block_shape[1])

    def gather(self, x_offsets: TensorLike, y_offset: TensorLike, _semantic: Any = None) -> tensor:
        """The rows x_offsets (a 1-D int block), block_shape[1] elements from column y_offset."""
        rows, shape = self._gathered(x_offsets, y_offset)
        return self.load_at(rows, (0, 1), self.padding, shape, {})

    def scatter(
        self,
        value: TensorLike,
        x_offsets: TensorLike,
        y_offset: TensorLike,
        _semantic: Any = None,
    ) -> None:
        """Writes the rows of value to the rows x_offsets of the array, from column y_offset on."""
        rows, shape = self._gathered(x_offsets, y_offset)
        self.store_at(rows, (0, 1), value, shape, {})

    def _atomic(self, kind: str, offsets: Scalars, value: TensorLike) -> None:
        rows = self._at(offsets)
        address = self.addresses(rows, self.block_shape)
        mask = self.inside(rows, range(len(rows)))
        given = broadcast_to(value_operand(value, address, f"atomic_{kind}"), self.block_shape)
        current().emit("atomic", [address, given, mask], {"kind": kind, "sem": "relaxed"})

    def atomic_add(self, offsets: Scalars, value: TensorLike, _semantic: Any = None) -> None:
        """Adds a block to the array at these offsets, indivisibly element by element."""
        self._atomic("add", offsets, value)

    def atomic_min(self, offsets: Scalars, value: TensorLike, _semantic: Any = None) -> None:
        """The smaller of block and array into the array. See atomic_add."""
        self._atomic("min", offsets, value)

    def atomic_max(self, offsets: Scalars, value: TensorLike, _semantic: Any = None) -> None:
        """The larger of block and array into the array. See atomic_add."""
        self._atomic("max", offsets, value)

    def atomic_and(self, offsets: Scalars, value: TensorLike, _semantic: Any = None) -> None:
        """Bitwise and of ints into the array. See atomic_add."""
        self._atomic("and", offsets, value)

    def atomic_or(self, offsets: Scalars, value: TensorLike, _semantic: Any = None) -> None:
        """Bitwise or of ints into the array. See atomic_add."""
        self._atomic("or", offsets, value)

    def atomic_xor(self, offsets: Scalars, value: TensorLike, _semantic: Any = None) -> None:
        """Bitwise exclusive or of ints into the array. See atomic_add."""
        self._atomic("xor", offsets, value)


class tensor_descriptor_type:
    """The type of a tensor descriptor: that of its blocks."""

    def __init__(self, block_type: Any, shape_type: Any = None, strides_type: Any = None) -> None:
        self.block_type = block_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tensor_descriptor_type) and self.block_type == other.block_type

    def __hash__(self) -> int:
        return hash(self.block_type)

    def __repr__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"

    def mangle(self) -> str:
        """A short name of the type."""
        return f"TD{self.block_type.mangle()}"


@builtin
def make_tensor_descriptor(
    base: tensor,
    shape: Scalars,
    strides: Scalars,
    block_shape: ShapeLike,
    padding_option: ConstStr | None = "zero",
) -> tensor_descriptor:
    """A descriptor of an array in memory, loaded and stored in blocks of block_shape.

    base: the pointer to element 0; shape, strides: ints or scalars, in elements, the last stride 1;
    block_shape: constants. padding_option: "zero" or "nan", what loads outside give.
    """
    what = "make_tensor_descriptor"
    pointer, extents, steps, block = array_argument(base, shape, strides, block_shape, what)
    last = known(steps[-1].handle)
    if last is not None and last != 1:
        raise CompileValueError(f"{what}: the last stride must be 1, got {last}")
    padding_value(padding_option, pointee(pointer.handle))
    return tensor_descriptor(pointer, extents, steps, block, unwrap(padding_option) or "zero")


@builtin
def load_tensor_descriptor(desc: tensor_descriptor, offsets: Scalars) -> tensor:
    """`desc.load(offsets)`."""
    return desc.load(offsets)


@builtin
def store_tensor_descriptor(desc: tensor_descriptor, offsets: Scalars, value: TensorLike) -> None:
    """`desc.store(offsets, value)`."""
    desc.store(offsets, value)


_experimental_make_tensor_descriptor = make_tensor_descriptor


def _experimental_descriptor_load(
    desc: tensor_descriptor, offsets: Scalars, shape: ShapeLike, dtype: DTypeLike
) -> tensor:
    """The old name of `desc.load(offsets)`; shape and dtype must be the descriptor's."""
    return _described(desc).load(offsets)


def _experimental_descriptor_store(
    desc: tensor_descriptor, value: TensorLike, offsets: Scalars
) -> None:
    """The old name of `desc.store(offsets, value)`."""
    _described(desc).store(offsets, value)


def _described(desc: Any) -> tensor_descriptor:
    if not isinstance(desc, tensor_descriptor):
        raise CompileTypeError(
            f"a tensor descriptor is needed (tl.make_tensor_descriptor), got {desc!r}; descriptors"
            " that the host wrote into memory for TMA cannot be read"
        )
    return desc
