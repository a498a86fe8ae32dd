"""The rows of the structural ops without regions: memory, shapes, casts, sorts, dot, prints.

One idea: beside its type rule a structural op has one function in each target, found by name; a
test demands that the key sets are equal. A mask, `other` or value may be smaller than the pointer
it goes with, never larger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .ops import (
    REQUIRED,
    Effect,
    Mismatch,
    Types,
    along,
    broadcast_shapes,
    kind_names,
    need,
    structural,
)
from .types import (
    BOOL,
    I32,
    PointerType,
    Type,
    VectorType,
    element_of,
    shape_of,
    with_element,
    with_shape,
)

if TYPE_CHECKING:
    from .nodes import Region


def _select(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    condition, left, right = types
    need(element_of(condition) == BOOL, f"the condition must be bool, got {condition}")
    same = element_of(left) == element_of(right)
    need(same, f"both choices need one element type, got {left} and {right}")
    shape = broadcast_shapes([shape_of(ty) for ty in types])
    return (with_shape(element_of(left), shape),)


def _axis_program(
    types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]
) -> Types:
    axis = attrs["axis"]
    need(axis in (0, 1, 2), f"program axis must be 0, 1 or 2, got {axis}")
    return (I32,)


def _arange(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    start, end = attrs["start"], attrs["end"]
    need(end > start, f"arange needs end > start, got start={start}, end={end}")
    inside = start >= -(2**31) and end <= 2**31
    need(inside, f"arange is of i32, got start={start}, end={end}")
    return (VectorType((end - start,), I32),)


def _broadcast(
    types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]
) -> Types:
    (ty,), shape = types, attrs["shape"]
    given = shape_of(ty)
    fits = not given or (
        len(given) == len(shape) and all(a in (1, b) for a, b in zip(given, shape))
    )
    need(fits and bool(shape), f"{ty} does not broadcast to shape {shape}")
    return (with_shape(element_of(ty), shape),)


def _cast(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    source, target = element_of(types[0]), attrs["to"]
    pointers = [ty for ty in (source, target) if isinstance(ty, PointerType)]
    if len(pointers) == 1:
        other = target if source is pointers[0] else source
        need(other.kind in "iu" and other.bits == 64, f"cannot cast {source} to {target}")
    need(attrs["rounding"] in ("rtne", "rtz"), f"unknown rounding {attrs['rounding']!r}")
    return (with_element(types[0], target),)


def _bitcast(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    source, target = element_of(types[0]), attrs["to"]
    need(
        source.bits == target.bits,
        f"bitcast keeps the width: {source} has {source.bits} bits, {target} {target.bits}",
    )
    return (with_element(types[0], target),)


def _addptr(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    base, offset = types
    pointer = element_of(base)
    need(isinstance(pointer, PointerType), f"the base must be a pointer, got {base}")
    need(element_of(offset).kind in "iu", f"the offset must be an int, got {offset}")
    return (with_shape(pointer, broadcast_shapes([shape_of(base), shape_of(offset)])),)


def pointee(ty: Type) -> Any:
    """The element type a pointer (or block of pointers) points to."""
    pointer = element_of(ty)
    if not isinstance(pointer, PointerType):
        raise Mismatch(f"a pointer is needed, got {ty}")
    return pointer.element


def _fits(ty: Any, shape: tuple[int, ...], what: str) -> None:
    """The operand is absent, or stretches to the shape without enlarging it."""
    if ty is not None:
        need(
            broadcast_shapes([shape_of(ty), shape]) == shape,
            f"{what} of type {ty} does not fit shape {shape}",
        )


def _mask(ty: Any, shape: tuple[int, ...]) -> None:
    need(ty is None or element_of(ty) == BOOL, f"the mask must be bool, got {ty}")
    _fits(ty, shape, "the mask")


def _load(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    pointer, mask, other = types
    element, shape = pointee(pointer), shape_of(pointer)
    _mask(mask, shape)
    need(other is None or element_of(other) == element, f"`other` must be {element}, got {other}")
    _fits(other, shape, "`other`")
    return (with_shape(element, shape),)


def _store(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    pointer, value, mask = types
    element, shape = pointee(pointer), shape_of(pointer)
    need(element_of(value) == element, f"the value must be {element}, got {value}")
    _fits(value, shape, "the value")
    _mask(mask, shape)
    need(not element_of(pointer).const, "stores through a pointer to const")
    return ()


def _atomic(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    pointer = types[0]
    kinds = ATOMICS.get(attrs["kind"], "")
    element = pointee(pointer)
    need(
        element.kind in kinds,
        f"atomic {attrs['kind']} of {element} is not allowed; allowed are {kind_names(kinds)}",
    )
    _store(types, attrs, regions)
    return (with_shape(element, shape_of(pointer)),)


def _atomic_cas(
    types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]
) -> Types:
    pointer, expected, value = types
    _store((pointer, expected, None), attrs, regions)
    _store((pointer, value, None), attrs, regions)
    return (with_shape(pointee(pointer), shape_of(pointer)),)


def _reshape(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    (ty,), shape = types, attrs["shape"]
    need(
        math.prod(shape_of(ty)) == math.prod(shape),
        f"{ty} has not as many elements as shape {shape}",
    )
    return (with_shape(element_of(ty), shape),)


def _trans(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    (ty,), order = types, attrs["order"]
    shape = shape_of(ty)
    need(sorted(order) == list(range(len(shape))), f"{order} is not an order of the axes of {ty}")
    return (with_shape(element_of(ty), tuple(shape[axis] for axis in order)),)


def _join(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    left, right = types
    need(left == right, f"join needs two values of one type, got {left} and {right}")
    return (with_shape(element_of(left), (*shape_of(left), 2)),)


def _split(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    shape = shape_of(types[0])
    need(bool(shape) and shape[-1] == 2, f"split needs a last extent of 2, got {types[0]}")
    return (with_shape(element_of(types[0]), shape[:-1]),) * 2


def _cat(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    left, right, axis = shape_of(types[0]), shape_of(types[1]), attrs["axis"]
    rest = [shape[:axis] + shape[axis + 1 :] for shape in (left, right)]
    same = element_of(types[0]) == element_of(types[1]) and rest[0] == rest[1]
    need(
        same and 0 <= axis < len(left),
        f"cannot concatenate {types[0]} and {types[1]} along axis {axis}",
    )
    return (
        with_shape(
            element_of(types[0]), (*left[:axis], left[axis] + right[axis], *left[axis + 1 :])
        ),
    )


def _gather(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    source, index, axis = shape_of(types[0]), shape_of(types[1]), attrs["axis"]
    need(0 <= axis < len(source), f"axis {axis} is not one of {types[0]}")
    rest = [shape[:axis] + shape[axis + 1 :] for shape in (source, index)]
    need(
        rest[0] == rest[1] and len(source) == len(index),
        f"gather of {types[0]} by an index of type {types[1]}",
    )
    need(element_of(types[1]).kind in "iu", f"the index must be an int, got {types[1]}")
    return (with_shape(element_of(types[0]), index),)


def _slice(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    (ty,), starts, shape = types, attrs["starts"], attrs["shape"]
    given = shape_of(ty)
    inside = len(given) == len(starts) == len(shape) and all(
        start >= 0 and extent > 0 and start + extent <= whole
        for start, extent, whole in zip(starts, shape, given)
    )
    need(inside, f"the part of shape {shape} at {starts} is not inside {ty}")
    return (with_shape(element_of(ty), shape),)


def _sort(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    along(types, attrs["axis"])
    return tuple(types)


def _histogram(
    types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]
) -> Types:
    value, mask = types
    need(
        element_of(value).kind in "iu" and len(shape_of(value)) == 1,
        f"histogram needs a 1-D block of ints, got {value}",
    )
    need(attrs["bins"] > 0, f"histogram needs at least one bin, got {attrs['bins']}")
    _mask(mask, shape_of(value))
    return (VectorType((attrs["bins"],), I32),)


def _dot(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    left, right, acc = types
    a, b = shape_of(left), shape_of(right)
    fits = len(a) == len(b) in (2, 3) and a[:-2] == b[:-2] and a[-1] == b[-2]
    need(fits, f"dot needs (…, M, K) and (…, K, N), got {left} and {right}")
    need(
        element_of(left) == element_of(right),
        f"dot needs operands of one element type, got {left} and {right}",
    )
    need(
        attrs["precision"] in PRECISIONS,
        f"input_precision must be one of {PRECISIONS}, got {attrs['precision']!r}",
    )
    floats = element_of(left).kind == "f"
    legal = element_of(acc).kind == ("f" if floats else "i") and shape_of(acc) == (*a[:-1], b[-1])
    need(legal, f"an accumulator of type {acc} does not fit a dot of {left} and {right}")
    return (acc,)


def _nothing(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    return ()


def _condition(
    types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]
) -> Types:
    need(element_of(types[0]) == BOOL, f"the condition must be bool, got {types[0]}")
    for mask in types[1:]:
        _mask(mask, shape_of(types[0]))
    return ()


def _same(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    return (types[0],)


PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
ATOMICS = {
    "add": "iuf",
    "max": "iuf",
    "min": "iuf",
    "and": "iu",
    "or": "iu",
    "xor": "iu",
    "xchg": "iufp",
}
"""The kinds of element each atomic read-modify-write is defined for."""
ATOMIC_ROWS = {name: name for name in ("add", "and", "or", "xor")}
ATOMIC_ROWS |= {"max": "maximum", "min": "minimum"}
"""The element-wise row that says what an atomic makes of the old value and the operand; `xchg`
takes the operand."""

_HINTS = {"cache": "", "eviction": ""}
_SYNC = {"sem": "acq_rel", "scope": "gpu"}
_AXIS = {"axis": REQUIRED}
_SHAPE = {"shape": REQUIRED}
_WRITE = Effect.WRITE
_LOAD = {**_HINTS, "volatile": False}
_HINT = {"multiple": (), "contiguous": (), "constant": ()}

structural(
    "program_id", "", "The index of this program along a grid axis.", _axis_program, attrs=_AXIS
)
structural("num_programs", "", "The extent of the grid along an axis.", _axis_program, attrs=_AXIS)
structural(
    "arange", "", "The ints start … end-1.", _arange, attrs={"start": REQUIRED, "end": REQUIRED}
)
structural(
    "broadcast", "value", "Stretches a scalar or extents 1 to a shape.", _broadcast, attrs=_SHAPE
)
structural(
    "cast",
    "value",
    "Converts element by element.",
    _cast,
    attrs={"to": REQUIRED, "rounding": "rtne"},
)
structural(
    "bitcast", "value", "Reads the same bits as another type.", _bitcast, attrs={"to": REQUIRED}
)
structural(
    "select",
    "condition left right",
    "The second operand where the first is true, else the third.",
    _select,
)
structural(
    "addptr",
    "base offset",
    "The address `offset` elements past `base`.",
    _addptr,
    node_name="AddPtr",
)
structural("load", "ptr mask other", "Reads memory.", _load, attrs=_LOAD, effect=Effect.READ)
structural(
    "store",
    "ptr value mask",
    "Writes memory.",
    _store,
    attrs=_HINTS,
    effect=_WRITE,
    evaluation_order=(1, 0, 2),
)
structural(
    "atomic",
    "ptr value mask",
    "Read-modify-write; gives the old value.",
    _atomic,
    attrs={"kind": REQUIRED, **_SYNC},
    effect=_WRITE,
    evaluation_order=(1, 0, 2),
)
structural(
    "atomic_cas",
    "ptr expected value",
    "Writes the value where memory equals the expected bits; gives the old value.",
    _atomic_cas,
    attrs=_SYNC,
    effect=_WRITE,
    evaluation_order=(1, 2, 0),
)
structural(
    "reshape",
    "value",
    "The same elements in row-major order under another shape.",
    _reshape,
    attrs=_SHAPE,
)
structural(
    "trans",
    "value",
    "Axis i of the result is axis order[i] of the operand.",
    _trans,
    attrs={"order": REQUIRED},
)
structural("join", "left right", "Two blocks along a new last axis.", _join)
structural("split", "value", "The two halves of a last axis of extent 2.", _split)
structural("cat", "left right", "Two blocks one after the other along an axis.", _cat, attrs=_AXIS)
structural(
    "gather",
    "source index",
    "Elements picked along an axis by an index block.",
    _gather,
    attrs=_AXIS,
)
structural(
    "slice",
    "value",
    "The part of a shape at a constant place.",
    _slice,
    attrs={"starts": REQUIRED, **_SHAPE},
)
structural(
    "sort",
    "*values",
    "Sorts stably along an axis by the first operand, carrying the others; NaN last both ways.",
    _sort,
    attrs={**_AXIS, "descending": False},
)
structural("histogram", "value mask", "Counts of 0 … bins-1.", _histogram, attrs={"bins": REQUIRED})
structural(
    "dot", "left right acc", "Matrix product plus accumulator.", _dot, attrs={"precision": "ieee"}
)
structural(
    "assert",
    "condition mask",
    "Stops the launch where the condition is false.",
    _condition,
    attrs={"message": ""},
    effect=_WRITE,
)
structural(
    "print",
    "*values",
    "Shows values once a program.",
    _nothing,
    attrs={"prefix": "", "hex": False},
    effect=_WRITE,
)
structural(
    "assume",
    "condition",
    "A scalar condition the compiler may rely on.",
    _condition,
    effect=_WRITE,
)
structural(
    "barrier",
    "",
    "Orders the memory accesses of the program's threads.",
    _nothing,
    effect=_WRITE,
)
HINT = structural(
    "hint",
    "value",
    "The operand, with what is known of it per axis: multiples, contiguous and constant runs.",
    _same,
    attrs=_HINT,
)
