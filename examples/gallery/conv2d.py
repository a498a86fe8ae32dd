"""Two-dimensional convolution with stride and padding, as an implicit matrix product.

One idea: the matrix of image patches (output pixels × channels·height·width of the filter) is never
built. The inner loop turns its index into (channel, dy, dx) and gathers straight from the image;
what falls into the padding is masked.

Programs: axis 0 is a block of output pixels over all images, axis 1 a block of output channels.
"""

import torch
import torch.nn.functional as F

import mytriton as triton
import mytriton.language as tl


@triton.jit
def conv2d_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, images, in_channels, height, width, out_channels,
    out_height, out_width, KERNEL_H: tl.constexpr, KERNEL_W: tl.constexpr, STRIDE: tl.constexpr,
    PADDING: tl.constexpr, BLOCK_PIXELS: tl.constexpr, BLOCK_OUT: tl.constexpr,
    BLOCK_INNER: tl.constexpr,
):  # fmt: skip
    pixels = tl.program_id(0) * BLOCK_PIXELS + tl.arange(0, BLOCK_PIXELS)
    outs = tl.program_id(1) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
    area = out_height * out_width
    image = pixels // area
    top = pixels % area // out_width * STRIDE - PADDING
    left = pixels % out_width * STRIDE - PADDING
    inner_size = in_channels * KERNEL_H * KERNEL_W
    acc = tl.zeros([BLOCK_PIXELS, BLOCK_OUT], dtype=tl.float32)
    for start in range(0, inner_size, BLOCK_INNER):
        inner = start + tl.arange(0, BLOCK_INNER)
        channel = inner // (KERNEL_H * KERNEL_W)
        y = top[:, None] + (inner // KERNEL_W % KERNEL_H)[None, :]
        x = left[:, None] + (inner % KERNEL_W)[None, :]
        plane = image[:, None] * in_channels + channel[None, :]
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        mask = inside & (image[:, None] < images) & (inner[None, :] < inner_size)
        patch = tl.load(x_ptr + (plane * height + y) * width + x, mask=mask, other=0.0)
        weight = tl.load(
            weight_ptr + outs[None, :] * inner_size + inner[:, None],
            mask=(outs[None, :] < out_channels) & (inner[:, None] < inner_size),
            other=0.0,
        )
        acc = tl.dot(patch, weight, acc, input_precision="ieee")
    acc += tl.load(bias_ptr + outs, mask=outs < out_channels, other=0.0)[None, :]
    offsets = (image[:, None] * out_channels + outs[None, :]) * area + (pixels % area)[:, None]
    mask = (image[:, None] < images) & (outs[None, :] < out_channels)
    tl.store(out_ptr + offsets, acc, mask=mask)


def conv2d(x, weight, bias, stride: int, padding: int) -> torch.Tensor:
    """Convolve x (images, in, height, width) with weight (out, in, KERNEL_H, KERNEL_W)."""
    images, in_channels, height, width = x.shape
    out_channels, _, kernel_h, kernel_w = weight.shape
    out_height = (height + 2 * padding - kernel_h) // stride + 1
    out_width = (width + 2 * padding - kernel_w) // stride + 1
    out = torch.empty(images, out_channels, out_height, out_width)
    grid = (triton.cdiv(images * out_height * out_width, 64), triton.cdiv(out_channels, 16))
    conv2d_kernel[grid](
        x, weight, bias, out, images, in_channels, height, width, out_channels, out_height,
        out_width, KERNEL_H=kernel_h, KERNEL_W=kernel_w, STRIDE=stride, PADDING=padding,
        BLOCK_PIXELS=64, BLOCK_OUT=16, BLOCK_INNER=32,
    )  # fmt: skip
    return out


def reference(x, weight, bias, stride: int, padding: int) -> torch.Tensor:
    return F.conv2d(x.double(), weight.double(), bias.double(), stride, padding)


def inputs(images: int, channels: tuple[int, int], size: tuple[int, int], kernel, stride, padding):
    torch.manual_seed(0)
    out_channels, in_channels = channels
    x = torch.randn(images, in_channels, *size)
    weight, bias = torch.randn(out_channels, in_channels, *kernel), torch.randn(out_channels)
    return x, weight, bias, stride, padding


def main() -> None:
    arguments = inputs(2, (20, 6), (45, 37), (3, 5), 2, 1)
    error = (conv2d(*arguments) - reference(*arguments)).abs().max()
    print(f"conv2d of 2 x 6 x 45 x 37 with 20 filters 3 x 5, stride 2: largest error {error:.1e}")


if __name__ == "__main__":
    main()
