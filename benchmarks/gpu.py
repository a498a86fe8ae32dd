"""`python -m benchmarks.gpu`: the tutorials' kernels on a GPU, next to torch and Triton.

Needs an NVIDIA GPU with torch and CuPy; Triton is measured where it is installed. Every result is
compared with torch's first, and a wrong one ends the run. Times are medians of CUDA events around
single launches, after a warm-up, with the second-level cache overwritten before each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

import mytriton
from examples.gallery.flash_attention import forward_kernel
from examples.matmul import matmul_kernel

from . import triton_static
from .cuda_static import add_kernel, softmax_kernel

REPEATS = 50
CACHE_BYTES = 256 * 2**20
"""More than the second-level cache of any GPU."""


@dataclass(frozen=True)
class Case:
    """One measurement: a kernel launched by `run(kernel)`, torch's function for the same, and what
    both give, to be compared. work: bytes or operations of a launch, and their unit."""

    name: str
    kernel: Any
    run: Callable[[Any], Any]
    torch: Callable[[], Any]
    tolerance: float
    work: float
    unit: str


def cases(torch: Any) -> Iterator[Case]:
    """The measurements, on data of the current device."""
    generator = torch.Generator("cuda").manual_seed(0)

    def random(*shape: int, dtype: Any = torch.float32) -> Any:
        return torch.randn(*shape, device="cuda", generator=generator).to(dtype)

    n = 2**26
    x, y, out = random(n), random(n), torch.empty(n, device="cuda")

    def add(kernel: Any) -> Any:
        kernel[(n // 1024,)](x, y, out, n, BLOCK=1024, num_warps=4)
        return out

    yield Case("vector add, 2^26 f32", add_kernel, add, lambda: x + y, 0.0, 12 * n, "GB/s")
    rows, columns = 8192, 1024
    scores, soft = random(rows, columns), torch.empty(rows, columns, device="cuda")

    def softmax(kernel: Any) -> Any:
        kernel[(rows,)](scores, soft, columns, columns, BLOCK=1024, num_warps=8)
        return soft

    size = 8.0 * rows * columns
    yield Case("softmax, 8192 rows of 1024 f32", softmax_kernel, softmax,
               lambda: torch.softmax(scores, 1), 1e-6, size, "GB/s")  # fmt: skip
    for m in (1024, 4096):
        yield _matmul(torch, random(m, m, dtype=torch.float16), random(m, m, dtype=torch.float16))
    yield _attention(torch, random)


def _matmul(torch: Any, a: Any, b: Any) -> Case:
    m = a.shape[0]
    c = torch.empty(m, m, device="cuda")
    grid = (m // 128 * (m // 128),)

    def run(kernel: Any) -> Any:
        blocks = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP": 8}
        kernel[grid](a, b, c, m, m, m, **blocks, num_warps=8, num_stages=3)
        return c

    work = 2.0 * m**3
    return Case(
        f"matmul f16 {m}", matmul_kernel, run, lambda: (a @ b).float(), 0.5, work, "TFLOP/s"
    )


def _attention(torch: Any, random: Callable[..., Any]) -> Case:
    heads, length, width = 64, 2048, 64
    q, k, v = (random(heads, length, width, dtype=torch.float16) for _ in range(3))
    out, sums = torch.empty_like(q), torch.empty(heads, length, device="cuda")
    scale = width**-0.5

    def run(kernel: Any) -> Any:
        given = (q, k, v, out, sums, length, width, scale * 1.4426950408889634)
        kernel[(length // 64, heads)](*given, BLOCK=64, BLOCK_WIDTH=64, num_warps=4)
        return out

    def by_torch() -> Any:
        attend = torch.nn.functional.scaled_dot_product_attention
        return attend(q, k, v, is_causal=True, scale=scale)

    work = 2.0 * heads * length * length * width
    return Case("causal attention f16, 64 heads of 2048 by 64", forward_kernel, run, by_torch, 2e-2,
                work, "TFLOP/s")  # fmt: skip


def triton_kernel(case: Case) -> Any:
    """The same kernel for Triton; None where that is not installed."""
    return None if triton_static.triton() is None else triton_static.loaded(case.kernel)


def milliseconds(torch: Any, run: Callable[[], Any]) -> float:
    """The median time of a launch."""
    cache = torch.empty(CACHE_BYTES, dtype=torch.int8, device="cuda")
    for _ in range(3):
        run()
    times = []
    for _ in range(REPEATS):
        cache.zero_()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return median(times)


def rate(case: Case, time: float) -> str:
    """Work a second."""
    scale = 1e9 if case.unit == "GB/s" else 1e12
    return f"{case.work / (time * 1e-3) / scale:.1f} {case.unit}"


def check(torch: Any, case: Case, who: str, made: Any) -> None:
    """Ends the run where a result is not torch's."""
    wanted = case.torch()
    error = (made.float() - wanted.float()).abs().max().item()
    if not error <= case.tolerance:
        sys.exit(f"{case.name} by {who}: off by {error}, at most {case.tolerance} is allowed")


def main() -> None:
    """Prints the table."""
    try:
        import torch
    except ImportError:
        sys.exit("benchmarks.gpu needs torch and an NVIDIA GPU")
    if not torch.cuda.is_available():
        sys.exit("benchmarks.gpu needs an NVIDIA GPU; torch sees none")
    table = Table("kernel", "by", "ms", "rate", title=torch.cuda.get_device_name())
    for case in cases(torch):
        kernels = {"mytriton": mytriton.jit(getattr(case.kernel, "fn", case.kernel))}
        other = triton_kernel(case)
        kernels |= {} if other is None else {"Triton": other}
        runs: dict[str, Callable[[], Any]] = {"torch": case.torch}
        for who, kernel in kernels.items():
            check(torch, case, who, case.run(kernel))
            runs[who] = partial(case.run, kernel)
        for who, run in runs.items():
            time = milliseconds(torch, run)
            table.add_row(case.name, who, f"{time:.3f}", rate(case, time))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
