"""Layer normalisation with weight and bias: a row a program, in a loop over blocks of columns.

The row may be longer than a block: two loops carry the running sums, a third writes the result.
"""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * columns
    out += row * columns

    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + offsets, mask=offsets < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns

    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        centred = tl.where(mask, tl.load(x + offsets, mask=mask, other=0.0) - mean, 0.0)
        squares += centred * centred
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns + eps)

    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        value = tl.load(x + offsets, mask=mask, other=0.0)
        w = tl.load(weight + offsets, mask=mask, other=0.0)
        b = tl.load(bias + offsets, mask=mask, other=0.0)
        tl.store(out + offsets, (value - mean) * scale * w + b, mask=mask)


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float) -> np.ndarray:
    """Rows of mean 0 and variance 1, scaled and shifted, on the CPU target; float32."""
    rows, columns = x.shape
    out = np.empty_like(x)
    block = min(1024, triton.next_power_of_2(columns))
    layer_norm_kernel[(rows,)](x, weight, bias, out, columns, eps, BLOCK=block, target="cpu")
    return out


def main() -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((700, 1500)).astype(np.float32)
    weight, bias = generator.standard_normal((2, 1500)).astype(np.float32)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    exact = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias
    error = np.max(np.abs(layer_norm(x, weight, bias, 1e-5) - exact))
    assert error < 1e-4, error
    print(f"layer norm: {x.shape[0]} rows of {x.shape[1]}, error at most {error:.1e}")


if __name__ == "__main__":
    main()
