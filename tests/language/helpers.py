"""Runs language code on NumPy blocks by the interpreter, and shows what it emits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import mytriton.language as tl
from mytriton.ir.build import Builder, using
from mytriton.ir.nodes import Function, Param
from mytriton.ir.text import print_function
from mytriton.ir.types import BOOL, PointerType, ScalarType, Type, VectorType, element_of, shape_of
from mytriton.targets.interpret import run
from mytriton.targets.memory import Buffer

DTYPES = {
    "int1": np.dtype(np.bool_),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp16": np.dtype(np.float16),
    "fp32": np.dtype(np.float32),
    "fp64": np.dtype(np.float64),
    "fp8e4nv": np.dtype(ml_dtypes.float8_e4m3fn),
    "fp8e5": np.dtype(ml_dtypes.float8_e5m2),
    **{f"{s}int{b}": np.dtype(f"{s}int{b}") for s in ("", "u") for b in (8, 16, 32, 64)},
}
"""The NumPy dtype of each element type, by Triton's name."""


def element_type(dtype: Any) -> ScalarType:
    """The element type of a NumPy dtype."""
    name = next(name for name, known in DTYPES.items() if known == np.dtype(dtype))
    return tl.dtype(name)


def trace(body: Callable[..., Any], *params: Type) -> Function:
    """The function that `body` emits, called with tensors of these types."""
    given = [Param(f"p{i}", ty) for i, ty in enumerate(params)]
    with using(Builder(where=())) as builder:
        body(*map(tl.tensor, given))
        return builder.function("kernel", given)


def text(body: Callable[..., Any], *params: Type) -> str:
    """The SSA text of what `body` emits."""
    return print_function(trace(body, *params))


def block(array: np.ndarray[Any, Any], pointer: Any) -> Any:
    """The whole array as a block, or a scalar of an array of rank 0."""
    if not array.shape:
        return tl.load(pointer)
    return tl.reshape(tl.load(pointer + tl.arange(0, array.size)), array.shape)


def evaluate(body: Callable[..., Any], *arrays: Any) -> Any:
    """What `body` returns when called with the arrays as blocks: one array, or a tuple of them."""
    inputs = [np.ascontiguousarray(a).reshape(np.shape(a)) for a in map(np.asarray, arrays)]
    types: list[Type] = []

    def measure(*pointers: Any) -> None:
        results = body(*map(block, inputs, pointers))
        types.extend(tl.to_tensor(r).type for r in as_tuple(results))

    pointers = [PointerType(element_type(a.dtype)) for a in inputs]
    trace(measure, *pointers)
    outputs = [np.zeros(shape_of(ty), DTYPES[element_of(ty).name]) for ty in types]

    def kernel(*given: Any) -> None:
        results = as_tuple(body(*map(block, inputs, given)))
        for value, pointer, ty in zip(results, given[len(inputs) :], types):
            store(tl.to_tensor(value), pointer, ty)

    function = trace(kernel, *pointers, *(PointerType(element_of(ty)) for ty in types))
    memory = [buffer(array) for array in [*inputs, *outputs]]
    run(function, memory, (1, 1, 1))
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def launch(
    body: Callable[..., Any], *arguments: Any, grid: tuple[int, int, int] = (1, 1, 1)
) -> None:
    """Runs `body` as a kernel: arrays are pointers (written in place), ints i32, floats f32."""
    types: list[Type] = [
        PointerType(element_type(a.dtype)) if isinstance(a, np.ndarray) else scalar_type(a)
        for a in arguments
    ]
    given = [buffer(a) if isinstance(a, np.ndarray) else a for a in arguments]
    run(trace(body, *types), given, (1, 1, 1))


def scalar_type(value: Any) -> ScalarType:
    return BOOL if isinstance(value, bool) else tl.int32 if isinstance(value, int) else tl.float32


def store(value: Any, pointer: Any, ty: Type) -> None:
    if not isinstance(ty, VectorType):
        tl.store(pointer, value)
        return
    size = math.prod(ty.shape)
    tl.store(pointer + tl.arange(0, size), tl.reshape(value, (size,)))


def buffer(array: np.ndarray[Any, Any]) -> Buffer:
    address = array.ctypes.data
    return Buffer(PointerType(element_type(array.dtype)), address, array.nbytes, array)


def as_tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)
