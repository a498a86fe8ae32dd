"""What published Triton kernels rely on, each as the smallest kernel that does."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError, CompileValueError
from tests.support.backends import run_everywhere


@triton.jit
def least_of(dtype):
    known = dtype.value
    return float("-inf") if known.is_floating() else -(2 ** (known.int_bitwidth - 1))


@triton.jit
def values_of_constexprs(out, N: tl.constexpr, FLAG: tl.constexpr, DTYPE: tl.constexpr):
    if FLAG.value:
        tl.store(out, N.value + 1)
    tl.store(out + 1, least_of(DTYPE))
    tl.store(out + 2, DTYPE.value.int_bitwidth)


def test_value_of_a_constexpr() -> None:
    want = np.array([4, -128, 8], np.int32)
    run_everywhere(
        values_of_constexprs,
        (1,),
        np.zeros(3, np.int32),
        N=3,
        FLAG=True,
        DTYPE=tl.int8,
        expected={"out": want},
    )


@triton.jit
def scaled(x, scale: tl.constexpr, twice: tl.constexpr):
    if twice:
        scale = 2 * scale
    return x * scale


@triton.jit
def late_constexprs(x, out, n, flag, TILE: tl.constexpr):
    step: tl.constexpr = TILE * n
    at = tl.arange(0, TILE)
    tl.store(out + step + at, scaled(tl.load(x + at), n, flag > 0))


def test_what_is_annotated_constexpr_may_be_known_only_at_run_time() -> None:
    """Triton reads the annotation as a hint there; sorting kernels rely on it."""
    x = np.arange(4, dtype=np.int32)
    want = np.concatenate([np.zeros(8, np.int32), x * 4])
    out = np.zeros(12, np.int32)
    run_everywhere(late_constexprs, (1,), x, out, 2, 1, TILE=4, expected={"out": want})


@triton.jit
def cast_for_its_pointer(x, out):
    value = tl.load(x + tl.arange(0, 4)) * 0.1
    ty = out.dtype.element_ty
    tl.store(out + tl.arange(0, 4), value.to(ty, fp_downcast_rounding="rtz"))
    tl.store(out + tl.arange(0, 4), tl.cast(value, ty, fp_downcast_rounding="rtne"))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_rounding_is_allowed_where_the_type_stays(dtype: type) -> None:
    """One kernel for any output: of the input's own type nothing is rounded."""
    x = np.arange(4, dtype=np.float32)
    want = (x * np.float32(0.1)).astype(dtype)
    run_everywhere(cast_for_its_pointer, (1,), x, np.zeros(4, dtype), expected={"out": want})


def test_what_libraries_ask_a_kernel() -> None:
    assert list(cast_for_its_pointer.signature.parameters) == ["x", "out"]
    assert cast_for_its_pointer.__globals__ is globals()
    keys = {cast_for_its_pointer.cache_key, late_constexprs.cache_key, scaled.cache_key}
    assert len(keys) == 3
    assert cast_for_its_pointer.cache_key in keys


@triton.jit
def scalars_with_axes(x, out, stride):
    row, column = tl.program_id(0), tl.arange(0, 4)
    at = row[:, None] * stride + column[None, :]
    tl.store(out + at, tl.load(x[None, :] + at) + row[:, None])
    tl.store(out + stride * row[:, None] + row[None, :], row[:])


def test_a_colon_of_a_scalar_says_nothing() -> None:
    """A kernel of one scale a program is written like one of a block of them."""
    x = np.arange(8, dtype=np.int32).reshape(2, 4)
    want = np.array([[0, 1, 2, 3], [5, 1, 7, 8]], np.int32)
    out = np.zeros((2, 4), np.int32)
    run_everywhere(scalars_with_axes, (2,), x, out, 4, expected={"out": want})


@triton.jit
def exponents(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    up: tl.constexpr = "cvt.rp.satfinite.ue8m0x2.f32 $0, 0.0, $1;"
    down: tl.constexpr = "cvt.rz.satfinite.ue8m0x2.f32 $0, $1, 0.0;"
    a = tl.inline_asm_elementwise(up, "=h,r", [value], tl.uint16, is_pure=True, pack=1)
    b = tl.inline_asm_elementwise(down, "=h,r", [value], tl.uint16, is_pure=True, pack=1)
    tl.store(out + at, a | b)


def test_scales_that_are_powers_of_two() -> None:
    x = np.array([0, 1, 1.5, 2, 1 / 448, 3e38, np.inf, np.nan, 1e-38, 5e-39], np.float32)
    up = np.array([0, 127, 128, 128, 119, 254, 254, 255, 1, 0])
    down = np.array([0, 127, 127, 128, 118, 254, 254, 255, 0, 0])
    out = np.zeros(10, np.uint16)
    want = (up | down << 8).astype(np.uint16)
    run_everywhere(exponents, (1,), x, out, N=10, expected={"out": want})


@triton.jit
def asm_of_unknown_types(out):
    text: tl.constexpr = "cvt.rn.satfinite.e3m9x2.f32 $0, 0.0, $1;"
    x = tl.full((4,), 1.0, tl.float32)
    tl.store(out + tl.arange(0, 4), tl.inline_asm_elementwise(text, "=h,r", [x], tl.int16, True, 1))


def test_asm_of_unknown_types_is_refused_by_name() -> None:
    with pytest.raises(CompileValueError, match=r"e3m9x2.* is not understood"):
        asm_of_unknown_types[(1,)](np.zeros(4, np.int16), target="interpret")


@triton.jit
def bound_on_one_path(out, n, FLAG: tl.constexpr):
    for i in range(n):
        if FLAG:
            place = out + i
        tl.store(place, 1)


def test_an_unbound_name_is_named() -> None:
    with pytest.raises(CompileError, match="`place` is not bound here"):
        bound_on_one_path[(1,)](np.zeros(4, np.int32), 3, FLAG=False, target="interpret")
