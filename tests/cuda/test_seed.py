"""The CUDA text of the seed, to the letter, and each rule it states."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileValueError
from mytriton.ir.build import Builder
from mytriton.ir.nodes import Const, Param
from mytriton.ir.types import BOOL, F32, I32
from mytriton.targets.cuda import generate
from mytriton.targets.cuda.emit import RULES, Emitter, Options
from mytriton.targets.cuda.emit.distribution import lane_rule
from mytriton.targets.cuda.emit.held import CudaPtrRef
from mytriton.targets.cuda.spelling import literal
from tests.support.cuda import element, simulate, ssa, traced


def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n

    x_values = tl.load(x + offsets, mask=mask, other=0.0)
    y_values = tl.load(y + offsets, mask=mask, other=0.0)

    tl.store(out + offsets, x_values + y_values, mask=mask)


ADD = {"x": "*f32", "y": "*f32", "out": "*f32", "n": "i32"}


def test_the_add_kernel_to_the_letter(expected, nvrtc):
    source = generate(traced(add_kernel, **ADD, BLOCK=256))
    expected("cuda_add_kernel.cu", source.text)
    assert source.text.startswith('extern "C" __global__\nvoid add_kernel(float* x, float* y, ')
    assert (source.name, source.threads_per_block, source.prelude) == ("add_kernel", 256, ())
    nvrtc(source)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 1000])
@pytest.mark.parametrize("order", ["forward", "reverse", "shuffle"])
def test_the_add_kernel_adds(n, order):
    x, y = np.random.default_rng(n).standard_normal((2, n)).astype(np.float32)
    out = np.full(n + 8, 7, np.float32)
    grid = (-(-n // 256), 1, 1)
    simulate(traced(add_kernel, **ADD, BLOCK=256), x, y, out, n, grid=grid, order=order)
    assert np.array_equal(out[:n], x + y)
    assert (out[n:] == 7).all()


def test_a_masked_load_of_nothing_touches_nothing():
    function = traced(add_kernel, **ADD, BLOCK=256)
    out = np.full(4, 7, np.float32)
    simulate(function, 0, 0, out, 0)
    assert (out == 7).all()


def test_a_scalar_unmasked_load_and_store(expected, nvrtc):
    source = generate(
        ssa("""
            copy(source: ptr<f32>, out: ptr<f32>) {
                %0 = load source, none, none : f32
                store out, %0, none
            }
        """)
    )
    expected("cuda_scalar_copy.cu", source.text)
    assert "float v0 = (true ? source[0] : 0.0f);" in source.text
    assert source.threads_per_block == 1
    nvrtc(source)


def test_an_absent_other_is_a_zero_of_the_element_type(nvrtc):
    zeros = {"f32": "0.0f", "f64": "0.0", "i32": "0", "u32": "0u", "i64": "0LL", "f16": "0.0f"}
    for name, zero in zeros.items():
        source = generate(ssa(f"k(p: ptr<{name}>) {{\n%0 = load p, none, none : {name}\n}}"))
        assert f" = (true ? p[0] : {zero});" in source.text
        nvrtc(source)


def test_nested_pointer_additions_fold(nvrtc):
    source = generate(
        ssa("""
            k(out: ptr<f32>) {
                %0 = addptr out, 1 : ptr<f32>
                %1 = addptr %0, 2 : ptr<f32>
                store %1, 3.0, none
            }
        """)
    )
    assert "    out[(1 + 2)] = 3.0f;" in source.text.splitlines()
    nvrtc(source)


def test_addptr_prints_nothing_and_is_a_base_and_an_index():
    function = ssa("k(x: ptr<f32>, i: i32) {\n%0 = addptr x, i : ptr<f32>\n}")
    emitter = Emitter(function, lane_rule(function), Options(), RULES)
    emitter.source()
    assert emitter.printer.lines == []
    value = function.body.ops[0].results[0]
    assert emitter.address(value, emitter.scalar).at(0) == CudaPtrRef("x", "i")
    assert emitter.address(function.params[0], emitter.scalar).at(0) == CudaPtrRef("x", "0")


def test_an_arange_with_a_start(nvrtc):
    source = generate(
        ssa("""
            k(out: ptr<i32>) {
                %0 = arange {start=4, end=8} : vector<4 x i32>
                %1 = addptr out, %0 : vector<4 x ptr<i32>>
                store %1, %0, none
            }
        """)
    )
    assert "    int v0 = (4 + threadIdx.x);" in source.text.splitlines()
    assert source.threads_per_block == 4
    nvrtc(source)


def test_program_ids_and_extents_of_all_axes(nvrtc):
    lines = "\n".join(
        f"%{2 * axis} = program_id {{axis={axis}}} : i32\n"
        f"%{2 * axis + 1} = num_programs {{axis={axis}}} : i32"
        for axis in range(3)
    )
    source = generate(ssa(f"k() {{\n{lines}\n}}"))
    for axis, letter in enumerate("xyz"):
        assert f"int v{2 * axis} = blockIdx.{letter};" in source.text
        assert f"int v{2 * axis + 1} = gridDim.{letter};" in source.text
    nvrtc(source)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0f"),
        (0.1, "0.1f"),
        (float(np.float32(0.1)), "0.1f"),
        (-1.5, "-1.5f"),
        (1e-20, "1e-20f"),
        (-0.0, "-0.0f"),
        (float("nan"), "__int_as_float(0x7fc00000)"),
        (float("inf"), "__int_as_float(0x7f800000)"),
        (float("-inf"), "(-__int_as_float(0x7f800000))"),
    ],
)
def test_float_literals(value, text, nvrtc):
    assert literal(value, F32) == text
    nvrtc(f'extern "C" __global__ void k(float* x) {{ x[0] = {text}; }}')


def test_bool_and_int_literals():
    assert (literal(True, BOOL), literal(False, BOOL)) == ("true", "false")
    assert (literal(256, I32), literal(-3, I32)) == ("256", "-3")


def test_two_widths_are_refused():
    builder = Builder(where=())
    for width in (256, 128):
        builder.emit("arange", (), {"start": 0, "end": width})
    function = builder.function("k", [])
    with pytest.raises(
        ValueError, match="CUDA lowering requires one vector width, got: 128, 256"
    ) as e:
        generate(function)
    assert isinstance(e.value, CompileValueError)
    assert "num_warps=" in str(e.value)


@pytest.mark.parametrize("width", [1, 2, 3, 100, 255, 1000, 1024])
def test_any_width_from_1_to_1024_is_legal(width):
    out = np.zeros(width, np.int32)
    function = ssa(f"""
        k(out: ptr<i32>) {{
            %0 = arange {{start=0, end={width}}} : vector<{width} x i32>
            %1 = addptr out, %0 : vector<{width} x ptr<i32>>
            store %1, %0, none
        }}
    """)
    assert simulate(function, out).threads_per_block == width
    assert np.array_equal(out, np.arange(width))


def test_more_than_1024_lanes_are_refused():
    function = ssa("k() {\n%0 = arange {start=0, end=1025} : vector<1025 x i32>\n}")
    with pytest.raises(ValueError, match=r"1 to 1024 threads a block, got: 1025; num_warps="):
        generate(function)


def test_an_undefined_value_is_noticed():
    builder = Builder(where=())
    (value,) = builder.emit("add", [Param("x", I32), Const(1, I32)])
    builder.emit("print", [value])
    function = builder.function("k", [Param("x", element("i32"))])
    with pytest.raises(AssertionError, match="is not defined"):
        generate(function)
