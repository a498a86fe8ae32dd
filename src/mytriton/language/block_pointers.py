"""Block pointers: a window of fixed shape, with offsets, over an array in memory.

A window is a Python object around scalars (a base, shape, strides and, for block pointers,
offsets). A load makes the addresses and the mask that the window's place asks for, so no target
knows of windows; control flow takes them apart by `__flatten__`.

    window (2, 4) at offsets (1, 6) of an array (5, 8):  columns 6 7 are inside, 8 9 are padding
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import CompileTypeError, CompileValueError
from ..ir.build import current
from ..ir.types import I32, I64, Element, VectorType
from ..strict import refuse
from . import memory, promotion
from .arguments import (
    Axes,
    ConstInt,
    ConstStr,
    ShapeLike,
    TensorLike,
    axis_argument,
    one_of,
    shape_argument,
)
from .constexpr import builtin, unwrap
from .creation import arange, cast, full
from .memory import pointee, pointer_operand, value_operand
from .promotion import Handle, Number, emit
from .shapes import along_axis
from .tensor import Shape, tensor, to_tensor

__all__ = ["advance", "make_block_ptr"]

PADDINGS = ("", "zero", "nan")


Scalars: TypeAlias = TensorLike | Sequence[TensorLike]
"""Int scalars, one an axis."""
Hints: TypeAlias = Mapping[str, Any]
"""The attributes of a load or store that are advice."""


def int_scalars(values: Scalars, element: Element, rank: int, what: str) -> list[tensor]:
    """That many scalars of an int type. Raises CompileValueError for another number of them."""
    several = unwrap(values)
    listed = list(several) if isinstance(several, (tuple, list)) else [several]
    if len(listed) != rank:
        raise CompileValueError(f"{what}: {rank} values are needed, one an axis, got {len(listed)}")
    scalars = [to_tensor(value) for value in listed]
    for scalar in scalars:
        if scalar.shape or scalar.dtype.kind not in "biu":
            raise CompileTypeError(f"{what}: int scalars are needed, got {scalar.type}")
    return [cast(scalar, element) for scalar in scalars]


def padding_value(option: ConstStr | None, element: Element) -> Number:
    """What a load gives outside: a number of the element type. Raises CompileValueError for an
    unknown option, and for "nan" of ints."""
    name = one_of(option, PADDINGS, "padding_option")
    if name == "nan" and element.kind != "f":
        raise CompileValueError(f"padding_option 'nan' needs floats, got {element.name}")
    return float("nan") if name == "nan" else 0


class Window:
    """Where an array lies, and how large the window over it is.

    base: a pointer; shape and strides: i64 scalars, in elements, one an axis; block_shape: ints.
    """

    def __init__(
        self,
        base: tensor,
        shape: Sequence[tensor],
        strides: Sequence[tensor],
        block_shape: tuple[int, ...],
    ) -> None:
        self.base, self.block_shape = base, Shape(block_shape)
        self.shape, self.strides = list(shape), list(strides)

    @property
    def dtype(self) -> Element:
        """The element type of the array."""
        return pointee(self.base.handle)

    @property
    def block_type(self) -> VectorType:
        """The type of the blocks it loads and stores."""
        return VectorType(self.block_shape, self.dtype)

    def rows(self, offsets: Sequence[tensor]) -> list[tensor]:
        """The i64 index of every place of the window along each axis."""
        rank = len(self.block_shape)
        counts = [cast(arange(0, extent), I64) for extent in self.block_shape]
        return [
            along_axis(cast(offset, I64) + count, axis, rank)
            for axis, (offset, count) in enumerate(zip(offsets, counts))
        ]

    def addresses(self, rows: Sequence[tensor], shape: tuple[int, ...]) -> Handle:
        """The pointers to the places with these indices, one an axis."""
        place: Any = rows[0] * self.strides[0]
        for row, stride in zip(rows[1:], self.strides[1:]):
            place = place + row * stride
        return promotion.broadcast_to((self.base + place).handle, shape)

    def inside(self, rows: Sequence[tensor], axes: Sequence[int]) -> Handle | None:
        """Where the index lies inside the array along these axes; None where none is asked."""
        mask: Any = None
        for axis in axes:
            here = (rows[axis] >= 0) & (rows[axis] < self.shape[axis])
            mask = here if mask is None else mask & here
        return None if mask is None else mask.handle

    def load_at(
        self,
        rows: Sequence[tensor],
        axes: Sequence[int],
        padding: ConstStr | None,
        shape: tuple[int, ...],
        hints: Hints,
    ) -> tensor:
        """The block at these indices, `padding` outside the array along the axes."""
        address, mask = self.addresses(rows, shape), self.inside(rows, axes)
        other = None
        if mask is not None:
            other = full((), padding_value(padding, self.dtype), self.dtype).handle
        return tensor(emit("load", address, mask, other, **hints))

    def store_at(
        self,
        rows: Sequence[tensor],
        axes: Sequence[int],
        value: TensorLike,
        shape: tuple[int, ...],
        hints: Hints,
    ) -> None:
        """Writes a block at these indices, but where they are outside along the axes."""
        address, mask = self.addresses(rows, shape), self.inside(rows, axes)
        stored = value_operand(value, address, "store")
        current().emit("store", [address, stored, mask], dict(hints))


# -- block pointers


class block_pointer(Window):
    """A window that knows its offsets: what make_block_ptr gives."""

    def __init__(
        self,
        base: tensor,
        shape: Sequence[tensor],
        strides: Sequence[tensor],
        offsets: Sequence[tensor],
        block: tuple[int, ...],
    ) -> None:
        super().__init__(base, shape, strides, block)
        self.offsets = list(offsets)

    def __flatten__(self) -> tuple[list[Any], Callable[[list[Any]], block_pointer]]:
        rank = len(self.block_shape)

        def build(parts: list[Any]) -> block_pointer:
            base, rest = parts[0], parts[1:]
            groups = (rest[:rank], rest[rank : 2 * rank], rest[2 * rank :])
            return block_pointer(base, *groups, self.block_shape)

        return [self.base, *self.shape, *self.strides, *self.offsets], build

    @property
    def type(self) -> Any:
        """A pointer to a block, for kernels that ask for `.type.element_ty`."""
        return self.base.type

    def advance(self, offsets: Scalars, _semantic: Any = None) -> block_pointer:
        """The window moved by ints, one an axis."""
        steps = int_scalars(offsets, I32, len(self.offsets), "advance")
        moved = [offset + step for offset, step in zip(self.offsets, steps)]
        return block_pointer(self.base, self.shape, self.strides, moved, self.block_shape)

    def _checked(self, boundary_check: Axes) -> list[int]:
        axes = unwrap(boundary_check)
        listed = axes if isinstance(axes, (tuple, list)) else (axes,)
        rank = len(self.block_shape)
        return sorted({axis_argument(axis, rank, "boundary_check") for axis in listed})

    def load_block(
        self, boundary_check: Axes, padding_option: ConstStr | None, hints: Hints
    ) -> tensor:
        """The block under the window: `tl.load` of it."""
        rows, axes = self.rows(self.offsets), self._checked(boundary_check)
        padding_value(padding_option, self.dtype)
        return self.load_at(rows, axes, padding_option, self.block_shape, hints)

    def store_block(self, value: TensorLike, boundary_check: Axes, hints: Hints) -> None:
        """Writes the block under the window: `tl.store` through it."""
        rows, axes = self.rows(self.offsets), self._checked(boundary_check)
        self.store_at(rows, axes, value, self.block_shape, hints)

    def load(self, *args: Any, **kwargs: Any) -> tensor:
        """`tl.load` of this block pointer."""
        return memory.load(self, *args, **kwargs)

    def store(self, *args: Any, **kwargs: Any) -> None:
        """`tl.store` through this block pointer."""
        memory.store(self, *args, **kwargs)


def array_argument(
    base: Any, shape: Scalars, strides: Scalars, block_shape: ShapeLike, what: str
) -> tuple[tensor, list[tensor], list[tensor], tuple[int, ...]]:
    """A base pointer, shape and strides as i64 scalars, and a constant block shape.

    Raises CompileTypeError where the base is not one pointer, CompileValueError where the ranks
    differ.
    """
    block = shape_argument(block_shape)
    pointer = tensor(pointer_operand(base, what))
    if pointer.shape:
        raise CompileTypeError(f"{what}: the base must be one pointer, got {pointer.type}")
    extents = int_scalars(shape, I64, len(block), f"{what}: shape")
    steps = int_scalars(strides, I64, len(block), f"{what}: strides")
    return pointer, extents, steps, block


@builtin
def make_block_ptr(
    base: tensor,
    shape: Scalars,
    strides: Scalars,
    offsets: Scalars,
    block_shape: ShapeLike,
    order: Sequence[ConstInt],
) -> block_pointer:
    """A window of block_shape at `offsets` over an array: tl.load and tl.store take it, tl.advance
    moves it.

    base: the pointer to element 0; shape, strides, offsets: ints or scalars, in elements, one an
    axis; block_shape: constants. order: the axes, fastest first; a hint. Raises CompileValueError
    for another number of values than axes.
    """
    refuse(
        "tl.make_block_ptr, which is gone from Triton 3.9",
        "tl.make_tensor_descriptor(base, shape, strides, block_shape)",
    )
    what = "make_block_ptr"
    pointer, extents, steps, block = array_argument(base, shape, strides, block_shape, what)
    places = [axis_argument(axis, len(block), "order") for axis in unwrap(order)]
    if sorted(places) != list(range(len(block))):
        raise CompileValueError(f"make_block_ptr: order {order} is not an order of the axes")
    starts = int_scalars(offsets, I32, len(block), "make_block_ptr: offsets")
    return block_pointer(pointer, extents, steps, starts, block)


@builtin
def advance(base: block_pointer, offsets: Scalars) -> block_pointer:
    """The block pointer moved by ints, one an axis."""
    if not isinstance(base, block_pointer):
        raise CompileTypeError(f"advance needs a block pointer (tl.make_block_ptr), got {base!r}")
    return base.advance(offsets)
