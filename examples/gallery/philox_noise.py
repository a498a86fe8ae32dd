"""Gaussian noise from a counter: x + sigma * normal, the same on every machine and for every block.

One idea: one step of Philox 4×32-10 gives four words, and Box and Muller's rule makes four normals
of them; so a program asks for a quarter of its elements and gets four blocks at once.

Programs: program p adds noise to the elements 4 * p * BLOCK to 4 * (p + 1) * BLOCK. The counter of
the four blocks' lane i is p * BLOCK + i, whatever the seed (64 bits).
"""

import numpy as np
import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def philox_noise_kernel(x_ptr, out_ptr, size, sigma, seed, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    counter = tl.program_id(0) * BLOCK + lanes
    first = tl.program_id(0) * BLOCK * 4 + lanes
    normals = tl.randn4x(seed, counter)
    for part in tl.static_range(4):
        offsets = first + part * BLOCK
        x = tl.load(x_ptr + offsets, mask=offsets < size)
        tl.store(out_ptr + offsets, x + sigma * normals[part], mask=offsets < size)


def philox_noise(x: torch.Tensor, sigma: float, seed: int) -> torch.Tensor:
    """Return x with normal noise of standard deviation sigma added."""
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 4 * 256),)
    philox_noise_kernel[grid](x, out, x.numel(), sigma, seed, BLOCK=256)
    return out


def philox(seed: int, counters: np.ndarray) -> list[np.ndarray]:
    """Return the four uint32 words of Philox 4×32-10 at the counters (uint64, below 2**32)."""
    c = [counters, *np.zeros((3, len(counters)), np.uint64)]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    high, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> high ^ c[1] ^ np.uint64(key[0]), b & low,
             a >> high ^ c[3] ^ np.uint64(key[1]), a & low]  # fmt: skip
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return [word.astype(np.uint32) for word in c]


def reference(x: torch.Tensor, sigma: float, seed: int) -> torch.Tensor:
    blocks = triton.cdiv(x.numel(), 4 * 256)
    words = philox(seed, np.arange(blocks * 256, dtype=np.uint64))
    signed = [word.view(np.int32).astype(np.float64) for word in words]
    uniform = [np.where(s < 0, -s - 1, s) * 4.6566127342e-10 for s in signed]
    normals = []
    for radius, angle in (uniform[:2], uniform[2:]):
        length = np.sqrt(-2 * np.log(np.maximum(1e-7, radius)))
        normals += [length * np.cos(2 * np.pi * angle), length * np.sin(2 * np.pi * angle)]
    noise = np.stack([normal.reshape(blocks, 256) for normal in normals], axis=1)
    return x.double() + sigma * torch.from_numpy(noise.ravel()[: x.numel()])


def inputs(size: int, sigma: float, seed: int):
    torch.manual_seed(0)
    return torch.randn(size), sigma, seed


def main() -> None:
    arguments = x, sigma, seed = inputs(100_001, 2.0, 2**40 + 7)
    out = philox_noise(*arguments)
    error = (out - reference(*arguments)).abs().max()
    noise = out - x
    print(f"philox_noise of 100,001: mean {noise.mean():.3f}, deviation {noise.std():.3f}")
    print(f"largest difference from Philox in NumPy: {error:.1e}")


if __name__ == "__main__":
    main()
