"""An exported kernel does in a C program what it does here; what C cannot launch is refused."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mytriton.targets.cuda.launch import nvrtc
from mytriton.tools.cli import main

ROOT = Path(__file__).parents[2]
CC = shutil.which("cc") or ""
needs_cc = pytest.mark.skipif(not CC, reason="there is no C compiler")
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")

KERNELS = """
import mytriton as triton
import mytriton.language as tl

@triton.jit
def mixed(x, halves, bytes, flags, out, n, wide, scale, double: tl.float64, on: tl.int1,
          BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(x + i, mask=inside) * scale + tl.load(halves + i, mask=inside).to(tl.float32)
    value += tl.load(bytes + i, mask=inside).to(tl.float32)
    value = tl.where(tl.load(flags + i, mask=inside), value, -value)
    value = tl.where(on, value, 0.0).to(tl.float64) + double + (wide >> 32)
    tl.store(out + i, value, mask=inside)

@triton.jit
def softmax(x, out, width, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * width + i, mask=i < width, other=float("-inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * width + i, value / tl.sum(value, axis=0), mask=i < width)

@triton.jit
def matmul(a, b, c, M, N, K, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        inner = start + k
        x = tl.load(a + i[:, None] * K + inner, mask=(i[:, None] < M) & (inner < K), other=0.0)
        y = tl.load(b + inner[:, None] * N + j, mask=(inner[:, None] < K) & (j < N), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * N + j, total, mask=(i[:, None] < M) & (j < N))

@triton.jit
def checked(register, threads, out):
    tl.device_assert(register < 10, "say \\"why\\"")
    tl.device_assert(threads < 10, "the second")
    tl.store(out + tl.program_id(0), register + threads)

@triton.jit
def printing(out):
    tl.device_print("out", tl.load(out))

@triton.jit
def waiting(lock):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.atomic_xchg(lock, 0)
"""


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    return file


class Linked:
    """An exported kernel, in a shared object with one C function around it."""

    def __init__(self, kernels: Path, name: str, signature: str, types: str, *options: str) -> None:
        folder = kernels.parent / name
        given = ["export", f"{kernels}::{name}", "--sig", signature, "-o", str(folder), *options]
        assert main(given) == 0
        named = [f"a{place}" for place in range(len(types.split(", ")))]
        declared = ", ".join(f"{ty} {one}" for ty, one in zip(types.split(", "), named))
        call = ", ".join(["nx", "ny", "nz", "threads", *named])
        shim = f"""#include "{name}.h"
int call(uint32_t nx, uint32_t ny, uint32_t nz, int threads, {declared});
int call(uint32_t nx, uint32_t ny, uint32_t nz, int threads, {declared}) {{
    return {name}({call});
}}
const char *said(int code);
const char *said(int code) {{ return {name}_message(code); }}
"""
        (folder / "shim.c").write_text(shim)
        files = [str(folder / "shim.c"), str(folder / f"{name}.o"), "-o", str(folder / "made.so")]
        command = [CC, *WARNINGS, "-O1", "-fPIC", "-shared", *files, "-lpthread", "-lm"]
        subprocess.run(command, check=True, timeout=120)
        library = ctypes.CDLL(str(folder / "made.so"))
        self.call, self._said = library.call, library.said
        self._said.restype = ctypes.c_char_p

    def said(self, code: int) -> str:
        return str(self._said(code).decode())

    def __call__(self, grid: Sequence[int], threads: int, *values: Any) -> int:
        given = [
            v.ctypes.data_as(ctypes.c_void_p) if isinstance(v, np.ndarray) else v for v in values
        ]
        return int(self.call(*(ctypes.c_uint32(e) for e in grid), threads, *given))


@needs_cc
@pytest.mark.parametrize("options", [(), ("--restrict",)])
def test_every_kind_of_argument(kernels: Path, options: Sequence[str]) -> None:
    signature = "x=*fp32, halves=*fp16, bytes=*i8, flags=*i1, out=*fp64, n=i32, wide=i64,"
    signature += " scale=fp32, double=fp64, on=i1, BLOCK=64"
    types = "float *, uint16_t *, int8_t *, bool *, double *, int32_t, int64_t, float, double, bool"
    linked = Linked(kernels, "mixed", signature, types, *options)
    random, n = np.random.default_rng(0), 1000
    x = random.standard_normal(n).astype(np.float32)
    halves = random.standard_normal(n).astype(np.float16)
    small = random.integers(-128, 128, n).astype(np.int8)
    flags = random.integers(0, 2, n).astype(np.bool_)
    for threads, on in ((1, True), (4, True), (3, False), (0, True), (1000, True)):
        out = np.full(n + 1, -1.0)
        numbers = (ctypes.c_int32(n), ctypes.c_int64(5 << 32), ctypes.c_float(0.5))
        rest = (ctypes.c_double(0.1), ctypes.c_bool(on))
        assert linked((16, 1, 1), threads, x, halves, small, flags, out, *numbers, *rest) == 0
        value = x.astype(np.float64) * 0.5 + halves + small
        want = np.where(flags, value, -value) * on + 0.1 + 5
        np.testing.assert_allclose(out[:n], want, rtol=1e-5, atol=1e-4)
        assert out[n] == -1


@needs_cc
def test_reductions_and_scratch_memory(kernels: Path) -> None:
    linked = Linked(kernels, "softmax", "x=*fp32, out=*fp32, BLOCK=2048", "float *, float *, int")
    x = np.random.default_rng(0).standard_normal((37, 1500)).astype(np.float32)
    for threads in (1, 2, 5):
        out = np.zeros_like(x)
        assert linked((37, 1, 1), threads, x, out, 1500) == 0
        wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        np.testing.assert_allclose(out, wide / wide.sum(axis=1, keepdims=True), rtol=1e-5)


@needs_cc
def test_products(kernels: Path) -> None:
    types = "float *, float *, float *, int, int, int"
    linked = Linked(kernels, "matmul", "a=*fp32, b=*fp32, c=*fp32, BLOCK=32", types)
    random = np.random.default_rng(0)
    a, b = random.random((100, 70), np.float32), random.random((70, 90), np.float32)
    for threads in (1, 4):
        c = np.zeros((100, 90), np.float32)
        assert linked((4, 3, 1), threads, a, b, c, 100, 90, 70) == 0
        np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5)


@needs_cc
def test_errors_are_codes(kernels: Path) -> None:
    signature = "register=i32, threads=i32, out=*i32"
    linked = Linked(kernels, "checked", signature, "int, int, int32_t *")
    out = np.zeros(8, np.int32)
    assert linked((8, 1, 1), 2, 3, 4, out) == 0 and (out == 7).all()
    assert linked.said(0) == "done"
    assert linked.said(linked((8, 1, 1), 2, 30, 4, out)) == 'say "why"'
    assert linked.said(linked((8, 1, 1), 2, 3, 40, out)) == "the second"
    assert "2^31 - 1" in linked.said(linked((1, 2**31, 1), 1, 3, 4, out))
    unaligned = np.zeros(33, np.uint8)[1:]
    assert "aligned" in linked.said(linked((8, 1, 1), 1, 3, 4, unaligned))
    out[:] = 0
    assert linked((0, 1, 1), 1, 3, 4, out) == 0 and not out.any()


@needs_cc
@pytest.mark.parametrize("compiler", ["cc", "c++"])
def test_the_example_links_and_runs(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    kernel = f"{ROOT / 'examples/vector_add.py'}::add_kernel"
    assert main(["export", kernel, "--sig", "BLOCK=256", "-o", str(tmp_path)]) == 0
    if compiler == "c++":
        header = str(tmp_path / "add_kernel.h")
        subprocess.run([compiler, "-Wall", "-fsyntax-only", "-x", "c++", header], check=True)
        return
    files = [str(ROOT / "examples/export/main.c"), str(tmp_path / "add_kernel.o")]
    made = str(tmp_path / "main")
    command = [compiler, *WARNINGS, f"-I{tmp_path}", *files, "-o", made, "-lpthread", "-lm"]
    subprocess.run(command, check=True, timeout=120)
    done = subprocess.run([made], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "1000000 elements added, the last is 999999.5\n"


@pytest.mark.parametrize(
    ("name", "signature", "message"),
    [
        ("printing", "out=*fp32", "leave out device_print"),
        ("waiting", "lock=*i32", "split it into two kernels"),
        ("nothing", "", "nothing"),
    ],
)
def test_what_c_cannot_launch_is_refused(
    kernels: Path, capsys: pytest.CaptureFixture[str], name: str, signature: str, message: str
) -> None:
    given = ["export", f"{kernels}::{name}", "--sig", signature, "-o", str(kernels.parent / "no")]
    assert main(given) == 1
    assert message in capsys.readouterr().err and not (kernels.parent / "no").exists()


CUDA_STAND_IN = """#include <stddef.h>
typedef int CUresult;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;
enum { CUDA_SUCCESS = 0, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
CUresult cuModuleLoad(CUmodule *, const char *);
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *);
CUresult cuFuncSetAttribute(CUfunction, int, int);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void **, void **);
"""


@needs_cc
@pytest.mark.skipif(bool(nvrtc.available()), reason=nvrtc.available())
@pytest.mark.parametrize("name", ["softmax", "matmul", "mixed"])
def test_a_cubin_and_its_header(kernels: Path, name: str) -> None:
    """The header compiles against the driver's declarations; the cubin has the kernel."""
    folder = kernels.parent / "cuda"
    signature = {
        "softmax": "BLOCK=1024",
        "matmul": "BLOCK=64",
        "mixed": "x=*fp32, halves=*fp16, bytes=*i8, flags=*i1, out=*fp64, n=i32, wide=i64,"
        " scale=fp32, double=fp64, on=i1, BLOCK=64",
    }[name]
    given = ["export", f"{kernels}::{name}", "--sig", signature, "-o", str(folder)]
    assert main([*given, "--target", "cuda", "--arch", "sm_90"]) == 0
    cubin = (folder / f"{name}.cubin").read_bytes()
    assert cubin.startswith(b"\x7fELF") and name.encode() in cubin
    (folder / "cuda.h").write_text(CUDA_STAND_IN)
    header = (folder / f"{name}.h").read_text()
    assert f'"{name}"' in header and "sm_90" in header
    (folder / "use.c").write_text(f'#include "{name}.h"\nvoid *used[] = {{(void *)0}};\n')
    command = [
        CC,
        "-std=c99",
        "-Wall",
        "-Werror",
        f"-I{folder}",
        "-fsyntax-only",
        str(folder / "use.c"),
    ]
    subprocess.run([*command, str(folder / "use.c")], check=True, timeout=60)
