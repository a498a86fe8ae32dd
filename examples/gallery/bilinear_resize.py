"""Resize images by bilinear interpolation between the centres of pixels.

One idea: the four neighbours and their weights depend on the output pixel only, so a program works
them out once for its block and then walks over the channels of the image.

Programs: axis 0 is a block of output pixels, axis 1 the image; x has shape (images, channels,
height, width). Coordinates past the edge are moved to the edge.
"""

import torch
import torch.nn.functional as F

import mytriton as triton
import mytriton.language as tl


@triton.jit
def neighbours(index, scale, size):
    """Return the two source indices around an output index, and how near the second is."""
    place = tl.maximum((index.to(tl.float32) + 0.5) * scale - 0.5, 0.0)
    first = tl.minimum(tl.floor(place).to(tl.int32), size - 1)
    return first, tl.minimum(first + 1, size - 1), place - first


@triton.jit
def bilinear_resize_kernel(
    x_ptr, out_ptr, channels, height, width, out_height, out_width, scale_y, scale_x,
    BLOCK: tl.constexpr,
):  # fmt: skip
    pixels = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = pixels < out_height * out_width
    top, bottom, down = neighbours(pixels // out_width, scale_y, height)
    left, right, along = neighbours(pixels % out_width, scale_x, width)
    for channel in tl.range(channels):
        plane = tl.program_id(1) * channels + channel
        x = x_ptr + plane * height * width
        a = tl.load(x + top * width + left, mask=mask, other=0.0)
        b = tl.load(x + top * width + right, mask=mask, other=0.0)
        c = tl.load(x + bottom * width + left, mask=mask, other=0.0)
        d = tl.load(x + bottom * width + right, mask=mask, other=0.0)
        upper = a + (b - a) * along
        lower = c + (d - c) * along
        out = out_ptr + plane * out_height * out_width + pixels
        tl.store(out, upper + (lower - upper) * down, mask=mask)


def bilinear_resize(x: torch.Tensor, out_height: int, out_width: int) -> torch.Tensor:
    """Return x (images, channels, height, width) with the new height and width."""
    images, channels, height, width = x.shape
    out = torch.empty(images, channels, out_height, out_width)
    grid = (triton.cdiv(out_height * out_width, 256), images)
    bilinear_resize_kernel[grid](
        x, out, channels, height, width, out_height, out_width, height / out_height,
        width / out_width, BLOCK=256,
    )  # fmt: skip
    return out


def reference(x: torch.Tensor, out_height: int, out_width: int) -> torch.Tensor:
    return F.interpolate(x.double(), (out_height, out_width), mode="bilinear", align_corners=False)


def inputs(images: int, channels: int, size: tuple[int, int], out_size: tuple[int, int]):
    torch.manual_seed(0)
    return torch.randn(images, channels, *size), *out_size


def main() -> None:
    arguments = inputs(2, 3, (61, 87), (133, 50))
    error = (bilinear_resize(*arguments) - reference(*arguments)).abs().max()
    print(f"bilinear_resize of 2 x 3 x 61 x 87 to 133 x 50: largest error {error:.1e}")


if __name__ == "__main__":
    main()
