"""The rows of the structural ops without regions: memory, shapes, casts, sorts, dot, prints.

Beside its type rule a structural op has one function in each target, found by name; a
test demands that the key sets are equal. A mask, `other` or value may be smaller than the pointer
it goes with, never larger.
"""

from __future__ import annotations

import math

from .ops import (
    REQUIRED,
    Effect,
    Signature,
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
    I64,
    Element,
    PointerType,
    Type,
    VectorType,
    element_of,
    shape_of,
    with_element,
    with_shape,
)


def _select(sig: Signature) -> Types:
    condition, left, right = sig.all()
    need(element_of(condition) == BOOL, f"the condition must be bool, got {condition}")
    same = element_of(left) == element_of(right)
    need(same, f"both choices need one element type, got {left} and {right}")
    return (with_shape(element_of(left), broadcast_shapes(list(map(shape_of, sig.all())))),)


def _axis_program(sig: Signature) -> Types:
    need(sig["axis"] in (0, 1, 2), f"program axis must be 0, 1 or 2, got {sig['axis']}")
    return (I32,)


def _arange(sig: Signature) -> Types:
    start, end = sig["start"], sig["end"]
    need(end > start, f"arange needs end > start, got start={start}, end={end}")
    inside = start >= -(2**31) and end <= 2**31
    need(inside, f"arange is of i32, got start={start}, end={end}")
    return (VectorType((end - start,), I32),)


def _broadcast(sig: Signature) -> Types:
    given, shape = sig.shape(0), sig["shape"]
    fits = len(given) == len(shape) and all(a in (1, b) for a, b in zip(given, shape))
    need(bool(shape) and (not given or fits), f"{sig.type(0)} does not broadcast to shape {shape}")
    return (with_shape(sig.element(0), shape),)


def _cast(sig: Signature) -> Types:
    source, target = sig.element(0), sig["to"]
    pointers = [ty for ty in (source, target) if isinstance(ty, PointerType)]
    if len(pointers) == 1:
        other = target if source is pointers[0] else source
        need(other.kind in "iu" and other.bits == 64, f"cannot cast {source} to {target}")
    need(sig["rounding"] in ("rtne", "rtz"), f"unknown rounding {sig['rounding']!r}")
    return (with_element(sig.type(0), target),)


def _bitcast(sig: Signature) -> Types:
    source, target = sig.element(0), sig["to"]
    need(
        source.bits == target.bits,
        f"bitcast keeps the width: {source} has {source.bits} bits, {target} {target.bits}",
    )
    return (with_element(sig.type(0), target),)


def _addptr(sig: Signature) -> Types:
    pointer = sig.pointer(0)
    need(sig.element(1).kind in "iu", f"the offset must be an int, got {sig.type(1)}")
    return (with_shape(pointer, broadcast_shapes([sig.shape(0), sig.shape(1)])),)


def pointee(ty: Type) -> Element:
    """The element type a pointer (or block of pointers) points to."""
    pointer = element_of(ty)
    assert isinstance(pointer, PointerType), f"a pointer is needed, got {ty}"
    return pointer.element


def _fits(sig: Signature, place: int, element: Element, what: str, target: int = 0) -> None:
    """The operand is absent, or of that element type and stretches to the shape of operand
    `target` without enlarging it."""
    ty = sig.types[place]
    if ty is not None:
        need(element_of(ty) == element, f"{what} must be {element}, got {ty}")
        shape = sig.shape(target)
        fits = broadcast_shapes([shape_of(ty), shape]) == shape
        need(fits, f"{what} of type {ty} does not fit shape {shape}")


def _load(sig: Signature) -> Types:
    element = sig.pointer(0).element
    _fits(sig, 1, BOOL, "the mask")
    _fits(sig, 2, element, "`other`")
    return (with_shape(element, sig.shape(0)),)


def _writes(sig: Signature, *values: int) -> Element:
    """The element type that an op writes through operand 0; `values` are what it takes."""
    pointer = sig.pointer(0)
    for place in values:
        sig.type(place)
        _fits(sig, place, pointer.element, f"the {sig.row.operand_name(place)}")
    need(not pointer.const, "stores through a pointer to const")
    return pointer.element


def _store(sig: Signature) -> Types:
    _writes(sig, 1)
    _fits(sig, 2, BOOL, "the mask")
    return ()


def _atomic(sig: Signature) -> Types:
    element, kinds = sig.pointer(0).element, ATOMICS.get(sig["kind"], "")
    need(
        element.kind in kinds,
        f"atomic {sig['kind']} of {element} is not allowed; allowed are {kind_names(kinds)}",
    )
    _store(sig)
    return (with_shape(element, sig.shape(0)),)


def _atomic_cas(sig: Signature) -> Types:
    return (with_shape(_writes(sig, 1, 2), sig.shape(0)),)


def _reshape(sig: Signature) -> Types:
    shape = sig["shape"]
    same = math.prod(sig.shape(0)) == math.prod(shape)
    need(same, f"{sig.type(0)} has not as many elements as shape {shape}")
    return (with_shape(sig.element(0), shape),)


def _trans(sig: Signature) -> Types:
    shape, order = sig.shape(0), sig["order"]
    right = sorted(order) == list(range(len(shape)))
    need(right, f"{order} is not an order of the axes of {sig.type(0)}")
    return (with_shape(sig.element(0), tuple(shape[axis] for axis in order)),)


