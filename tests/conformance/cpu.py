"""Rows computed by the CPU target: a kernel loads the operands, applies rows, stores the results.

One idea: compiling is what costs, so all rows of one arity and element type share a kernel, which
writes each row's result to an array of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mytriton.ir.build import Builder, emit, using
from mytriton.ir.nodes import Const, Function, Param
from mytriton.ir.numeric import Array, decode, encode, memory_dtype
from mytriton.ir.types import I32, PointerType, ScalarType
from mytriton.passes.pipeline import optimize
from mytriton.targets import CompileOptions, cpu
from mytriton.targets.memory import Buffer

BLOCK = 64


def function(
    names: Sequence[str], element: ScalarType, results: Sequence[ScalarType], arity: int
) -> Function:
    """Operands, then results, of BLOCK elements a program; a param an array."""
    inputs = [Param(f"x{i}", PointerType(element)) for i in range(arity)]
    outputs = [Param(f"out{i}", PointerType(result)) for i, result in enumerate(results)]
    with using(Builder(where=())) as builder:
        start = emit("mul", emit("program_id", axis=0), Const(BLOCK, I32))
        offsets = emit("add", start, emit("arange", start=0, end=BLOCK))
        values = [emit("load", emit("addptr", param, offsets), None, None) for param in inputs]
        for name, output in zip(names, outputs):
            result = emit(name, *values)
            builder.emit("store", [emit("addptr", output, offsets), result, None])
        return optimize(builder.function("rows", [*inputs, *outputs]))


def run(
    names: Sequence[str],
    element: ScalarType,
    results: Sequence[ScalarType],
    arrays: Sequence[Array],
) -> list[Array]:
    """Each row's results on the arrays, in held dtypes."""
    size = len(arrays[0])
    padded = -(-size // BLOCK) * BLOCK
    given = [encode(element, np.resize(array, padded)) for array in arrays]
    outputs = [np.zeros(padded, memory_dtype(result)) for result in results]
    kernel = cpu.compile(
        function(names, element, results, len(arrays)), CompileOptions(overlap=False)
    )
    types = [element] * len(arrays) + list(results)
    buffers = [
        Buffer(PointerType(ty), array.ctypes.data, array.nbytes, array)
        for ty, array in zip(types, [*given, *outputs])
    ]
    kernel.launch((padded // BLOCK, 1, 1), buffers)
    return [decode(result, output)[:size] for result, output in zip(results, outputs)]
