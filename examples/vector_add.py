"""Vector addition: the kernel every Triton tutorial starts with.

A program adds one block of BLOCK elements; the mask keeps the last, ragged block inside the arrays.
"""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n

    x_values = tl.load(x + offsets, mask=mask, other=0.0)
    y_values = tl.load(y + offsets, mask=mask, other=0.0)

    tl.store(out + offsets, x_values + y_values, mask=mask)


def add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x + y on the CPU target, for float32 vectors of one length."""
    out = np.empty_like(x)
    grid = (triton.cdiv(x.size, 1024),)
    add_kernel[grid](x, y, out, x.size, BLOCK=1024, target="cpu")
    return out


def main() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((2, (1 << 20) + 7), np.float32)
    np.testing.assert_array_equal(add(x, y), x + y)
    print(f"vector add: {x.size} elements, equal to NumPy's sum")


if __name__ == "__main__":
    main()
