"""Rotary position embedding: every pair (x[i], x[i + half]) of a head is turned by an angle.

One idea: the angles depend on position only, so one program loads cos and sin once and turns all
heads of its position as one two-dimensional block (heads × half of the head's width).

Programs: one program a position of one sequence; x has shape (batch, length, heads, width).
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def rope_kernel(
    x_ptr, cos_ptr, sin_ptr, out_ptr, length, heads, half,
    BLOCK_HEADS: tl.constexpr, BLOCK_HALF: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0)
    position = token % length
    cols = tl.arange(0, BLOCK_HALF)
    cos = tl.load(cos_ptr + position * half + cols, mask=cols < half, other=0.0)
    sin = tl.load(sin_ptr + position * half + cols, mask=cols < half, other=0.0)

    rows = tl.arange(0, BLOCK_HEADS)
    mask = (rows[:, None] < heads) & (cols[None, :] < half)
    first = token * heads * half * 2 + rows[:, None] * half * 2 + cols[None, :]
    second = first + half
    x = tl.load(x_ptr + first, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(x_ptr + second, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + first, (x * cos - y * sin).to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(out_ptr + second, (y * cos + x * sin).to(out_ptr.dtype.element_ty), mask=mask)


def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn x (batch, length, heads, 2 * half) by the angles of cos and sin (length, half)."""
    batch, length, heads, width = x.shape
    out = torch.empty_like(x)
    rope_kernel[(batch * length,)](
        x, cos, sin, out, length, heads, width // 2,
        BLOCK_HEADS=triton.next_power_of_2(heads), BLOCK_HALF=triton.next_power_of_2(width // 2),
    )  # fmt: skip
    return out


def reference(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = cos.double()[:, None, :], sin.double()[:, None, :]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def inputs(batch: int, length: int, heads: int, width: int):
    torch.manual_seed(0)
    frequency = 10000.0 ** (-torch.arange(0, width, 2) / width)
    angle = torch.arange(length)[:, None] * frequency
    x = torch.randn(batch, length, heads, width, dtype=torch.bfloat16)
    return x, angle.cos(), angle.sin()


def main() -> None:
    arguments = inputs(2, 128, 12, 96)
    error = (rope(*arguments) - reference(*arguments)).abs().max()
    print(f"rope of 2 x 128 positions, 12 heads of 96, bfloat16: largest error {error:.1e}")


if __name__ == "__main__":
    main()
