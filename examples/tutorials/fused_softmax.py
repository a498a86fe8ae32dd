"""Softmax of rows that are read once: a reduction within a block, programs that take many rows.

python -m mytriton run examples/tutorials/fused_softmax.py
"""

import torch
import triton
import triton.language as tl
from triton.runtime import driver

DEVICE = driver.active.get_active_torch_device()


@triton.jit
def softmax_kernel(
    out_ptr, x_ptr, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr
):
    first, step = tl.program_id(0), tl.num_programs(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    for row in tl.range(first, rows, step, num_stages=STAGES):
        x = tl.load(x_ptr + row * x_stride + offsets, mask=mask, other=-float("inf"))
        exponentials = tl.exp(x - tl.max(x, axis=0))
        softmax = exponentials / tl.sum(exponentials, axis=0)
        tl.store(out_ptr + row * out_stride + offsets, softmax, mask=mask)


def softmax(x: torch.Tensor) -> torch.Tensor:
    rows, columns = x.shape
    out = torch.empty_like(x)
    properties = driver.active.utils.get_device_properties(driver.active.get_current_device())
    programs = min(rows, 4 * properties["multiprocessor_count"])
    softmax_kernel[(programs, 1, 1)](
        out,
        x,
        x.stride(0),
        out.stride(0),
        rows,
        columns,
        BLOCK=triton.next_power_of_2(columns),
        STAGES=2,
        num_warps=8,
    )
    return out


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(1823, 781, device=DEVICE)
    torch.testing.assert_close(softmax(x), torch.softmax(x, dim=1))
    print(f"softmax of {tuple(x.shape)} on {DEVICE}: agrees with torch")


if __name__ == "__main__":
    main()
