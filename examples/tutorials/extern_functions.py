"""Functions of libdevice, CUDA's library of elementary functions, in a kernel.

python -m mytriton run examples/tutorials/extern_functions.py
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def asin_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, libdevice.asin(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


def main() -> None:
    torch.manual_seed(0)
    x = torch.rand(98_432, device=DEVICE) * 2 - 1
    out = torch.zeros_like(x)
    asin_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    torch.testing.assert_close(out, torch.asin(x))
    print(f"asin on {DEVICE}: agrees with torch")


if __name__ == "__main__":
    main()