def _join(sig: Signature) -> Types:
    left, right = sig.all()
    need(left == right, f"join needs two values of one type, got {left} and {right}")
    return (with_shape(sig.element(0), (*sig.shape(0), 2)),)


def _split(sig: Signature) -> Types:
    shape = sig.shape(0)
    need(shape[-1:] == (2,), f"split needs a last extent of 2, got {sig.type(0)}")
    return (with_shape(sig.element(0), shape[:-1]),) * 2


def _cat(sig: Signature) -> Types:
    left, right, axis = sig.shape(0), sig.shape(1), sig["axis"]
    same = sig.element(0) == sig.element(1) and _others(left, axis) == _others(right, axis)
    need(
        same and 0 <= axis < len(left),
        f"cannot concatenate {sig.type(0)} and {sig.type(1)} along axis {axis}",
    )
    shape = (*left[:axis], left[axis] + right[axis], *left[axis + 1 :])
    return (with_shape(sig.element(0), shape),)


def _others(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The extents of the axes but one."""
    return shape[:axis] + shape[axis + 1 :]


def _gather(sig: Signature) -> Types:
    source, index, axis = sig.shape(0), sig.shape(1), sig["axis"]
    need(0 <= axis < len(source), f"axis {axis} is not one of {sig.type(0)}")
    fits = _others(source, axis) == _others(index, axis) and len(source) == len(index)
    need(fits, f"gather of {sig.type(0)} by an index of type {sig.type(1)}")
    need(sig.element(1).kind in "iu", f"the index must be an int, got {sig.type(1)}")
    return (with_shape(sig.element(0), index),)


def _slice(sig: Signature) -> Types:
    given, starts, shape = sig.shape(0), sig["starts"], sig["shape"]
    inside = len(given) == len(starts) == len(shape) and all(
        start >= 0 and extent > 0 and start + extent <= whole
        for start, extent, whole in zip(starts, shape, given)
    )
    need(inside, f"the part of shape {shape} at {starts} is not inside {sig.type(0)}")
    return (with_shape(sig.element(0), shape),)


def _sort(sig: Signature) -> Types:
    along(sig.all(), sig["axis"])
    return sig.all()


def _histogram(sig: Signature) -> Types:
    block = sig.element(0).kind in "iu" and len(sig.shape(0)) == 1
    need(block, f"histogram needs a 1-D block of ints, got {sig.type(0)}")
    need(sig["bins"] > 0, f"histogram needs at least one bin, got {sig['bins']}")
    _fits(sig, 1, BOOL, "the mask")
    return (VectorType((sig["bins"],), I32),)


def _dot(sig: Signature) -> Types:
    left, right, acc = sig.all()
    a, b = shape_of(left), shape_of(right)
    fits = len(a) == len(b) in (2, 3) and a[:-2] == b[:-2] and a[-1] == b[-2]
    need(fits, f"dot needs (…, M, K) and (…, K, N), got {left} and {right}")
    same = sig.element(0) == sig.element(1)
    need(same, f"dot needs operands of one element type, got {left} and {right}")
    precision = sig["precision"]
    legal = precision in (*PRECISIONS, "default")
    need(legal, f"input_precision must be one of {PRECISIONS}, got {precision!r}")
    kind = "f" if sig.element(0).kind == "f" else "i"
    legal = sig.element(2).kind == kind and shape_of(acc) == (*a[:-1], b[-1])
    need(legal, f"an accumulator of type {acc} does not fit a dot of {left} and {right}")
    return (acc,)


def _nothing(sig: Signature) -> Types:
    return ()


def _condition(sig: Signature) -> Types:
    need(sig.element(0) == BOOL, f"the condition must be bool, got {sig.type(0)}")
    for place in range(1, len(sig.types)):
        _fits(sig, place, BOOL, "the mask")
    return ()


def _check_access(sig: Signature) -> Types:
    """A pointer, its mask, and pairs of addresses: first byte and end of each array."""
    sig.pointer(0)
    _fits(sig, 1, BOOL, "the mask")
    bounds = sig.types[2:]
    pairs = len(bounds) % 2 == 0 and all(ty == I64 for ty in bounds)
    need(pairs, f"the bounds must be pairs of i64, got {', '.join(map(str, bounds))}")
    return ()


def _report(sig: Signature) -> Types:
    need(sig.element(0) == BOOL, f"what is reported must be bool, got {sig.type(0)}")
    for place in range(1, len(sig.types)):
        fits = broadcast_shapes([sig.shape(place), sig.shape(0)]) == sig.shape(0)
        need(fits, f"a value of type {sig.type(place)} does not fit shape {sig.shape(0)}")
    return ()


def _same(sig: Signature) -> Types:
    return (sig.type(0),)


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
    speculatable=False,
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
    "dot",
    "left right acc",
    "Matrix product plus accumulator.",
    _dot,
    attrs={"precision": "default"},
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
CHECK_ACCESS = structural(
    "check_access",
    "pointer mask *bounds",
    "Stops the launch where a lane that is on points outside every [start, end) of the bounds.",
    _check_access,
    attrs={"access": REQUIRED},
    effect=_WRITE,
)
REPORT = structural(
    "report",
    "bad *values",
    "Tells of the lanes for which the first operand holds, with their values.",
    _report,
    attrs={"kind": REQUIRED, "detail": ()},
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
