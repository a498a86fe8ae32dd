"""What the ops mean that only make, convert or rearrange values.

One idea: each is the NumPy function of the same name. A meaning takes the program, the op and its
operands' arrays, and gives one array a result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import KernelError
from ...ir.nodes import Op
from ...ir.numeric import Array, bitcast, convert, held_dtype
from ...ir.structural import pointee
from ...ir.types import element_of

if TYPE_CHECKING:
    from .program import Program

Arrays = tuple[Array, ...]
Meaning = Callable[["Program", Op, Sequence[Any]], Sequence[Array]]


def operand_type(op: Op, index: int) -> Any:
    """The type of an operand that is present."""
    operand = op.operands[index]
    assert operand is not None
    return operand.ty


def _program_id(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.array(program.index[op.attrs["axis"]], np.int32),)


def _num_programs(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.array(program.launch.grid[op.attrs["axis"]], np.int32),)


def _arange(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.arange(op.attrs["start"], op.attrs["end"], dtype=np.int64).astype(np.int32),)


def _broadcast(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.broadcast_to(values[0], op.attrs["shape"]),)


def _cast(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    source = element_of(operand_type(op, 0))
    toward_zero = op.attribute("rounding") == "rtz"
    return (np.asarray(convert(source, op.attrs["to"], np.asarray(values[0]), toward_zero)),)


def _bitcast(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    value = np.asarray(values[0])
    source = element_of(operand_type(op, 0))
    bits = bitcast(source, op.attrs["to"], np.ascontiguousarray(value).reshape(-1))
    return (bits.reshape(value.shape),)


def _select(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.where(values[0], values[1], values[2]),)


def _addptr(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """Byte addresses: the offset is extended to 64 bits by its own signedness, then scaled."""
    size = np.int64(pointee(operand_type(op, 0)).itemsize)
    with np.errstate(over="ignore"):
        return (np.asarray(values[0] + values[1].astype(np.int64) * size),)


def _reshape(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.reshape(values[0], op.attrs["shape"]),)


def _trans(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.transpose(values[0], op.attrs["order"]),)


def _join(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.stack(values, axis=-1),)


def _split(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (values[0][..., 0], values[0][..., 1])


def _cat(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (np.concatenate(values, axis=op.attrs["axis"]),)


def _gather(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    """An index outside the axis is an error here; elsewhere it is undefined."""
    source, index, axis = *values, op.attrs["axis"]
    extent = source.shape[axis]
    outside = (index < 0) | (index >= extent)
    if outside.any():
        given = index[outside][0]
        message = f"gather: index {given} is not in 0 … {extent - 1}, in program {program.index}"
        raise KernelError(message, op.where)
    return (np.take_along_axis(source, index.astype(np.int64), axis),)


def _slice(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    starts, shape = op.attrs["starts"], op.attrs["shape"]
    window = tuple(slice(start, start + extent) for start, extent in zip(starts, shape))
    return (values[0][window],)


def _hint(program: Program, op: Op, values: Sequence[Any]) -> Arrays:
    return (values[0],)


def constant_array(value: Any, element: Any) -> Array:
    """A constant as the interpreter holds it."""
    return np.array(value, held_dtype(element))


MEANINGS: dict[str, Meaning] = {
    "program_id": _program_id,
    "num_programs": _num_programs,
    "arange": _arange,
    "broadcast": _broadcast,
    "cast": _cast,
    "bitcast": _bitcast,
    "select": _select,
    "addptr": _addptr,
    "reshape": _reshape,
    "trans": _trans,
    "join": _join,
    "split": _split,
    "cat": _cat,
    "gather": _gather,
    "slice": _slice,
    "hint": _hint,
}
