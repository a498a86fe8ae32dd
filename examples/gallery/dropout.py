"""Dropout that stores no mask: y = x * keep / (1 - p), and the same for the gradient.

One idea: the random numbers come from a counter (Philox), not from a state, so the backward pass
makes the very same mask again from the seed and the element's place.

Programs: program p handles elements p * BLOCK to (p + 1) * BLOCK; the element's place is the
counter, so the mask does not depend on the block size.
"""

import numpy as np
import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def dropout_kernel(x_ptr, y_ptr, size, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(y_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def apply(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    y = torch.empty_like(x)
    dropout_kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), p, seed, BLOCK=512)
    return y


def dropout(x: torch.Tensor, dy: torch.Tensor, p: float, seed: int):
    """Return the output for x and the gradient of x for dy."""
    return apply(x, p, seed), apply(dy, p, seed)


def uniform(seed: int, size: int) -> np.ndarray:
    """Return the first word of Philox 4×32-10 at counters 0 … size - 1, as a float in [0, 1)."""
    low = np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = np.arange(size, dtype=np.uint64), *np.zeros((3, size), np.uint64)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    for _ in range(10):
        a, b = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0 = b >> np.uint64(32) ^ c1 ^ np.uint64(k0)
        c2 = a >> np.uint64(32) ^ c3 ^ np.uint64(k1)
        c1, c3 = b & low, a & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    signed = c0.astype(np.uint32).view(np.int32)
    positive = np.where(signed < 0, -signed - 1, signed)
    return positive.astype(np.float32) * np.float32(4.6566127342e-10)


def reference(x: torch.Tensor, dy: torch.Tensor, p: float, seed: int):
    keep = torch.from_numpy(uniform(seed, x.numel()) > np.float32(p)).view(x.shape)
    return x.double() * keep / (1 - p), dy.double() * keep / (1 - p)


def inputs(rows: int, columns: int, p: float, seed: int):
    torch.manual_seed(0)
    x, dy = torch.randn(2, rows, columns)
    return x, dy, p, seed


def main() -> None:
    arguments = inputs(300, 333, 0.3, 1234)
    y, dx = dropout(*arguments)
    expected, expected_dx = reference(*arguments)
    error = max((y - expected).abs().max(), (dx - expected_dx).abs().max())
    kept = (y != 0).double().mean()
    print(f"dropout of 300 x 333, p = 0.3: kept {kept:.1%}, largest error {error:.1e}")


if __name__ == "__main__":
    main()
