"""The Mandelbrot set: after how many steps of z → z² + c does |z| exceed 2.

One idea: a block leaves the loop as soon as none of its points is left inside, so the loop's
condition is a reduction over the block.

Programs: axes 0 and 1 are the tiles of the image. The arrays here are NumPy's, which run on the
CPU where `triton.target("cpu")` says so.
"""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def mandelbrot_kernel(
    out_ptr, height, width, left, top, pixel, limit, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_Y + tl.arange(0, BLOCK_Y)[:, None]
    cols = tl.program_id(1) * BLOCK_X + tl.arange(0, BLOCK_X)[None, :]
    mask = (rows < height) & (cols < width)
    c_re = tl.broadcast_to(left + cols.to(tl.float32) * pixel, [BLOCK_Y, BLOCK_X])
    c_im = tl.broadcast_to(top + rows.to(tl.float32) * pixel, [BLOCK_Y, BLOCK_X])
    z_re = tl.zeros([BLOCK_Y, BLOCK_X], tl.float32)
    z_im = tl.zeros([BLOCK_Y, BLOCK_X], tl.float32)
    steps = tl.zeros([BLOCK_Y, BLOCK_X], tl.int32)
    inside = mask
    step = 0
    while (step < limit) & (tl.max(inside.to(tl.int32)) != 0):
        next_re = z_re * z_re - z_im * z_im + c_re
        z_im = tl.where(inside, 2.0 * z_re * z_im + c_im, z_im)
        z_re = tl.where(inside, next_re, z_re)
        inside = inside & (z_re * z_re + z_im * z_im <= 4.0)
        steps += inside.to(tl.int32)
        step += 1
    tl.store(out_ptr + rows * width + cols, steps, mask=mask)


def mandelbrot(height: int, width: int, limit: int) -> np.ndarray:
    """Return the number of steps each point of the image stays inside, at most limit."""
    out = np.zeros((height, width), np.int32)
    grid = (triton.cdiv(height, 16), triton.cdiv(width, 32))
    mandelbrot_kernel[grid](
        out, height, width, -2.0, -1.25, 2.5 / height, limit, BLOCK_Y=16, BLOCK_X=32
    )
    return out


def reference(height: int, width: int, limit: int) -> np.ndarray:
    """Do the same steps in the same precision: near the edge of the set every bit counts."""
    pixel = np.float32(2.5 / height)
    c_re = np.float32(-2.0) + np.arange(width, dtype=np.float32) * pixel
    c_im = (np.float32(-1.25) + np.arange(height, dtype=np.float32) * pixel)[:, None]
    z_re, z_im = np.zeros((2, height, width), np.float32)
    steps = np.zeros((height, width), np.int32)
    inside = np.ones((height, width), bool)
    for _ in range(limit):
        next_re = z_re * z_re - z_im * z_im + c_re
        z_im = np.where(inside, 2 * z_re * z_im + c_im, z_im)
        z_re = np.where(inside, next_re, z_re)
        inside &= z_re * z_re + z_im * z_im <= 4
        steps += inside
    return steps


def inputs(height: int, width: int, limit: int):
    return height, width, limit


def main() -> None:
    arguments = inputs(50, 70, 60)
    with triton.target("cpu"):
        steps = mandelbrot(*arguments)
    for row in steps[::3]:
        print("".join(" .:-=+*#%@"[min(9, int(count) // 3)] for count in row))
    print(f"mandelbrot of 50 x 70: {(steps != reference(*arguments)).sum()} points differ")


if __name__ == "__main__":
    main()
