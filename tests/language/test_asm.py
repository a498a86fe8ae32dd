"""Inline PTX: what the reader understands gives what the instruction means; the rest is refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileTypeError, CompileValueError
from tests.support.block_functions import evaluate


def asm(text: str, constraints: str, dtype: Any, *arrays: Any, pack: int = 1) -> Any:
    return evaluate(
        lambda *args: tl.inline_asm_elementwise(text, constraints, list(args), dtype, True, pack),
        *arrays,
    )


X = np.array([0.5, -1.5, 2.0, 3.0], np.float32)


def test_functions_of_floats() -> None:
    got = asm("tanh.approx.f32 $0, $1;", "=f,f", tl.float32, X)
    np.testing.assert_allclose(got, np.tanh(X), rtol=1e-6)
    got = asm("ex2.approx.ftz.f32 $0, $1;", "=r,r", tl.float32, X)
    np.testing.assert_allclose(got, np.exp2(X), rtol=1e-6)
    got = asm("fma.rn.f32 $0, $1, $2, 0f3F800000;", "=f,f,f", tl.float32, X, X)
    assert (got == X * X + 1).all()


def test_several_statements_registers_and_predicates() -> None:
    text = """
    {   // the larger of x and 1, doubled
        .reg .f32 t;
        .reg .pred p;
        setp.gt.f32 p, $1, 1.0;
        mov.f32 t, 1.0;
        @p mov.f32 t, $1;
        add.f32 $0, t, t;
    }
    """
    assert asm(text, "=f,f", tl.float32, X).tolist() == [2, 2, 4, 6]


def test_ints() -> None:
    a, b = np.array([0x12345678, -1], np.int32), np.array([3, 0x0F0F0F0F], np.int32)
    assert asm("shl.b32 $0, $1, 4;", "=r,r", tl.int32, a).tolist() == [0x23456780, -16]
    assert asm("shr.s32 $0, $1, 4;", "=r,r", tl.int32, a).tolist() == [0x01234567, -1]
    wide = asm("mul.wide.s32 $0, $1, $2;", "=l,r,r", tl.int64, a, b)
    assert wide.tolist() == [0x12345678 * 3, -0x0F0F0F0F]
    xor = asm("lop3.b32 $0, $1, $2, $1, 0x3C;", "=r,r,r", tl.int32, a, b)
    assert (xor == a ^ b).all()
    assert asm("prmt.b32 $0, $1, $1, 0x0123;", "=r,r", tl.int32, a)[0] == 0x78563412
    assert asm("bfe.u32 $0, $1, 8, 8;", "=r,r", tl.int32, a).tolist() == [0x56, 0xFF]


def test_narrow_elements_share_a_register() -> None:
    x = np.arange(8, dtype=np.int8)
    got = asm("shl.b32 $0, $1, 1;", "=r,r", tl.int8, x, pack=4)
    assert got.tolist() == (x * 2).tolist()
    h = np.array([1, 2, 3, 4], np.float16)
    got = asm("add.f16x2 $0, $1, $2;", "=r,r,r", tl.float16, h, h, pack=2)
    assert (got == h + h).all()


def test_several_outputs_and_packed_conversions() -> None:
    text = "mov.b32 $0, $2; neg.f32 $1, $2;"
    same, minus = asm(text, "=f,=f,f", (tl.float32, tl.float32), X)
    assert (same == X).all() and (minus == -X).all()
    text = "cvt.rn.bf16x2.f32 $0, $2, $1;"
    got = asm(text, "=r,r,r", tl.bfloat16, X.astype(np.float32), pack=2)
    assert got.dtype == ml_dtypes.bfloat16 and (got == X.astype(ml_dtypes.bfloat16)).all()
    text = "{ .reg .b16 a, b; mov.b32 {a, b}, $1; mov.b32 $0, {b, a}; }"
    assert asm(text, "=r,r", tl.int32, np.array([0x00010002], np.int32))[0] == 0x00020001


def test_what_is_not_understood_is_named() -> None:
    with pytest.raises(CompileValueError, match=r"'wgmma\.fence' is not understood"):
        asm("wgmma.fence;", "=f,f", tl.float32, X)
    with pytest.raises(CompileTypeError, match="reads %laneid"):
        asm("mov.u32 $0, %laneid;", "=r,r", tl.int32, X)
    with pytest.raises(CompileValueError, match=r"does not write \$0"):
        asm("mov.u32 $5, 1;", "=r,r", tl.int32, X)
    with pytest.raises(CompileValueError, match="pack=3 does not divide"):
        asm("mov.u32 $0, 1;", "=r,r", tl.int32, X, pack=3)
