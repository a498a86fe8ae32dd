"""The public names: all of Triton's, each documented; and what constexprs and dtypes are."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileTypeError
from mytriton.ir import types
from mytriton.ir.nodes import Param
from mytriton.ir.ops import TABLE, Elementwise, Row, elementwise_rule
from mytriton.language.block_pointers import Window
from mytriton.language.math import FUNCTIONS, function_of
from tests.support.block_functions import evaluate, trace

NAMES = [
    "PropagateNan",
    "TRITON_MAX_TENSOR_NUMEL",
    "abs",
    "add",
    "aggregate_replace",
    "arange",
    "argmax",
    "argmin",
    "associative_scan",
    "assume",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_poll",
    "atomic_store",
    "atomic_xchg",
    "atomic_xor",
    "bfloat16",
    "bitonic_merge",
    "block_type",
    "broadcast",
    "broadcast_to",
    "cast",
    "cat",
    "cdiv",
    "ceil",
    "clamp",
    "condition",
    "const",
    "constexpr",
    "constexpr_type",
    "core",
    "cos",
    "cumprod",
    "cumsum",
    "debug_barrier",
    "device_assert",
    "device_print",
    "div_rn",
    "dot",
    "dot_scaled",
    "dtype",
    "erf",
    "exp",
    "exp2",
    "expand_dims",
    "expect_zero",
    "extra",
    "fdiv",
    "flip",
    "float16",
    "float32",
    "float64",
    "float8e4b15",
    "float8e4b8",
    "float8e4nv",
    "float8e5",
    "float8e5b16",
    "floor",
    "fma",
    "full",
    "gather",
    "histogram",
    "inline_asm_elementwise",
    "int1",
    "int16",
    "int32",
    "int64",
    "int8",
    "interleave",
    "join",
    "load",
    "load_tensor_descriptor",
    "log",
    "log2",
    "make_block_ptr",
    "make_tensor_descriptor",
    "map_elementwise",
    "math",
    "max",
    "max_constancy",
    "max_contiguous",
    "maximum",
    "min",
    "minimum",
    "mul",
    "multiple_of",
    "num_programs",
    "pair_uniform_to_normal",
    "permute",
    "philox",
    "philox_impl",
    "pi32_t",
    "pointer_type",
    "program_id",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "random",
    "range",
    "ravel",
    "reduce",
    "reduce_or",
    "reshape",
    "rsqrt",
    "sigmoid",
    "sin",
    "slice",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "sqrt_rn",
    "squeeze",
    "standard",
    "static_assert",
    "static_print",
    "static_range",
    "store",
    "store_tensor_descriptor",
    "str_to_ty",
    "sub",
    "sum",
    "swizzle2d",
    "target_info",
    "tensor",
    "tensor_descriptor",
    "tensor_descriptor_type",
    "to_tensor",
    "topk",
    "trans",
    "tuple",
    "tuple_type",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uint_to_uniform_float",
    "umulhi",
    "unsqueeze",
    "view",
    "void",
    "where",
    "xor_sum",
    "zeros",
    "zeros_like",
    "advance",
    "argsort",
    "get_int_dtype",
]

MEMBERS = [
    "T",
    "abs",
    "argmax",
    "argmin",
    "associative_scan",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_poll",
    "atomic_store",
    "atomic_xchg",
    "atomic_xor",
    "broadcast_to",
    "cast",
    "cdiv",
    "ceil",
    "cos",
    "cumprod",
    "cumsum",
    "erf",
    "exp",
    "exp2",
    "expand_dims",
    "flip",
    "floor",
    "gather",
    "histogram",
    "item",
    "log",
    "log2",
    "logical_and",
    "logical_or",
    "max",
    "min",
    "permute",
    "ravel",
    "reduce",
    "reduce_or",
    "reshape",
    "rsqrt",
    "sigmoid",
    "sin",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "sqrt_rn",
    "store",
    "sum",
    "to",
    "trans",
    "view",
    "xor_sum",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_exists_and_is_documented(name: str) -> None:
    value = getattr(tl, name)
    if inspect.isroutine(value) or inspect.isclass(value):
        assert value.__doc__ and len(value.__doc__) > 10


@pytest.mark.parametrize("name", MEMBERS)
def test_a_tensor_has_the_member(name: str) -> None:
    assert getattr(tl.tensor, name).__doc__


def test_a_public_row_is_a_function() -> None:
    rows = {row.name for row in TABLE.values() if row.element and row.element.public}
    assert rows == set(FUNCTIONS)
    for name in rows:
        function = getattr(tl, name)
        assert getattr(tl.math, name) is function and TABLE[name].doc in function.__doc__
    parameters = list(inspect.signature(tl.fma).parameters)
    assert parameters == ["x", "y", "z"]


def test_a_new_row_needs_no_other_line(monkeypatch: pytest.MonkeyPatch) -> None:
    element = Elementwise(1, "f", numpy=lambda x: x * 3, c="({0} * 3)", public=True)
    row = Row("triple", "Three times x.", elementwise_rule(element), element=element)
    monkeypatch.setitem(TABLE, "triple", row)
    triple = function_of(row)
    assert triple.__doc__ == "Three times x. Of floats, element by element."
    assert evaluate(lambda x: triple(x), np.array([1.5], np.float16)).tolist() == [4.5]
    with pytest.raises(CompileTypeError, match="triple: operands of type i32 are not allowed"):
        evaluate(lambda x: triple(x), np.array([1], np.int32))
    with pytest.raises(CompileTypeError, match=r"triple takes \(x\)"):
        evaluate(lambda x: triple(x, x), np.array([1.0], np.float32))


# -- dtypes


def test_dtypes_are_the_irs() -> None:
    assert tl.float32 is types.F32 and tl.int1 is types.BOOL and tl.float8e4nv is types.F8E4M3FN
    assert tl.dtype("fp32") is tl.float32 and tl.dtype("int1") is tl.int1
    assert tl.pointer_type(tl.float16) == types.PointerType(types.F16)
    assert tl.pointer_type(tl.float16, const=True).is_const()
    assert tl.block_type(tl.int8, [4, 2]) == types.VectorType((4, 2), types.I8)
    assert tl.pi32_t == types.PointerType(types.I32)
    assert tl.str_to_ty("*kfp16", None) == types.PointerType(types.F16, const=True)
    assert tl.get_int_dtype(16, False) is tl.uint16
    assert isinstance(tl.float32, tl.dtype) and isinstance(tl.pi32_t, tl.pointer_type)
    assert not isinstance(tl.float32, tl.pointer_type) and not isinstance(3, tl.dtype)
    assert tl.void.is_void() and not tl.float32.is_void()
    with pytest.raises(CompileTypeError, match=r"a dtype such as tl\.float32 is needed, got 'f33'"):
        tl.dtype("f33")


# -- constexprs


def test_constexprs_compute() -> None:
    n = tl.constexpr(6)
    assert (n + 1).value == 7 and (2 * n).value == 12 and (n // 4).value == 1
    assert bool(n == 6) and not bool(n < 3) and list(range(n)) == list(range(6))
    assert tl.constexpr(tl.constexpr(3)).value == 3 and (-n).value == -6
    assert n.logical_and(tl.constexpr(0)).value == 0 and tl.constexpr([1, 2])[1] == 2
    assert {n: 1}[tl.constexpr(6)] == 1


def test_constexprs_meet_tensors_and_arguments() -> None:
    n, shape = tl.constexpr(2), tl.constexpr((2, 2))
    x = np.arange(4, dtype=np.int32)
    assert evaluate(lambda x: n * x - n, x).tolist() == [-2, 0, 2, 4]
    assert evaluate(lambda x: (n < x) & (x == n + 1), x).tolist() == [False, False, False, True]
    got = evaluate(lambda x: tl.sum(tl.reshape(x, shape), axis=tl.constexpr(1)), x)
    assert got.tolist() == [1, 5]
    assert evaluate(lambda x: tl.zeros([n, n], dtype=tl.constexpr(tl.int8)), x).shape == (2, 2)


def test_a_constexpr_function_sees_plain_values() -> None:
    seen: list[Any] = []
    double = tl.constexpr_function(lambda n: seen.append(type(n)) or 2 * n)
    assert double(tl.constexpr(4)) == 8 and seen == [int]


# -- loops, tuples


def test_ranges_hold_their_arguments() -> None:
    loop = tl.range(4, num_stages=3, flatten=True)
    assert (loop.start, loop.end, loop.step) == (0, 4, 1)
    assert loop.hints == {"num_stages": 3, "flatten": True}
    assert list(tl.static_range(1, tl.constexpr(8), 3)) == [1, 4, 7]
    with pytest.raises(CompileTypeError, match="static_range's stop must be an int known"):
        trace(lambda n: tl.static_range(n), tl.int32)
    assert tl.condition(tl.constexpr(True), disable_licm=True).condition is True


def test_tuples_have_fields() -> None:
    pair = tl.tuple([1, 2], tl.tuple_type([tl.int32, tl.int32], ["x", "y"]))
    assert (pair.x, pair.y, pair[tl.constexpr(1)], len(pair)) == (1, 2, 2, 2)


def test_windows_come_apart_and_together() -> None:
    def body(p: Any) -> None:
        window: Window = tl.make_block_ptr(p, (4, 4), (4, 1), (0, 0), (2, 2), (1, 0))
        parts, build = window.__flatten__()
        assert len(parts) == 7 and all(isinstance(part, tl.tensor) for part in parts)
        assert build(parts).block_shape == (2, 2)
        descriptor = tl.make_tensor_descriptor(p, [4, 4], [4, 1], [2, 2])
        parts, build = descriptor.__flatten__()
        assert len(parts) == 5 and build(parts).shape == descriptor.shape

    trace(body, types.PointerType(types.F32))


def test_target_questions() -> None:
    assert tl.target_info.is_cuda() and not tl.target_info.is_hip()
    assert tl.target_info.cuda_capability_geq(8) and not tl.target_info.cuda_capability_geq(10)


def test_outside_a_kernel() -> None:
    from mytriton.errors import CompileError

    with pytest.raises(CompileError, match="only inside a kernel"):
        tl.arange(0, 4)
    assert repr(tl.tensor(Param("x", types.F32))) == "tensor<f32>"
