"""torch CPU tensors: any strides, the small float types, and `cpu` where no target is chosen."""

from __future__ import annotations

import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import available, launch

torch = pytest.importorskip("torch")


@triton.jit
def scale_kernel(x, out, n, factor, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lanes < n
    value = tl.load(x + lanes, mask=mask).to(tl.float32) * factor
    tl.store(out + lanes, value.to(out.dtype.element_ty), mask=mask)


@pytest.mark.parametrize("target", available())
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
)
def test_every_float_type_of_torch(dtype, target):
    x = torch.linspace(-3, 3, 300).to(dtype)
    out = torch.zeros(300, dtype=dtype)
    launch(target, scale_kernel, (3,), x, out, 300, 1.5, BLOCK=128)
    expected = (x.to(torch.float32) * 1.5).to(dtype)
    assert torch.equal(out.view(torch.uint8), expected.view(torch.uint8))


@triton.jit
def transpose_kernel(x, out, down, across, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + columns * M + rows, tl.load(x + rows * down + columns * across))


@pytest.mark.parametrize("target", available(skip=["cudasim"]))
def test_a_view_is_a_pointer_whatever_its_strides(target):
    x = torch.arange(4 * 10 * 6).reshape(4, 10, 6)[1:3, ::2, 3].T  # (5, 2)
    out = torch.zeros(2, 5, dtype=x.dtype)
    launch(target, transpose_kernel, (1,), x, out, *x.stride(), M=5, N=2)
    assert torch.equal(out, x.T)


@pytest.mark.skipif("cpu" not in available(), reason="the cpu target")
def test_tensors_run_on_the_cpu_by_default():
    x = torch.ones(10)
    out = torch.zeros(10)
    assert scale_kernel[(1,)](x, out, 10, 2.0, BLOCK=16).target == "cpu"
    assert torch.equal(out, x * 2)
