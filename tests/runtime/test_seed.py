"""What the seed promises of a launch with NumPy arrays, to the letter."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.ir.text import SSAPrinter

from .kernels import add_kernel

SSA = """\
%0 = program_id {axis=0} : i32
%1 = mul %0, 256 : i32
%2 = arange {start=0, end=256} : vector<256 x i32>
%3 = add %1, %2 : vector<256 x i32>
%4 = addptr x, %3 : vector<256 x ptr<f32>>
%5 = cmp_lt %3, n : vector<256 x bool>
%6 = load %4, %5, 0.0 : vector<256 x f32>
%7 = addptr y, %3 : vector<256 x ptr<f32>>
%8 = load %7, %5, 0.0 : vector<256 x f32>
%9 = add %6, %8 : vector<256 x f32>
%10 = addptr out, %3 : vector<256 x ptr<f32>>
store %10, %9, %5"""

CUDA = """\
extern "C" __global__
void add_kernel(float* x, float* y, float* out, int n) {
    int v0 = blockIdx.x;
    int v1 = (v0 * 256);
    int v2 = threadIdx.x;
    int v3 = (v1 + v2);
    bool v5 = (v3 < n);
    float v6 = (v5 ? x[v3] : 0.0f);
    float v8 = (v5 ? y[v3] : 0.0f);
    float v9 = (v6 + v8);
    if (v5) {
        out[v3] = v9;
    }
}"""


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(0).random((2, 1000), np.float32)
    return x, y, np.full(1000, -1, np.float32)


def grid(meta: dict) -> tuple[int]:
    return (triton.cdiv(1000, meta["BLOCK"]),)


def test_three_results_to_the_letter() -> None:
    x, y, out = arrays()
    expression_ops, ssa_ops, cuda_src = add_kernel[grid](x, y, out, 1000, BLOCK=256)
    assert SSAPrinter().print_ops(ssa_ops) == str(ssa_ops) == SSA
    assert cuda_src == CUDA
    (store,) = expression_ops
    text = " ".join(repr(store).split())
    assert text.startswith("Store(ptr=AddPtr(base=Param(name='out', ty=ptr<f32>), offset=")
    assert "value=BinOp(op='+', lhs=Load(" in text and "mask=BinOp(op='<'" in text


def test_numpy_compiles_only() -> None:
    x, y, out = arrays()
    add_kernel[grid](x, y, out, 1000, BLOCK=256)
    assert (out == -1).all()


def test_lists_are_fresh() -> None:
    x, y, out = arrays()
    first = add_kernel[grid](x, y, out, 1000, BLOCK=256)
    for part in first:
        if isinstance(part, list):
            part.clear()
    expression_ops, ssa_ops, _ = add_kernel[grid](x, y, out, 1000, BLOCK=256)
    assert len(expression_ops) == 1 and len(ssa_ops) == 12


def test_no_gpu_library_is_imported() -> None:
    program = """
