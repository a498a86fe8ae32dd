"""`python -m benchmarks.cuda_static`: what NVRTC makes of printed kernels, without a GPU.

For each kernel and architecture: instructions, registers, barriers, and the accesses and
tensor-core instructions among them, and next to them what Triton makes of the same kernels, where
it is installed. Needs NVRTC and nvdisasm (`pip install nvidia-cuda-nvdisasm`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

import mytriton.language as tl
from examples.gallery.flash_attention import forward_kernel
from examples.matmul import matmul_kernel
from mytriton.frontend.trace import trace
from mytriton.ir.types import parse_type
from mytriton.passes.pipeline import optimize
from mytriton.targets.cuda import CudaSource, compile_nvrtc, generate
from mytriton.targets.cuda.launch.machine_code import instructions, resources, sass

from . import triton_static

ARCHITECTURES = ("sm_80", "sm_90a")
CAPABILITIES = {"sm_80": 80, "sm_90a": 90}
SHOWN = (
    "LDGSTS.128", "LDG.128", "STG.128", "LDG", "STG", "SHFL", "BAR", "LDSM", "HMMA", "HGMMA", "LDL",
    "STL",
)  # fmt: skip


def add_kernel(x, y, out, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """out = x + y."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def softmax_kernel(x, out, stride, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """The softmax of a row a program."""
    start, i = tl.program_id(0) * stride, tl.arange(0, BLOCK)
    row = tl.load(x + start + i, mask=i < n, other=-float("inf"))
    powers = tl.exp(row - tl.max(row, 0))
    tl.store(out + start + i, powers / tl.sum(powers, 0), mask=i < n)


@dataclass(frozen=True)
class Case:
    """A kernel, its parameters (a type in words, or a constexpr's value), and its warps. All
    run-time arguments but floats are taken to be multiples of 16."""

    name: str
    kernel: Callable[..., Any]
    arguments: dict[str, Any]
    warps: int


MATMUL = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
FLASH = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), "*fp16")
CASES = (
    Case("add 1024", add_kernel, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32",
         "BLOCK": 1024}, 4),
    Case("softmax 1024", softmax_kernel, {"x": "*fp32", "out": "*fp32", "stride": "i32",
         "n": "i32", "BLOCK": 1024}, 8),
    Case("matmul 128x128x64", matmul_kernel, {**MATMUL, "BLOCK_M": 128, "BLOCK_N": 128,
         "BLOCK_K": 64, "GROUP": 8}, 8),
    Case("attention 64x64, d 64", forward_kernel, {**FLASH, "log_sum_ptr": "*fp32",
         "length": "i32", "width": "i32", "scale": "fp32", "BLOCK": 64, "BLOCK_WIDTH": 64}, 4),
)  # fmt: skip


def source_of(case: Case) -> CudaSource:
    """The CUDA source of a case."""
    kernel = getattr(case.kernel, "fn", case.kernel)
    types = {n: parse_type(v) if isinstance(v, str) else v for n, v in case.arguments.items()}
    aligned = frozenset(n for n, v in case.arguments.items() if v not in ("fp32", "fp64"))
    function = optimize(trace(kernel, types))
    return generate(function, num_warps=case.warps, aligned=aligned)


def text_of(case: Case) -> str:
    """The CUDA text of a case."""
    return source_of(case).text


def rows(case: Case, architecture: str) -> Iterator[tuple[str, bytes, int]]:
    """Who compiled the case, its machine code, and its shared memory."""
    source = source_of(case)
    yield "mytriton", compile_nvrtc(source.text, architecture).cubin, source.shared_total
    if triton_static.triton() is not None:
        given = (case.kernel, case.arguments, case.warps, CAPABILITIES[architecture])
        code, _, shared = triton_static.compiled(*given)
        yield "Triton", code, shared


def main() -> None:
    table = Table("kernel", "for", "by", "instructions", "registers", "shared", *SHOWN)
    for case in CASES:
        for architecture in ARCHITECTURES:
            for who, cubin, shared in rows(case, architecture):
                counts, used = instructions(sass(cubin)), resources(cubin)
                row = [case.name, architecture, who, counts.total(), used.registers, shared]
                table.add_row(*map(str, row), *(str(counts[name] or "") for name in SHOWN))
    Console(width=180).print(table)


if __name__ == "__main__":
    main()
