"""Block pointers and tensor descriptors: a window of fixed shape over an array in memory.

One idea: both are Python objects around scalars (a base, shape, strides and, for block pointers,
offsets). A load makes the addresses and the mask that the window's place asks for, so no target
knows of them; control flow takes them apart by `__flatten__`.

    window (2, 4) at offsets (1, 6) of an array (5, 8):  columns 6 7 are inside, 8 9 are padding
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import CompileTypeError, CompileValueError
from ..ir.build import current, emit
from ..ir.nodes import Operand
from ..ir.types import I32, I64, Element, VectorType
from . import semantics
from .blocks import arange, axis_argument, broadcast_to, cast, full, shape_argument, to_tensor
from .constexpr import builtin, unwrap
from .memory import _pointer, _value, pointee
from .shapes import laid_along
from .tensor import Shape, member, tensor

PADDINGS = ("", "zero", "nan")


def _scalars(values: Any, element: Any, rank: int, what: str) -> list[tensor]:
    """That many scalars of an int type. Raises CompileValueError for another number of them."""
    values = unwrap(values)
    listed = list(values) if isinstance(values, (tuple, list)) else [values]
    if len(listed) != rank:
        raise CompileValueError(f"{what}: {rank} values are needed, one an axis, got {len(listed)}")
    scalars = [tensor(semantics.operand(value)) for value in listed]
    for scalar in scalars:
        if scalar.shape or scalar.dtype.kind not in "biu":
            raise CompileTypeError(f"{what}: int scalars are needed, got {scalar.type}")
    return [cast(scalar, element) for scalar in scalars]


def _padding(option: Any, element: Element) -> Any:
    """What a load gives outside: a number of the element type."""
    option = option or ""
    if option not in PADDINGS:
        allowed = ", ".join(map(repr, PADDINGS))
        raise CompileValueError(f"padding_option must be one of {allowed}, got {option!r}")
    if option == "nan" and element.kind != "f":
        raise CompileValueError(f"padding_option 'nan' needs floats, got {element.name}")
    return float("nan") if option == "nan" else 0


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

    def _rows(self, offsets: Sequence[tensor]) -> list[tensor]:
        """The i64 index of every place of the window along each axis."""
        rank = len(self.block_shape)
        counts = [cast(arange(0, extent), I64) for extent in self.block_shape]
        return [
            laid_along(cast(offset, I64) + count, axis, rank)
            for axis, (offset, count) in enumerate(zip(offsets, counts))
        ]

    def _addresses(self, rows: Sequence[tensor], shape: tuple[int, ...]) -> Operand:
        place: Any = rows[0] * self.strides[0]
        for row, stride in zip(rows[1:], self.strides[1:]):
            place = place + row * stride
        return semantics.broadcast_to((self.base + place).handle, shape)

    def _inside(self, rows: Sequence[tensor], axes: Sequence[int]) -> Operand:
        """Where the index lies inside the array along these axes; None where none is asked."""
        mask: Any = None
        for axis in axes:
            here = (rows[axis] >= 0) & (rows[axis] < self.shape[axis])
            mask = here if mask is None else mask & here
        return None if mask is None else mask.handle

    def _load(self, rows: Any, axes: Any, padding: Any, shape: Any, hints: Any) -> tensor:
        address, mask = self._addresses(rows, shape), self._inside(rows, axes)
        other = None
        if mask is not None:
            other = semantics.operand(full((), _padding(padding, self.dtype), self.dtype))
        return tensor(emit("load", address, mask, other, **hints))

    def _store(self, rows: Any, axes: Any, value: Any, shape: Any, hints: Any) -> None:
        address, mask = self._addresses(rows, shape), self._inside(rows, axes)
        current().emit("store", [address, _value(value, address, "store"), mask], hints)


# -- block pointers


class block_pointer(Window):
    """A window that knows its offsets: what make_block_ptr gives."""

    def __init__(self, base: Any, shape: Any, strides: Any, offsets: Any, block: Any) -> None:
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

    def advance(self, offsets: Any, _semantic: Any = None) -> block_pointer:
        """The window moved by ints, one an axis."""
        steps = _scalars(offsets, I32, len(self.offsets), "advance")
        moved = [offset + step for offset, step in zip(self.offsets, steps)]
        return block_pointer(self.base, self.shape, self.strides, moved, self.block_shape)

    def _checked(self, boundary_check: Any) -> list[int]:
        axes = unwrap(boundary_check)
        listed = axes if isinstance(axes, (tuple, list)) else (axes,)
        rank = len(self.block_shape)
        return sorted({axis_argument(axis, rank, "boundary_check") for axis in listed})

    def load_block(self, boundary_check: Any, padding_option: Any, hints: Any) -> tensor:
        """What tl.load does of it."""
        rows, axes = self._rows(self.offsets), self._checked(boundary_check)
        _padding(padding_option, self.dtype)
        return self._load(rows, axes, padding_option, self.block_shape, hints)

    def store_block(self, value: Any, boundary_check: Any, hints: Any) -> None:
        """What tl.store does of it."""
        rows, axes = self._rows(self.offsets), self._checked(boundary_check)
        self._store(rows, axes, value, self.block_shape, hints)

    def load(self, *args: Any, **kwargs: Any) -> tensor:
        """`tl.load` of this block pointer."""
        from .memory import load

        return load(self, *args, **kwargs)

    def store(self, *args: Any, **kwargs: Any) -> None:
        """`tl.store` through this block pointer."""
        from .memory import store

        store(self, *args, **kwargs)


def _array(base: Any, shape: Any, strides: Any, block_shape: Any, what: str) -> tuple[Any, ...]:
    block = shape_argument(block_shape)
    pointer = tensor(_pointer(base, what))
    if pointer.shape:
        raise CompileTypeError(f"{what}: the base must be one pointer, got {pointer.type}")
    extents = _scalars(shape, I64, len(block), f"{what}: shape")
    return pointer, extents, _scalars(strides, I64, len(block), f"{what}: strides"), block


@builtin
def make_block_ptr(
    base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any
) -> block_pointer:
    """A window of block_shape at `offsets` over an array: tl.load and tl.store take it, tl.advance
    moves it.

    base: the pointer to element 0; shape, strides, offsets: ints or scalars, in elements, one an
    axis; block_shape: constants. order: the axes, fastest first; a hint. Raises CompileValueError
    for another number of values than axes.
    """
    pointer, extents, steps, block = _array(base, shape, strides, block_shape, "make_block_ptr")
    places = [axis_argument(axis, len(block), "order") for axis in unwrap(order)]
    if sorted(places) != list(range(len(block))):
        raise CompileValueError(f"make_block_ptr: order {order} is not an order of the axes")
    starts = _scalars(offsets, I32, len(block), "make_block_ptr: offsets")
    return block_pointer(pointer, extents, steps, starts, block)


@member
@builtin
def advance(base: Any, offsets: Any) -> block_pointer:
    """The block pointer moved by ints, one an axis."""
    if not isinstance(base, block_pointer):
        raise CompileTypeError(f"advance needs a block pointer (tl.make_block_ptr), got {base!r}")
    return base.advance(offsets)


# -- tensor descriptors


class tensor_descriptor(Window):
    """An array and a block shape: what make_tensor_descriptor gives, or the host hands over.

    Loads outside the array give zero (or NaN, by its padding); stores outside do nothing.
    """

    def __init__(
        self, base: Any, shape: Any, strides: Any, block_shape: Any, padding: str = "zero"
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

    def _at(self, offsets: Any) -> list[tensor]:
        starts = _scalars(offsets, I32, len(self.block_shape), "descriptor: offsets")
        return self._rows(starts)

    def load(self, offsets: Any, _semantic: Any = None) -> tensor:
        """The block at these offsets (int scalars, one an axis), of block_shape."""
        axes = range(len(self.block_shape))
        return self._load(self._at(offsets), axes, self.padding, self.block_shape, {})

    def store(self, offsets: Any, value: Any, _semantic: Any = None) -> None:
        """Writes a block of block_shape at these offsets."""
        axes = range(len(self.block_shape))
        self._store(self._at(offsets), axes, value, self.block_shape, {})

    def _gathered(self, x_offsets: Any, y_offset: Any) -> tuple[list[tensor], tuple[int, ...]]:
        """Row i of the result is row x_offsets[i] of the array, from column y_offset on."""
        rows = to_tensor(x_offsets)
        if len(self.block_shape) != 2 or len(rows.shape) != 1 or rows.dtype.kind not in "iu":
            raise CompileTypeError(
                "gather and scatter need a 2-D descriptor and a 1-D block of int rows, got"
                f" block_shape {self.block_shape} and {rows.type}"
            )
        column = _scalars([y_offset], I32, 1, "descriptor: y_offset")[0]
        count = cast(arange(0, self.block_shape[1]), I64) + cast(column, I64)
        places = [laid_along(cast(rows, I64), 0, 2), laid_along(count, 1, 2)]
        return places, (rows.numel, self.block_shape[1])

    def gather(self, x_offsets: Any, y_offset: Any, _semantic: Any = None) -> tensor:
        """The rows x_offsets (a 1-D int block), block_shape[1] elements from column y_offset."""
        rows, shape = self._gathered(x_offsets, y_offset)
        return self._load(rows, (0, 1), self.padding, shape, {})

    def scatter(self, value: Any, x_offsets: Any, y_offset: Any, _semantic: Any = None) -> None:
        """Writes the rows of value to the rows x_offsets of the array, from column y_offset on."""
        rows, shape = self._gathered(x_offsets, y_offset)
        self._store(rows, (0, 1), value, shape, {})

    def _atomic(self, kind: str, offsets: Any, value: Any) -> None:
        rows = self._at(offsets)
        address = self._addresses(rows, self.block_shape)
        mask = self._inside(rows, range(len(rows)))
        given = broadcast_to(tensor(_value(value, address, f"atomic_{kind}")), self.block_shape)
        current().emit("atomic", [address, given.handle, mask], {"kind": kind, "sem": "relaxed"})

    def atomic_add(self, offsets: Any, value: Any, _semantic: Any = None) -> None:
        """Adds a block to the array at these offsets, indivisibly element by element."""
        self._atomic("add", offsets, value)

    def atomic_min(self, offsets: Any, value: Any, _semantic: Any = None) -> None:
        """The smaller of block and array into the array. See atomic_add."""
        self._atomic("min", offsets, value)

    def atomic_max(self, offsets: Any, value: Any, _semantic: Any = None) -> None:
        """The larger of block and array into the array. See atomic_add."""
        self._atomic("max", offsets, value)

    def atomic_and(self, offsets: Any, value: Any, _semantic: Any = None) -> None:
        """Bitwise and of ints into the array. See atomic_add."""
        self._atomic("and", offsets, value)

    def atomic_or(self, offsets: Any, value: Any, _semantic: Any = None) -> None:
        """Bitwise or of ints into the array. See atomic_add."""
        self._atomic("or", offsets, value)

    def atomic_xor(self, offsets: Any, value: Any, _semantic: Any = None) -> None:
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
    base: Any, shape: Any, strides: Any, block_shape: Any, padding_option: str = "zero"
) -> tensor_descriptor:
    """A descriptor of an array in memory, loaded and stored in blocks of block_shape.

    base: the pointer to element 0; shape, strides: ints or scalars, in elements, the last stride 1;
    block_shape: constants. padding_option: "zero" or "nan", what loads outside give.
    """
    what = "make_tensor_descriptor"
    pointer, extents, steps, block = _array(base, shape, strides, block_shape, what)
    last = semantics.known(steps[-1])
    if last is not None and last != 1:
        raise CompileValueError(f"{what}: the last stride must be 1, got {last}")
    _padding(padding_option, pointee(pointer.handle))
    return tensor_descriptor(pointer, extents, steps, block, padding_option or "zero")


@builtin
def load_tensor_descriptor(desc: Any, offsets: Any) -> tensor:
    """`desc.load(offsets)`."""
    return desc.load(offsets)  # type: ignore[no-any-return]


@builtin
def store_tensor_descriptor(desc: Any, offsets: Any, value: Any) -> None:
    """`desc.store(offsets, value)`."""
    desc.store(offsets, value)


def _experimental_descriptor_load(desc: Any, offsets: Any, shape: Any, dtype: Any) -> tensor:
    """The old name of `desc.load(offsets)`; shape and dtype must be the descriptor's."""
    return _described(desc).load(offsets)


def _experimental_descriptor_store(desc: Any, value: Any, offsets: Any) -> None:
    """The old name of `desc.store(offsets, value)`."""
    _described(desc).store(offsets, value)


def _described(desc: Any) -> tensor_descriptor:
    if not isinstance(desc, tensor_descriptor):
        raise CompileTypeError(
            f"a tensor descriptor is needed (tl.make_tensor_descriptor), got {desc!r}; descriptors"
            " that the host wrote into memory for TMA cannot be read"
        )
    return desc