import sys, numpy as np, pathlib
sys.path.insert(0, sys.argv[1])
from kernels import add_kernel
x = np.zeros(8, np.float32)
add_kernel[(1,)](x, x, x, 8, BLOCK=8)
print(*sorted({"cupy", "torch", "llvmlite", "cuda"} & {m.partition(".")[0] for m in sys.modules}))
"""
    folder = __file__.rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-c", program, folder], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr


@pytest.mark.parametrize(
    "launch_grid",
    [True, 0, -1, (), (1, 2, 3, 4), (1, True), (0,), (1.0,), "1", None, lambda meta: (0,)],
)
def test_invalid_grids(launch_grid: object) -> None:
    x, y, out = arrays()
    with pytest.raises(ValueError, match="invalid launch grid: "):
        add_kernel[launch_grid](x, y, out, 1000, BLOCK=256)


@pytest.mark.parametrize(
    ("launch_grid", "extents"),
    [
        (4, (4, 1, 1)),
        ((4,), (4, 1, 1)),
        ((4, np.int64(5)), (4, 5, 1)),
        ([1, 2, 3], (1, 2, 3)),
        (lambda meta: meta["n"], (1000, 1, 1)),
        (grid, (4, 1, 1)),
    ],
)
def test_grids(launch_grid: object, extents: tuple[int, int, int]) -> None:
    x, y, out = arrays()
    assert add_kernel[launch_grid](x, y, out, 1000, BLOCK=256).grid == extents


def test_two_widths_are_refused() -> None:
    @triton.jit
    def two_widths(x):
        tl.store(x + tl.arange(0, 128), 0.0)
        tl.store(x + tl.arange(0, 256), 0.0)

    x = np.zeros(256, np.float32)
    with pytest.raises(ValueError, match=r"requires one vector width, got: 128, 256") as caught:
        two_widths[(1,)](x)
    assert "num_warps=" in str(caught.value)


def test_not_contiguous_is_refused_on_a_hit_too() -> None:
    x, y, out = arrays()
    for _ in range(2):
        with pytest.raises(TypeError, match="only C-contiguous arrays are supported"):
            add_kernel[grid](x[::2], y, out, 500, BLOCK=256)
        add_kernel[grid](x, y, out, 1000, BLOCK=256)


def test_constexprs_are_told_apart() -> None:
    @triton.jit
    def store(out, VALUE: tl.constexpr):
        tl.store(out, VALUE)

    out = np.zeros(1, np.float32)
    texts = [store[(1,)](out, VALUE=v).cuda_src for v in (1, 1.0, True, 0.0, -0.0)]
    assert len(store.compilations) == 5
    assert "-0.0" in texts[4] and "-0.0" not in texts[3]


@pytest.mark.parametrize("value", [{}, np.zeros(2), bytearray(1), (1, {2: 3})], ids=repr)
def test_constexprs_of_other_kinds_are_refused(value: object) -> None:
    x, y, out = arrays()
    with pytest.raises(TypeError, match="BLOCK: constexpr value must be"):
        add_kernel[grid](x, y, out, 1000, BLOCK=value)


def test_number_types() -> None:
    kernel = triton.jit(store_as_int64)

    def ty(value: object) -> str:
        out = np.zeros(1, np.int64)
        return str(kernel[(1,)](out, value).traced.params[1].ty)

    assert ty(5) == ty(-(2**31)) == ty(np.int64(7)) == "i32"
    assert ty(2**31) == ty(-(2**31) - 1) == ty(2**63 - 1) == "i64"
    assert ty(2**63) == "u64"
    assert ty(1.5) == ty(np.float32(2)) == "f32"
    assert ty(True) == ty(np.bool_(False)) == "bool"
    with pytest.raises(ValueError, match="value: 18446744073709551616 does not fit"):
        ty(2**64)


def store_as_int64(out, value):
    tl.store(out, value.to(tl.int64))


def test_clear_cache() -> None:
    x, y, out = arrays()
    add_kernel[grid](x, y, out, 1000, BLOCK=256)
    assert add_kernel.compilations
    add_kernel.clear_cache()
    assert not add_kernel.compilations
    assert add_kernel[grid](x, y, out, 1000, BLOCK=256).cuda_src == CUDA


def test_a_compilation_is_shared_by_what_does_not_change_it() -> None:
    add_kernel.clear_cache()
    x, y, out = arrays()
    add_kernel[(1,)](x, y, out, 1000, BLOCK=256)
    add_kernel[(7, 2)](y.copy(), x, out, 3, BLOCK=256)
    assert len(add_kernel.compilations) == 1
    add_kernel[(1,)](x, y, out, 1000, BLOCK=128)
    add_kernel[(1,)](x, y, out, 2**40, BLOCK=128)
    add_kernel[(1,)](x.astype(np.float64), y, out, 1000, BLOCK=128)
    assert len(add_kernel.compilations) == 4
