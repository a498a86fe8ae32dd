"""What the ops mean that touch memory, print or stop.

One idea: every access is first reduced to its masked-on lanes (`Lanes`); what a masked-off lane
points to is never looked at. Lanes act in row-major order: of two stores to one address the later
lane's stays, and each lane of an atomic sees what the lanes before it wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import KernelAssertionError
from ...ir.fold import evaluate
from ...ir.nodes import Op
from ...ir.numeric import Array, decode, encode, held_dtype, memory_dtype
from ...ir.ops import TABLE
from ...ir.structural import ATOMIC_ROWS, pointee
from ...ir.types import Element
from ..lanes import check_access
from ..reports import tell
from ..show import show
from .blocks import Arrays, Meaning, operand_type
from .memory import Lanes

if TYPE_CHECKING:
    from .program import Program


def _lanes(program: Program, op: Op, pointer: Any, mask: Any) -> Lanes:
    return Lanes.of(op.name, op.where, program.index, pointer, mask)


def _of_lanes(value: Any, lanes: Lanes) -> Array:
    """The masked-on elements of a value that stretches to the access's shape."""
    return np.broadcast_to(value, lanes.shape).reshape(-1)[lanes.position]


def _load(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    pointer, mask, other = values
    element, lanes = pointee(operand_type(op, 0)), _lanes(program, op, pointer, mask)
    absent = np.zeros((), held_dtype(element)) if other is None else other
    result = np.array(np.broadcast_to(absent, lanes.shape)).reshape(-1)
    result[lanes.position] = _read(program, element, lanes)
    return (result.reshape(lanes.shape),)


def _store(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    pointer, value, mask = values
    lanes = _lanes(program, op, pointer, mask)
    _write(program, pointee(operand_type(op, 0)), lanes, _of_lanes(value, lanes))
    return ()


def _read(program: Program, element: Element, lanes: Lanes) -> Array:
    return decode(element, program.launch.memory.read(lanes, memory_dtype(element)))


def _write(program: Program, element: Element, lanes: Lanes, value: Array) -> None:
    program.launch.memory.write(lanes, encode(element, value))


def _turns(addresses: Array) -> Iterator[Array]:
    """The lanes in groups without a repeated address: the first at each address, then the second, …

    Lanes at different addresses do not see one another, so a group may act at once.
    """
    order = np.argsort(addresses, kind="stable")
    place = np.arange(order.size)
    ordered = addresses[order]
    starts = np.append(True, ordered[1:] != ordered[:-1])[: order.size]
    turn = np.empty_like(order)
    turn[order] = place - np.maximum.accumulate(np.where(starts, place, 0))
    for number in range(int(turn.max(initial=-1)) + 1):
        yield np.flatnonzero(turn == number)


def _atomic(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    pointer, value, mask = values
    element, lanes = pointee(operand_type(op, 0)), _lanes(program, op, pointer, mask)
    given, old = _of_lanes(value, lanes), np.zeros(np.size(pointer), held_dtype(element))
    for turn in _turns(lanes.addresses):
        part = lanes.take(turn)
        before = _read(program, element, part)
        old[part.position] = before
        _write(program, element, part, _combine(op.attrs["kind"], element, before, given[turn]))
    return (old.reshape(lanes.shape),)


def _combine(kind: str, element: Any, before: Array, given: Array) -> Array:
    """What the atomic leaves in memory, rounded once to the element type."""
    if kind not in ATOMIC_ROWS:
        return given
    row = TABLE[ATOMIC_ROWS[kind]].element
    assert row is not None
    return evaluate(row, element, (before, given))


def _atomic_cas(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """Compares the bits in memory, so -0.0 is not 0.0 and a NaN equals itself."""
    pointer, expected, value = values
    element, lanes = pointee(operand_type(op, 0)), _lanes(program, op, pointer, None)
    unsigned = np.dtype(f"u{element.itemsize}")
    wanted, new = (encode(element, _of_lanes(v, lanes)).view(unsigned) for v in (expected, value))
    old = np.zeros(np.size(pointer), memory_dtype(element))
    for turn in _turns(lanes.addresses):
        before = program.launch.memory.read(lanes.take(turn), unsigned)
        old[turn] = before.view(old.dtype)
        equal = turn[before == wanted[turn]]
        program.launch.memory.write(lanes.take(equal), new[equal])
    return (decode(element, old).reshape(lanes.shape),)


def _print(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """The program, the prefix and the value, on a line or more a value."""
    for operand, value in zip(op.operands, values):
        if operand is not None:
            text = show(operand.ty, value, op.attribute("hex"))
            print(f"pid {program.index} {op.attribute('prefix')}{text}")
    if not values:
        print(f"pid {program.index} {op.attribute('prefix')}")
    return ()


def _assert(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    condition, *masks = values
    failed = ~np.asarray(condition)
    for mask in masks:
        failed = failed & (True if mask is None else mask)
    if failed.any():
        lanes = Lanes.of(op.name, op.where, program.index, np.zeros(failed.shape, int), failed)
        message = op.attribute("message") or "the condition is false"
        text = f"device assertion failed: {message}, in {lanes.describe(0)}"
        raise KernelAssertionError(text, op.where)
    return ()


def _check_access(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    check_access(op, program.index, values, program.launch.memory.arrays)
    return ()


def _report(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """The launch is told, and goes on."""
    if np.any(values[0]):
        tell(op, program.index, values)
    return ()


def _assume(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    if not np.all(values[0]):
        text = f"what the kernel tells the compiler to assume is false, in program {program.index}"
        raise KernelAssertionError(text, op.where)
    return ()


def _barrier(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """Nothing: a program's ops happen one after the other for all its lanes."""
    return ()


MEANINGS: dict[str, Meaning] = {
    "load": _load,
    "store": _store,
    "atomic": _atomic,
    "atomic_cas": _atomic_cas,
    "print": _print,
    "assert": _assert,
    "assume": _assume,
    "barrier": _barrier,
    "check_access": _check_access,
    "report": _report,
}
