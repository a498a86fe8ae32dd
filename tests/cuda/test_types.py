"""Every element type: how it is spelled, held and converted, and that all rows of the op table
compile."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from mytriton.ir.build import Builder
from mytriton.ir.nodes import Const, Function, Param
from mytriton.ir.numeric import convert, decode, encode, memory_dtype
from mytriton.ir.ops import TABLE
from mytriton.ir.types import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    SCALARS,
    U8,
    U16,
    U32,
    U64,
    PointerType,
    VectorType,
)
from mytriton.targets.cuda import generate
from mytriton.targets.cuda.rows import casts_c_text, row_c_text, row_name
from mytriton.targets.cuda.sim.build import build
from mytriton.targets.cuda.spelling import legal_name, literal, local_type, memory_type
from tests.support.cuda import check_simulated, element, simulate, ssa


@pytest.mark.parametrize(
    ("ty", "local", "memory"),
    [
        (BOOL, "bool", "unsigned char"),
        (I8, "signed char", "signed char"),
        (I32, "int", "int"),
        (U8, "unsigned char", "unsigned char"),
        (U16, "unsigned short", "unsigned short"),
        (I64, "long long", "long long"),
        (U64, "unsigned long long", "unsigned long long"),
        (F16, "float", "f16"),
        (BF16, "float", "bf16"),
        (F32, "float", "float"),
        (F64, "double", "double"),
        (PointerType(F32), "float*", "float*"),
        (PointerType(BOOL), "unsigned char*", "unsigned char*"),
        (PointerType(F16, const=True), "const f16*", "const f16*"),
        (PointerType(PointerType(F32)), "float**", "float**"),
    ],
)
def test_c_types(ty, local, memory):
    assert (local_type(ty), memory_type(ty)) == (local, memory)
    assert local_type(VectorType((256,), ty)) == local


@pytest.mark.parametrize(
    ("value", "ty", "text"),
    [
        (1.0, F64, "1.0"),
        (float("nan"), F64, "__longlong_as_double(0x7ff8000000000000LL)"),
        (float("-inf"), F64, "(-__longlong_as_double(0x7ff0000000000000LL))"),
        (3, I64, "3LL"),
        (3, U32, "3u"),
        (3, U64, "3ULL"),
        (-3, I8, "-3"),
        (-(2**31), I32, "(-2147483647 - 1)"),
        (-(2**63), I64, "(-9223372036854775807LL - 1)"),
        (0.5, BF16, "0.5f"),
    ],
)
def test_literals(value, ty, text, nvrtc):
    assert literal(value, ty) == text
    nvrtc(f'extern "C" __global__ void k({local_type(ty)}* x) {{ x[0] = {text}; }}')


@pytest.mark.parametrize(
    "name",
    [
        "double",
        "v3",
        "threadIdx",
        "divide",
        "fminf",
        "new",
        "α",
        "next2",
        "p0",
        "i5x",
        "__x",
        "f16",
    ],
)
def test_names_that_cuda_cannot_have_are_changed(name, nvrtc):
    x = Param(name, PointerType(F32))
    builder = Builder(where=())
    (one,) = builder.emit("load", [x, None, None])
    (two,) = builder.emit("minimum", [one, builder.emit("sqrt", [one])[0]])
    builder.emit("store", [x, two, None])
    source = generate(builder.function(name, [x]))
    assert source.name == legal_name(name) != name
    nvrtc(source)
    array = np.array([9.0], np.float32)
    simulate(builder.function(name, [x]), array)
    assert array[0] == 3


@pytest.mark.parametrize("name", ["read", "write", "index", "T", "bits", "x_"])
def test_ordinary_names_stay(name, nvrtc):
    function = ssa(f"{name}({name}: ptr<f16>) {{\nstore {name}, 2.0:f16, none\n}}")
    assert generate(function).name == name
    out = np.zeros(1, np.float16)
    simulate(function, out)
    assert out[0] == 2


def test_parameters_keep_apart():
    names = [Param(n, I32) for n in ("v1", "v1_", "v1__")]
    function = Function("k", tuple(names), Builder(where=()).function("k", []).body)
    assert len({p.name for p in generate(function).parameters}) == 3


def copy_kernel(name: str, width: int) -> Function:
    return ssa(f"""
        k(x: ptr<{name}>, out: ptr<{name}>) {{
            %0 = arange {{start=0, end={width}}} : vector<{width} x i32>
            %1 = addptr x, %0 : vector<{width} x ptr<{name}>>
            %2 = load %1, none, none : vector<{width} x {name}>
            %3 = addptr out, %0 : vector<{width} x ptr<{name}>>
            store %3, %2, none
        }}
    """)


@pytest.mark.parametrize("name", [row.ir for row in SCALARS])
def test_memory_to_memory(name):
    """Every bit pattern of a narrow type survives, but that a NaN is any NaN and a bool 0 or 1."""
    row = element(name)
    unsigned = np.dtype(f"u{row.itemsize}")
    patterns = np.arange(256).astype(unsigned) * unsigned.type(np.iinfo(unsigned).max // 255)
    memory = patterns.view(memory_dtype(row))
    out = np.zeros_like(memory)
    simulate(copy_kernel(name, 256), memory, out)
    np.testing.assert_array_equal(decode(row, out), decode(row, memory))
    assert name != "bool" or set(out) == {0, 1}


def test_f16_text(expected, nvrtc):
    text = """
        scale(x: ptr<f16>, y: ptr<f8e5m2>, factor: f16) {
            %0 = arange {start=0, end=8} : vector<8 x i32>
            %1 = addptr x, %0 : vector<8 x ptr<f16>>
            %2 = load %1, none, none : vector<8 x f16>
            %3 = mul %2, factor : vector<8 x f16>
            %4 = cast %3 {to=f8e5m2} : vector<8 x f8e5m2>
            %5 = addptr y, %0 : vector<8 x ptr<f8e5m2>>
            store %5, %4, none
        }
    """
    source = generate(ssa(text))
    expected("cuda_small_floats.cu", source.text)
    nvrtc(source)
    x = np.linspace(-3, 60000, 8).astype(np.float16)
    check_simulated(ssa(text), x, np.zeros(8, np.uint8), 1.5)


def test_a_small_float_argument_is_rounded_to_its_type():
    function = ssa("k(out: ptr<f32>, x: f16) {\n%0 = cast x {to=f32} : f32\nstore out, %0, none\n}")
    out, _ = check_simulated(function, np.zeros(1, np.float32), 0.1)
    assert out[0] == np.float16(0.1)


def row_kernel(name: str) -> Function:
    """A kernel that uses every row that is defined for a type, each on memory of its own."""
    ty = element(name)
    x = Param("x", PointerType(ty))
    targets: list[Param] = []
    places = iter(range(0, 10**6, 32))
    builder = Builder(where=())
    (lane,) = builder.emit("arange", [], {"start": 0, "end": 32})

    def operand():
        (place,) = builder.emit("add", [lane, Const(next(places), I32)])
        return builder.emit("load", [builder.emit("addptr", [x, place])[0], None, None])[0]

    for row in TABLE.values():
        if row.element is not None and ty.kind in row.element.kinds:
            (result,) = builder.emit(row.name, [operand() for _ in range(row.element.arity)])
            targets.append(Param(f"out_{row.name}", PointerType(result.ty.element)))
            (address,) = builder.emit("addptr", [targets[-1], lane])
            builder.emit("store", [address, result, None])
    return builder.function(f"rows_{name}", [x, *targets])


@pytest.mark.parametrize("name", [row.ir for row in SCALARS])
def test_every_row_compiles_for_every_type(name, nvrtc):
    nvrtc(generate(row_kernel(name)))


def test_a_row_is_a_complete_host_function():
    lib = build(row_c_text(TABLE["add"], F16))
    x = np.array([1.0, 60000.0, -0.0], np.float16)
    out = np.zeros_like(x)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, x, out)]
    getattr(lib, row_name(TABLE["add"], F16))(*pointers, ctypes.c_longlong(3))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, x + x)


CAST_PAIRS = [(a, b) for a in SCALARS for b in SCALARS if a != b]


@pytest.mark.parametrize("cut", [False, True])
def test_casts_are_bit_exact(cut):
    pairs = [(a, b) for a, b in CAST_PAIRS if not cut or b.kind == "f"]
    lib = build(casts_c_text(pairs, cut))
    random = np.random.default_rng(1)
    for source, target in pairs:
        bits = random.integers(0, 2**63, 500).astype(f"u{source.itemsize}")
        bits[:9] = 0, 1, 2, 3, np.iinfo(bits.dtype).max, np.iinfo(bits.dtype).max // 2, 63, 64, 65
        values = decode(source, bits.view(memory_dtype(source)))
        small = random.standard_normal(500) * 100
        values[250:] = convert(F64, source, small[250:])
        memory = np.ascontiguousarray(encode(source, values))
        out = np.zeros(500, memory_dtype(target))
        function = getattr(lib, f"cast_{source}_{target}")
        function(
            ctypes.c_void_p(memory.ctypes.data),
            ctypes.c_void_p(out.ctypes.data),
            ctypes.c_longlong(500),
        )
        with np.errstate(all="ignore"):
            want = convert(source, target, values, cut)
        got = decode(target, out)
        np.testing.assert_array_equal(got, want, err_msg=f"{source} to {target}")
        if target.kind == "f":
            real = ~np.isnan(want)
            np.testing.assert_array_equal(np.signbit(got)[real], np.signbit(want)[real])


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("f32", "i32"),
        ("i32", "f32"),
        ("f64", "i64"),
        ("u64", "f64"),
        ("f16", "i16"),
        ("u16", "bf16"),
        ("f16", "bf16"),
        ("f8e4m3fn", "u8"),
        ("i8", "f8e5m2"),
        ("i32", "u32"),
        ("u16", "i16"),
    ],
)
def test_bitcasts(source, target):
    width = 64
    function = ssa(f"""
        k(x: ptr<{source}>, out: ptr<{target}>) {{
            %0 = arange {{start=0, end={width}}} : vector<{width} x i32>
            %1 = addptr x, %0 : vector<{width} x ptr<{source}>>
            %2 = load %1, none, none : vector<{width} x {source}>
            %3 = bitcast %2 {{to={target}}} : vector<{width} x {target}>
            %4 = addptr out, %0 : vector<{width} x ptr<{target}>>
            store %4, %3, none
        }}
    """)
    row = element(source)
    x = encode(row, convert(F64, row, np.linspace(0.25, 90, width)))
    _, out = check_simulated(
        function, np.ascontiguousarray(x), np.zeros(width, memory_dtype(element(target)))
    )
    assert out.tobytes() == x.tobytes()


@pytest.mark.parametrize("name", ["i32", "i64", "u32", "i8", "u16"])
def test_ints_wrap(name):
    """Also where a C compiler may assume that signed ints never overflow."""
    function = ssa(
        f"""
        k(x: ptr<{name}>, out: ptr<bool>) {{
            %0 = load x, none, none : {name}
            %1 = add %0, 1:{name} : {name}
            %2 = cmp_gt %1, %0 : bool
            store out, %2, none
            %3 = mul %0, %0 : {name}
            %4 = addptr x, 1 : ptr<{name}>
            store %4, %3, none
            %5 = neg %0 : {name}
            %6 = addptr x, 2 : ptr<{name}>
            store %6, %5, none
        }}
    """.replace("1:i32", "1")
    )
    ptx = generate(function)
    dtype = memory_dtype(element(name))
    x, out = check_simulated(
        function, np.array([np.iinfo(dtype).max, 0, 0], dtype), np.zeros(1, np.uint8)
    )
    assert out[0] == 0
    assert ptx.threads_per_block == 1


def test_nvrtc_does_not_assume_that_ints_do_not_overflow(nvrtc):
    """NVRTC folds `(a + 1) > a` to true for a plain int; the comparison must be left in the PTX."""
    function = ssa("""
        k(out: ptr<bool>, a: i32) {
            %0 = add a, 1 : i32
            %1 = cmp_gt %0, a : bool
            store out, %1, none
        }
    """)
    assert "setp" in nvrtc(generate(function))
    assert "setp" not in nvrtc(
        'extern "C" __global__ void k(bool* out, int a) { int b = a + 1; *out = b > a; }'
    )
