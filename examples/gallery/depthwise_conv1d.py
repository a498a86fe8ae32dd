"""Causal depthwise convolution over time with SiLU, as in state-space models.

One idea: every channel has its own few taps, so this is no matrix product but a handful of shifted
loads; the loop over the taps is unrolled and the taps stay in registers.

Programs: axis 2 is the sequence, axis 1 a block of channels, axis 0 a block of time; x has shape
(batch, length, channels), channels adjacent in memory.
"""

import torch
import torch.nn.functional as F

import mytriton as triton
import mytriton.language as tl


@triton.jit
def depthwise_conv1d_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, length, channels,
    TAPS: tl.constexpr, BLOCK_TIME: tl.constexpr, BLOCK_CHANNELS: tl.constexpr,
):  # fmt: skip
    times = tl.program_id(0) * BLOCK_TIME + tl.arange(0, BLOCK_TIME)
    cols = tl.program_id(1) * BLOCK_CHANNELS + tl.arange(0, BLOCK_CHANNELS)
    sequence = tl.program_id(2).to(tl.int64) * length * channels
    inside = cols < channels
    bias = tl.load(bias_ptr + cols, mask=inside, other=0.0)
    acc = tl.zeros([BLOCK_TIME, BLOCK_CHANNELS], dtype=tl.float32) + bias[None, :]
    for tap in tl.static_range(TAPS):
        past = times - (TAPS - 1 - tap)
        mask = ((past >= 0) & (past < length))[:, None] & inside[None, :]
        offsets = past[:, None] * channels + cols[None, :]
        x = tl.load(x_ptr + sequence + offsets, mask=mask, other=0.0)
        weight = tl.load(weight_ptr + cols * TAPS + tap, mask=inside, other=0.0)
        acc += x * weight[None, :]
    out = acc * tl.sigmoid(acc)
    mask = (times[:, None] < length) & inside[None, :]
    tl.store(out_ptr + sequence + times[:, None] * channels + cols[None, :], out, mask=mask)


def depthwise_conv1d(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Convolve x (batch, length, channels) with weight (channels, taps), seeing only the past."""
    batch, length, channels = x.shape
    out = torch.empty_like(x)
    grid = (triton.cdiv(length, 32), triton.cdiv(channels, 64), batch)
    depthwise_conv1d_kernel[grid](
        x, weight, bias, out, length, channels,
        TAPS=weight.shape[1], BLOCK_TIME=32, BLOCK_CHANNELS=64,
    )  # fmt: skip
    return out


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    x, weight, bias = x.double(), weight.double(), bias.double()
    padded = F.pad(x.transpose(1, 2), (weight.shape[1] - 1, 0))
    out = F.conv1d(padded, weight[:, None, :], bias, groups=len(weight))
    return F.silu(out).transpose(1, 2)


def inputs(batch: int, length: int, channels: int, taps: int):
    torch.manual_seed(0)
    x = torch.randn(batch, length, channels)
    return x, torch.randn(channels, taps), torch.randn(channels)


def main() -> None:
    arguments = inputs(2, 500, 150, 4)
    error = (depthwise_conv1d(*arguments) - reference(*arguments)).abs().max()
    print(f"depthwise_conv1d of 2 x 500 x 150 with 4 taps: largest error {error:.1e}")


if __name__ == "__main__":
    main()
