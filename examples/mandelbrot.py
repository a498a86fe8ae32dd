"""The Mandelbrot set as a picture: a program iterates a block of pixels until all have escaped.

python examples/mandelbrot.py mandelbrot.png
"""

import sys

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def mandelbrot_kernel(out, width, height, left, top, step, limit, BLOCK: tl.constexpr):
    pixel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = pixel < width * height
    real = left + (pixel % width) * step
    imaginary = top - (pixel // width) * step

    x = tl.zeros((BLOCK,), dtype=tl.float32)
    y = tl.zeros((BLOCK,), dtype=tl.float32)
    count = tl.zeros((BLOCK,), dtype=tl.int32)
    for _ in range(limit):
        bounded = x * x + y * y <= 4.0
        if tl.sum(bounded & inside, axis=0) == 0:
            break
        x, y = (
            tl.where(bounded, x * x - y * y + real, x),
            tl.where(bounded, 2.0 * x * y + imaginary, y),
        )
        count += bounded
    tl.store(out + pixel, count, mask=inside)


def mandelbrot(width: int, height: int, limit: int = 200) -> np.ndarray:
    """How many of `limit` steps each pixel of (height, width) stays within radius 2; int32."""
    out = np.empty((height, width), np.int32)
    grid = (triton.cdiv(out.size, 256),)
    step = 3.2 / width
    view = (-2.3, step * height / 2, step)
    mandelbrot_kernel[grid](out, width, height, *view, limit, BLOCK=256, target="cpu")
    return out


def reference(width: int, height: int, limit: int = 200) -> np.ndarray:
    """The same counts by NumPy in float64."""
    step = 3.2 / width
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    c = (-2.3 + columns * step) + 1j * (step * height / 2 - rows * step)
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int32)
    for _ in range(limit):
        bounded = np.abs(z) <= 2
        z[bounded] = z[bounded] ** 2 + c[bounded]
        count += bounded
    return count


def main(path: str = "") -> None:
    counts = mandelbrot(960, 640)
    agree = np.mean(counts == reference(960, 640))
    assert agree > 0.97, agree  # float32 orbits part from float64's near the boundary
    print(f"mandelbrot: {counts.shape[1]}x{counts.shape[0]}, {agree:.1%} equal to float64's counts")
    if path:
        from PIL import Image

        shade = 255 - (np.sqrt(counts / counts.max()) * 255).astype(np.uint8)
        Image.fromarray(shade).save(path)
        print(f"written to {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
