"""What a launch takes as an argument, and what it refuses before anything runs."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl

from .kernels import copy_kernel, store_kernel

TARGETS = ("interpret", "eager", "cpu", "cudasim")


@triton.jit
def rounded_kernel(out, h: tl.float16, b: tl.bfloat16, e: tl.float8e5, f: tl.float32, d):
    tl.store(out, h.to(tl.float32))
    tl.store(out + 1, b.to(tl.float32))
    tl.store(out + 2, e.to(tl.float32))
    tl.store(out + 3, f)
    tl.store(out + 4, d)


def expected(value: float) -> list[float]:
    dtypes = [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.float32, np.float32]
    with np.errstate(all="ignore"):
        return [float(np.float64(value).astype(dtype)) for dtype in dtypes]


def rounded(target: str, value: float) -> np.ndarray:
    out = np.zeros(5, np.float32)
    rounded_kernel[(1,)](out, *[value] * 5, target=target)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("value", [0.1, 1e6, -1e300, 1e39, 1.0 + 2**-11, 1e-30, float("nan"), -0.0])
def test_floats_are_rounded_to_the_annotated_format(target: str, value: float) -> None:
    wide = [expected(value)[0], *expected(value)[1:]]
    np.testing.assert_array_equal(rounded(target, value), np.array(wide, np.float32))


@given(st.floats(width=64))
def test_any_float(value: float) -> None:
    want = np.array(expected(value), np.float32)
    for target in ("interpret", "cpu"):
        np.testing.assert_array_equal(rounded(target, value), want, err_msg=target)


def test_negated_views_and_masked_arrays() -> None:
    negated = torch.zeros(8, dtype=torch.complex64).conj().imag
    assert negated.is_neg()
    with pytest.raises(TypeError, match="source: the tensor is a view that negates its memory"):
        copy_kernel[(1,)](negated, torch.zeros(8), 8, BLOCK=8)
    plain = torch.zeros(8)
    copy_kernel[(1,)](plain, torch.zeros(8), 8, BLOCK=8)
    with pytest.raises(TypeError, match="negates its memory"):  # also where it was launched before
        copy_kernel[(1,)](negated, torch.zeros(8), 8, BLOCK=8)
    masked = np.ma.masked_array(np.zeros(8, np.float32), [True] * 8)
    with pytest.raises(TypeError, match="source: a masked array is not supported"):
        copy_kernel[(1,)](masked, np.zeros(8, np.float32), 8, BLOCK=8, target="cpu")


def test_tensors_without_memory() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    freed = torch.zeros(8)
    copy_kernel[(1,)](freed, torch.zeros(8), 8, BLOCK=8)
    freed.untyped_storage().resize_(0)
    for _ in range(2):
        with pytest.raises(TypeError, match="of 8 elements has no memory"):
            copy_kernel[(1,)](freed, torch.zeros(8), 8, BLOCK=8)
    with FakeTensorMode():
        fake = torch.zeros(8)
    with pytest.raises(TypeError, match="has no memory"):
        copy_kernel[(1,)](fake, torch.zeros(8), 8, BLOCK=8)


def unaligned(count: int) -> np.ndarray:
    return np.zeros(4 * count + 1, np.uint8)[1:].view(np.float32)


@pytest.mark.parametrize("target", TARGETS)
def test_unaligned_arrays(target: str) -> None:
    plain = np.zeros(8, np.float32)
    for _ in range(2):
        with pytest.raises(TypeError, match="is no multiple of 4; kernels need aligned arrays"):
            copy_kernel[(1,)](plain, unaligned(8), 8, BLOCK=8, target=target)
        copy_kernel[(1,)](plain, plain, 8, BLOCK=8, target=target)


@pytest.mark.parametrize("value", [1j, np.complex64(1), np.zeros(1, np.complex64)], ids=repr)
def test_complex_numbers(value: Any) -> None:
    with pytest.raises(TypeError, match=r"value: a.*complex.* not supported"):
        store_kernel[(1,)](np.zeros(1, np.float32), value, target="cpu")


@pytest.mark.parametrize("target", TARGETS)
def test_a_grid_of_no_program_does_nothing(target: str) -> None:
    source, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    for grid in (0, (0,), (3, 0, 2), lambda meta: (triton.cdiv(0, meta["BLOCK"]),)):
        launched = copy_kernel[grid](source, out, 8, BLOCK=8, target=target)
        assert launched.target == target and 0 in launched.grid
    assert not out.any()
    with pytest.raises(ValueError, match="-1 is not an int of 0 or more"):
        copy_kernel[(-1,)](source, out, 8, BLOCK=8, target=target)


def test_empty_tensors() -> None:
    empty = torch.zeros(0)
    copy_kernel[(triton.cdiv(empty.numel(), 8),)](empty, empty, 0, BLOCK=8)
    copy_kernel[(1,)](empty, empty, 0, BLOCK=8)
    copy_kernel[(1,)](np.zeros(0, np.float32), np.zeros(0, np.float32), 0, BLOCK=8, target="cpu")


@triton.jit
def prints_pointer(x, out):
    tl.device_print("x", x)
    tl.store(out, tl.load(x))


def test_a_printed_pointer_is_not_stored_to() -> None:
    locked, out = np.full(1, 3, np.float32), np.zeros(1, np.float32)
    locked.flags.writeable = False
    prints_pointer[(1,)](locked, out, target="interpret")
    assert out[0] == 3


STALE = """
import ctypes, numpy as np, sys
sys.path.insert(0, sys.argv[1])
from kernels import copy_kernel
page = ctypes.create_string_buffer(64)
whole = np.frombuffer(page, np.uint8)
for start in range(1, 16):
    view = whole[start:start + 32].view(np.float32)
    try:
        copy_kernel[(1,)](view, view, 8, BLOCK=8, target="cpu")
    except TypeError:
        pass
print("alive")
"""


def test_no_alignment_kills_the_process() -> None:
    folder = __file__.rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-c", STALE, folder], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "alive", done.stderr
    assert ctypes.sizeof(ctypes.c_float) == 4
