"""Fast Fourier transform of complex rows whose length is a power of two, one pass a launch.

One idea: Stockham's ordering. Every butterfly reads elements j and j + n/2 and writes neighbours
`half` apart, so the output comes out in order without a bit reversal.

Programs: axis 1 is the row, axis 0 a block of butterflies. A complex number is a pair of floats:
a block of pairs is split into real and imaginary parts, and joined again for the store.
"""

import math

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def butterfly_kernel(x_ptr, y_ptr, n, half, angle, BLOCK: tl.constexpr):
    row = tl.program_id(1) * n
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    parts = tl.arange(0, 2)[None, :]
    mask = (j < n // 2)[:, None]
    first = (row + j)[:, None] * 2 + parts
    a_re, a_im = tl.split(tl.load(x_ptr + first, mask=mask, other=0.0))
    b_re, b_im = tl.split(tl.load(x_ptr + first + n, mask=mask, other=0.0))

    turn = (j % half).to(tl.float32) * angle
    cos, sin = tl.cos(turn), tl.sin(turn)
    w_re = b_re * cos - b_im * sin
    w_im = b_re * sin + b_im * cos

    out = (row + j // half * half * 2 + j % half)[:, None] * 2 + parts
    tl.store(y_ptr + out, tl.join(a_re + w_re, a_im + w_im), mask=mask)
    tl.store(y_ptr + out + half * 2, tl.join(a_re - w_re, a_im - w_im), mask=mask)


def fft(x: torch.Tensor) -> torch.Tensor:
    """Return the transform of each row of x, complex64 (rows, n) with n a power of two."""
    rows, n = x.shape
    source, target = torch.view_as_real(x.clone()), torch.empty(rows, n, 2)
    block = min(256, max(1, n // 2))
    half = 1
    while half < n:
        grid = (triton.cdiv(n // 2, block), rows)
        butterfly_kernel[grid](source, target, n, half, -math.pi / half, BLOCK=block)
        source, target = target, source
        half *= 2
    return torch.view_as_complex(source)


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.fft.fft(x.to(torch.complex128))


def inputs(rows: int, n: int):
    torch.manual_seed(0)
    return (torch.randn(rows, n, dtype=torch.complex64),)


def main() -> None:
    arguments = inputs(30, 4096)
    expected = reference(*arguments)
    error = (fft(*arguments) - expected).abs().max() / expected.abs().max()
    print(f"fft of 30 rows of 4096: largest error {error:.1e} of the largest value")


if __name__ == "__main__":
    main()
