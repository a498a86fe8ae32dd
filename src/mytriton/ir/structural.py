"""The rows of the structural ops: memory, shapes, reductions, control flow.

One idea: beside its type rule a structural op has one function in each target, found by name; a
test demands that the key sets are equal. A mask, `other` or value may be smaller than the pointer
it goes with, never larger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .nodes import Region
from .ops import REQUIRED, Effect, Mismatch, Row, Types, add_row, broadcast_shapes, kind_names, need
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


def _along(types: Sequence[Any], axis: int) -> tuple[int, ...]:
    """The one shape of the operands, of which axis is an axis."""
    shapes = {shape_of(ty) for ty in types}
    need(len(shapes) == 1, f"operands of one shape expected, got {', '.join(map(str, types))}")
    shape = shapes.pop()
    need(0 <= axis < len(shape), f"axis {axis} is not one of shape {shape}")
    return shape


def _combiner(types: Sequence[Any], region: Region) -> None:
    """A region of two values an operand that gives one an operand, all scalar."""
    elements = tuple(element_of(ty) for ty in types)
    given = tuple(param.ty for param in region.params)
    need(given == elements * 2, f"the combine function must take {elements * 2}, takes {given}")
    results = region.result_types
    need(results == elements, f"the combine function must return {elements}, returns {results}")


def _reduce(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    axis = attrs["axis"]
    shape = _along(types, axis)
    _combiner(types, regions[0])
    return tuple(with_shape(element_of(ty), shape[:axis] + shape[axis + 1 :]) for ty in types)


def _scan(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    _along(types, attrs["axis"])
    _combiner(types, regions[0])
    return tuple(types)


def _sort(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    _along(types, attrs["axis"])
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


def _for(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    bounds, carried, region = types[:3], tuple(types[3:]), regions[0]
    same = len(set(bounds)) == 1 and bounds[0].kind in "iu"
    need(same, f"loop bounds need one int type, got {', '.join(map(str, bounds))}")
    given = tuple(param.ty for param in region.params)
    need(
        given == (bounds[0], *carried),
        f"the loop body takes {given}, is given {(bounds[0], *carried)}",
    )
    need(
        region.result_types == carried,
        f"the loop carries {carried} but its body gives {region.result_types}",
    )
    return carried


def _while(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    carried, (test, body) = tuple(types), regions
    for region in regions:
        given = tuple(param.ty for param in region.params)
        need(given == carried, f"a region of the loop takes {given}, is given {carried}")
    need(
        test.result_types == (BOOL,),
        f"the loop's condition must be one bool, got {test.result_types}",
    )
    need(
        body.result_types == carried,
        f"the loop carries {carried} but its body gives {body.result_types}",
    )
    return carried


def _if(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    need(tuple(types) == (BOOL,), f"the condition must be one bool, got {types[0]}")
    then, other = regions
    same = then.result_types == other.result_types and not then.params and not other.params
    need(same, f"the branches give {then.result_types} and {other.result_types}")
    return then.result_types


def _map(types: Sequence[Any], attrs: Mapping[str, Any], regions: tuple[Region, ...]) -> Types:
    shape = broadcast_shapes([shape_of(ty) for ty in types])
    given = tuple(param.ty for param in regions[0].params)
    need(
        given == tuple(map(element_of, types)),
        f"the function takes {given}, is given {tuple(types)}",
    )
    return tuple(with_shape(element_of(ty), shape) for ty in regions[0].result_types)


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

_HINTS = {"cache": "", "eviction": ""}
_SYNC = {"sem": "acq_rel", "scope": "gpu"}

for _row in (
    Row(
        "program_id",
        "The index of this program along a grid axis.",
        _axis_program,
        {"axis": REQUIRED},
    ),
    Row("num_programs", "The extent of the grid along an axis.", _axis_program, {"axis": REQUIRED}),
    Row("arange", "The ints start … end-1.", _arange, {"start": REQUIRED, "end": REQUIRED}),
    Row(
        "broadcast", "Stretches a scalar or extents 1 to a shape.", _broadcast, {"shape": REQUIRED}
    ),
    Row("cast", "Converts element by element.", _cast, {"to": REQUIRED, "rounding": "rtne"}),
    Row("bitcast", "Reads the same bits as another type.", _bitcast, {"to": REQUIRED}),
    Row("select", "The second operand where the first is true, else the third.", _select),
    Row("addptr", "The address `offset` elements past `base`.", _addptr),
    Row(
        "load",
        "Reads memory: pointer, mask, other.",
        _load,
        {**_HINTS, "volatile": False},
        Effect.READ,
    ),
    Row("store", "Writes memory: pointer, value, mask.", _store, _HINTS, Effect.WRITE),
    Row(
        "atomic",
        "Read-modify-write: pointer, value, mask; gives the old value.",
        _atomic,
        {"kind": REQUIRED, **_SYNC},
        Effect.WRITE,
    ),
    Row(
        "atomic_cas",
        "Writes the value where memory equals the expected bits; gives the old value.",
        _atomic_cas,
        _SYNC,
        Effect.WRITE,
    ),
    Row(
        "reshape",
        "The same elements in row-major order under another shape.",
        _reshape,
        {"shape": REQUIRED},
    ),
    Row(
        "trans",
        "Axis i of the result is axis order[i] of the operand.",
        _trans,
        {"order": REQUIRED},
    ),
    Row("join", "Two blocks along a new last axis.", _join),
    Row("split", "The two halves of a last axis of extent 2.", _split),
    Row("cat", "Two blocks one after the other along an axis.", _cat, {"axis": REQUIRED}),
    Row("gather", "Elements picked along an axis by an index block.", _gather, {"axis": REQUIRED}),
    Row(
        "slice",
        "The part of a shape at a constant place.",
        _slice,
        {"starts": REQUIRED, "shape": REQUIRED},
    ),
    Row("reduce", "Combines along an axis, in order.", _reduce, {"axis": REQUIRED}, regions=1),
    Row(
        "scan",
        "Running combinations along an axis.",
        _scan,
        {"axis": REQUIRED, "reverse": False},
        regions=1,
    ),
    Row(
        "sort",
        "Sorts stably along an axis by the first operand, carrying the others.",
        _sort,
        {"axis": REQUIRED, "descending": False},
    ),
    Row("histogram", "Counts of 0 … bins-1: value, mask.", _histogram, {"bins": REQUIRED}),
    Row("dot", "Matrix product plus accumulator: a, b, acc.", _dot, {"precision": "ieee"}),
    Row(
        "for",
        "lo, hi, step, carried values; the body takes the index and the carried values.",
        _for,
        {"hints": ()},
        regions=1,
    ),
    Row("while", "Carried values; a condition region and a body region.", _while, regions=2),
    Row("if", "One condition; two regions.", _if, regions=2),
    Row("map", "A scalar function applied to every element.", _map, regions=1),
    Row("yield", "Ends a region with its results.", _nothing),
    Row(
        "assert",
        "Stops the launch where the condition is false: condition, mask.",
        _condition,
        {"message": ""},
        Effect.WRITE,
    ),
    Row(
        "print",
        "Shows values once a program.",
        _nothing,
        {"prefix": "", "hex": False},
        Effect.WRITE,
    ),
    Row("assume", "A scalar condition the compiler may rely on.", _condition, effect=Effect.WRITE),
    Row(
        "barrier",
        "Orders the memory accesses of the program's threads.",
        _nothing,
        effect=Effect.WRITE,
    ),
    Row(
        "hint",
        "The operand, with what is known of it per axis: multiples, contiguous and constant runs.",
        _same,
        {"multiple": (), "contiguous": (), "constant": ()},
    ),
):
    add_row(_row)
