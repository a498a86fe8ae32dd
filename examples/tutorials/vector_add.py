"""Adding two vectors: programs, blocks, masks, and a benchmark beside PyTorch.

python -m mytriton run examples/tutorials/vector_add.py [--benchmark]
"""

import sys

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # Program p owns elements p·BLOCK up to (p + 1)·BLOCK; the last one may reach past the end.
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = out.numel()
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=1024)
    return out


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size"],
        x_vals=[2**i for i in range(12, 23, 2)],
        x_log=True,
        line_arg="provider",
        line_vals=["kernel", "torch"],
        line_names=["kernel", "torch"],
        ylabel="GB/s",
        plot_name="vector-add",
        args={},
    )
)
def benchmark(size, provider):
    x, y = torch.rand(2, size, device=DEVICE)
    call = (lambda: add(x, y)) if provider == "kernel" else (lambda: x + y)
    median, low, high = triton.testing.do_bench(call, quantiles=[0.5, 0.2, 0.8])
    return tuple(3 * x.nbytes * 1e-6 / ms for ms in (median, high, low))


def main() -> None:
    torch.manual_seed(0)
    x, y = torch.rand(2, 98_432, device=DEVICE)
    assert torch.equal(add(x, y), x + y)
    print(f"vector add on {DEVICE}: agrees with torch")
    if "--benchmark" in sys.argv:
        benchmark.run(print_data=True)


if __name__ == "__main__":
    main()
