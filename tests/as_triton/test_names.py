"""The names that kernel libraries and PyTorch touch are where they look for them."""

from __future__ import annotations

import json
import subprocess
import sys

NAMES = """
triton: __version__ jit autotune heuristics Config cdiv next_power_of_2 language runtime compiler
triton: backends testing knobs tools errors JITFunction KernelInterface MockTensor TensorWrapper
triton: reinterpret OutOfResources CompilationError InterpreterError TritonError compile aggregate
triton: set_allocator constexpr_function must_use_result Autotuner Heuristics
triton.language: bfloat16 float16 float32 constexpr tensor dtype extra math core standard random
triton.language: gather make_tensor_descriptor uint_to_uniform_float make_block_ptr pointer_type
triton.language.core: CONSTEXPR_0 _unwrap_if_constexpr get_int_dtype view reduce dtype tensor
triton.language.standard: _log2 zeros_like
triton.language.extra.libdevice: acos atan atan2 div_rn div_rz erf exp exp2 fmod isinf isnan pow
triton.language.extra.libdevice: finitef isfinited rsqrt tanh trunc
triton.language.extra.cuda.libdevice: rsqrt tanh
triton.runtime: JITFunction Autotuner Heuristics KernelInterface driver autotuner cache errors jit
triton.runtime.jit: JITFunction KernelInterface MockTensor TensorWrapper reinterpret
triton.runtime.autotuner: Autotuner Config Heuristics OutOfResources PTXASError autotune
triton.runtime.cache: FileCacheManager triton_key get_cache_manager _base64
triton.runtime.driver: driver DriverBase
triton.runtime.errors: AutotunerError InterpreterError OutOfResources PTXASError
triton.runtime._allocation: set_allocator NullAllocator
triton.compiler: ASTSource CompiledKernel compile make_backend CompilationError
triton.compiler.compiler: ASTSource CompiledKernel make_backend triton_key compile
triton.compiler.errors: CompilationError CompileTimeAssertionFailure UnsupportedLanguageConstruct
triton.backends: backends
triton.backends.compiler: GPUTarget BaseBackend
triton.testing: do_bench do_bench_cudagraph perf_report Benchmark Mark assert_close get_dram_gbps
triton.testing: get_max_simd_tflops get_max_tensorcore_tflops nvsmi
triton.tools.tensor_descriptor: TensorDescriptor
triton.knobs: cache runtime compilation autotuning language
"""
ABSENT = {
    # Their presence would select another code path, or another vendor's.
    "triton.compiler.compiler": ["AttrsDescriptor"],
    "triton.backends.compiler": ["AttrsDescriptor"],
    "triton.language.extra": ["cann", "ascend"],
}
PROGRAM = """
import importlib, json, sys
import mytriton.as_triton
asked = json.loads(sys.argv[1])
print(json.dumps([f"{m}.{n}" for m, n in asked if hasattr(importlib.import_module(m), n)]))
"""


def found(asked: list[tuple[str, str]]) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_names_that_libraries_touch_are_there() -> None:
    rows = [line.split(": ") for line in NAMES.strip().splitlines()]
    asked = [(module, name) for module, names in rows for name in names.split()]
    assert {f"{module}.{name}" for module, name in asked} - found(asked) == set()


def test_names_that_select_other_code_are_not_there() -> None:
    assert found([(module, name) for module, names in ABSENT.items() for name in names]) == set()
