"""Programs in SSA text that together use every op of the table, and can all be run.

All have the parameters of `PARAMS`; `run` gives them the same data and returns what they wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mytriton.ir.build import Builder, emit, using
from mytriton.ir.nodes import Const, Function, Param
from mytriton.ir.ops import TABLE
from mytriton.ir.parse import parse
from mytriton.ir.types import BOOL, F32, I32, PointerType, element_of
from mytriton.targets.interpret import run as interpret
from mytriton.targets.memory import Buffer

PARAMS = "x: ptr<f32>, y: ptr<i32>, out: ptr<f32>, counts: ptr<i32>, n: i32"
SIZE = 64
"""Elements of each buffer."""


def program(body: str) -> Function:
    """The kernel with the standard parameters and this body."""
    return parse(f"kernel program({PARAMS}) {{\n{body}\n}}")


def arrays() -> list[np.ndarray[Any, Any]]:
    """Fresh x (floats, special ones too), y (small ints), out and counts (zeros)."""
    random = np.random.default_rng(7)
    x = random.standard_normal(SIZE).astype(np.float32) * 4
    x[[3, 9, 12, 15]] = -0.0, np.inf, np.nan, -np.inf
    y = random.integers(-9, 30, SIZE).astype(np.int32)
    return [x, y, np.zeros(SIZE, np.float32), np.zeros(SIZE, np.int32)]


def run(function: Function, n: int = 50, programs: int = 3) -> list[bytes]:
    """The bytes of the four buffers after a launch (a NaN is any NaN)."""
    data = arrays()
    buffers = [
        Buffer(param.ty, array.__array_interface__["data"][0], array.nbytes, array)
        for param, array in zip(function.params, data)
        if isinstance(param.ty, PointerType)
    ]
    interpret(function, [*buffers, n], (programs, 1, 1))
    for array in data:
        if array.dtype == np.float32:
            array[np.isnan(array)] = np.nan
    return [array.tobytes() for array in data]


PROGRAMS = {
    "add": """
    %0 = program_id {axis=0} : i32
    %1 = mul %0, 16 : i32
    %2 = arange {start=0, end=16} : vector<16 x i32>
    %3 = add %1, %2 : vector<16 x i32>
    %4 = addptr x, %3 : vector<16 x ptr<f32>>
    %5 = cmp_lt %3, n : vector<16 x bool>
    %6 = load %4, %5, 0.0 : vector<16 x f32>
    %7 = addptr y, %3 : vector<16 x ptr<i32>>
    %8 = load %7, %5, none : vector<16 x i32>
    %9 = cast %8 {to=f32} : vector<16 x f32>
    %10 = add %6, %9 : vector<16 x f32>
    %11 = addptr out, %3 : vector<16 x ptr<f32>>
    store %11, %10, %5
    """,
    "loop": """
    %0 = program_id {axis=0} : i32
    %1 = num_programs {axis=0} : i32
    %2 = arange {start=0, end=8} : vector<8 x i32>
    %3 = broadcast 0.0 {shape=(8,)} : vector<8 x f32>
    %4, %5 = for 0, 5, 2, %3, 1 : vector<8 x f32>, i32 (%6 i : i32, %7 total : vector<8 x f32>, \
%8 product : i32) {
        %9 = mul %6, 8 : i32
        %10 = add %9, %2 : vector<8 x i32>
        %11 = addptr x, %10 : vector<8 x ptr<f32>>
        %12 = load %11, none, none : vector<8 x f32>
        %13 = add %7, %12 : vector<8 x f32>
        %14 = addptr y, %6 : ptr<i32>
        %15 = load %14, none, none : i32
        %16 = mul %8, %15 : i32
        yield %13, %16
    }
    %17 = mul %0, 8 : i32
    %18 = add %17, %2 : vector<8 x i32>
    %19 = addptr out, %18 : vector<8 x ptr<f32>>
    store %19, %4, none
    %20 = addptr counts, %0 : ptr<i32>
    %21 = add %5, %1 : i32
    store %20, %21, none
    """,
    "counted down, storing": """
    for 49, 0, -7 (%0 : i32) {
        %1 = addptr y, %0 : ptr<i32>
        %2 = load %1, none, none : i32
        %3 = addptr counts, %0 : ptr<i32>
        %4 = add %2, %0 : i32
        store %3, %4, none
        yield
    }
    """,
    "while": """
    %0 = program_id {axis=0} : i32
    %1 = add n, %0 : i32
    %2, %3 = while %1, 0 : i32, i32 (%4 left : i32, %5 steps : i32) {
        %6 = cmp_gt %4, 1 : bool
        yield %6
    } do (%7 left : i32, %8 steps : i32) {
        %9 = div %7, 2 : i32
        %10 = add %8, 1 : i32
        yield %9, %10
    }
    %11 = addptr counts, %0 : ptr<i32>
    store %11, %3, none
    """,
    "branches": """
    %0 = program_id {axis=0} : i32
    for 0, 4, 1 (%1 i : i32) {
        %2 = add %0, %1 : i32
        %3 = mod %2, 2 : i32
        %4 = cmp_eq %3, 0 : bool
        %5 = if %4 : f32 {
            %6 = addptr x, %2 : ptr<f32>
            %7 = load %6, none, none : f32
            yield %7
        } else {
            yield 2.5
        }
        %8 = cmp_lt %5, 0.0 : bool
        if %8 {
            %9 = addptr counts, %2 : ptr<i32>
            store %9, %1, none
            yield
        } else {
            yield
        }
        %10 = mul %0, 4 : i32
        %11 = add %10, %1 : i32
        %12 = addptr out, %11 : ptr<f32>
        store %12, %5, none
        yield
    }
    """,
    "shapes": """
    %0 = arange {start=0, end=8} : vector<8 x i32>
    %1 = addptr x, %0 : vector<8 x ptr<f32>>
    %2 = load %1, none, none : vector<8 x f32>
    %3 = reshape %2 {shape=(2, 4)} : vector<2x4 x f32>
    %4 = trans %3 {order=(1, 0)} : vector<4x2 x f32>
    %5, %6 = split %4 : vector<4 x f32>, vector<4 x f32>
    %7 = join %6, %5 : vector<4x2 x f32>
    %8 = cat %7, %4 {axis=0} : vector<8x2 x f32>
    %9 = slice %8 {starts=(2, 0), shape=(4, 2)} : vector<4x2 x f32>
    %10 = reshape %9 {shape=(8,)} : vector<8 x f32>
    %11 = addptr y, %0 : vector<8 x ptr<i32>>
    %12 = load %11, none, none : vector<8 x i32>
    %13 = and %12, 7 : vector<8 x i32>
    %14 = gather %10, %13 {axis=0} : vector<8 x f32>
    %15 = reshape %14 {shape=(8, 1)} : vector<8x1 x f32>
    %16 = broadcast %15 {shape=(8, 4)} : vector<8x4 x f32>
    %17 = arange {start=0, end=32} : vector<32 x i32>
    %18 = hint %17 {multiple=(1,), contiguous=(32,), constant=(1,)} : vector<32 x i32>
    %19 = addptr out, %18 : vector<32 x ptr<f32>>
    %20 = reshape %16 {shape=(32,)} : vector<32 x f32>
    store %19, %20, none
    """,
    "combine": """
    %0 = arange {start=0, end=16} : vector<16 x i32>
    %1 = addptr y, %0 : vector<16 x ptr<i32>>
    %2 = load %1, none, none : vector<16 x i32>
    %3 = reduce %2 {axis=0} : i32 (%4 : i32, %5 : i32) {
        %6 = add %4, %5 : i32
        yield %6
    }
    %7, %8 = scan %2, %0 {axis=0, reverse=true} : vector<16 x i32>, vector<16 x i32> \
(%9 : i32, %10 : i32, %11 : i32, %12 : i32) {
        %13 = cmp_gt %9, %11 : bool
        %14 = select %13, %9, %11 : i32
        %15 = if %13 : i32 {
            yield %10
        } else {
            yield %12
        }
        yield %14, %15
    }
    %16, %17 = sort %2, %0 {axis=0, descending=true} : vector<16 x i32>, vector<16 x i32>
    %18 = cmp_gt %2, 3 : vector<16 x bool>
    %19 = histogram %2, %18 {bins=16} : vector<16 x i32>
    %20 = map %7, %17 : vector<16 x i32> (%21 : i32, %22 : i32) {
        %23 = add %21, %22 : i32
        yield %23
    }
    %24 = reshape %20 {shape=(4, 4)} : vector<4x4 x i32>
    %25 = cast %24 {to=f32} : vector<4x4 x f32>
    %26 = broadcast 0.5 {shape=(4, 4)} : vector<4x4 x f32>
    %27 = dot %25, %25, %26 : vector<4x4 x f32>
    %28 = reshape %27 {shape=(16,)} : vector<16 x f32>
    %29 = addptr out, %0 : vector<16 x ptr<f32>>
    store %29, %28, none
    %30 = addptr counts, %0 : vector<16 x ptr<i32>>
    %31 = add %19, %8 : vector<16 x i32>
    %32 = add %31, %16 : vector<16 x i32>
    %33 = add %32, %3 : vector<16 x i32>
    store %30, %33, none
    """,
    "memory": """
    %0 = program_id {axis=0} : i32
    %1 = cmp_ge %0, 0 : bool
    assume %1
    %2 = atomic counts, 3, none {kind="add", sem="relaxed"} : i32
    barrier
    %3 = addptr counts, 1 : ptr<i32>
    %4 = atomic_cas %3, 0, 9 : i32
    %5 = load %3, none, none {volatile=true} : i32
    %6 = cmp_eq %5, 9 : bool
    assert %6, none {message="nine"}
    %7 = load out, none, none : f32
    store out, 4.0, %1 {cache=".wb"}
    %8 = add %7, 1.0 : f32
    %9 = bitcast %8 {to=i32} : i32
    %10 = addptr counts, 2 : ptr<i32>
    store %10, %9, none
    print %0, %8 {prefix="seen # { "}
    check_access %3, none, 0:i64, 4611686018427387904:i64 {access="atomic_cas"}
    report %6, %8 {kind="nan"}
    """,
}


def elementwise_program() -> Function:
    """Every element-wise row for each kind of element that it is defined for, on blocks."""
    params = [Param(*pair) for pair in _standard_params()]
    x, y, out, counts, _ = params
    with using(Builder(where=())) as builder:
        lanes = emit("arange", start=0, end=8)

        def at(pointer: Any, start: int) -> Any:
            return emit("addptr", pointer, emit("add", lanes, Const(start, I32)))

        floats = [emit("load", at(x, 8 * i), None, None) for i in range(3)]
        ints = [emit("load", at(y, 8 * i), None, None) for i in range(3)]
        bools = [emit("cmp_gt", value, Const(0, I32)) for value in ints]
        for row in TABLE.values():
            for kind, values in (("f", floats), ("i", ints), ("b", bools)):
                if row.element and kind in row.element.kinds:
                    result = emit(row.name, *values[: row.element.arity])
                    _store(builder, result, at(out, 0), at(counts, 0))
    return builder.function("elementwise", params)


def _store(builder: Builder, value: Any, out: Any, counts: Any) -> None:
    if element_of(value.ty) == BOOL:
        value = emit("cast", value, to=I32)
    builder.emit("store", (out if element_of(value.ty) == F32 else counts, value, None))


def _standard_params() -> list[tuple[str, Any]]:
    return [(param.name, param.ty) for param in program("").params]


def corpus() -> dict[str, Function]:
    """All the programs."""
    return {
        **{name: program(text) for name, text in PROGRAMS.items()},
        "all": elementwise_program(),
    }


Change = Callable[[Function], Function]


def same_meaning(function: Function, change: Change) -> Function:
    """The changed function, after asserting that it writes what the function writes."""
    changed = change(function)
    assert run(changed) == run(function)
    return changed
