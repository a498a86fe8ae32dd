"""Softmax of every row: one program a row, the whole row in one block.

The row is read once; its maximum and sum are reductions, so what a GPU would keep in registers a
CPU keeps in cache.
"""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    value = tl.load(x + row * columns + offsets, mask=mask, other=float("-inf"))
    numerator = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * columns + offsets, numerator / tl.sum(numerator, axis=0), mask=mask)


def softmax(x: np.ndarray) -> np.ndarray:
    """The softmax of each row on the CPU target, for a float32 matrix."""
    rows, columns = x.shape
    out = np.empty_like(x)
    block = triton.next_power_of_2(columns)
    softmax_kernel[(rows,)](x, out, columns, BLOCK=block, target="cpu")
    return out


def main() -> None:
    x = np.random.default_rng(0).standard_normal((1100, 1000)).astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    exact /= exact.sum(axis=1, keepdims=True)
    error = np.max(np.abs(softmax(x) - exact) / exact)
    assert error < 1e-5, error
    print(f"softmax: {x.shape[0]} rows of {x.shape[1]}, relative error at most {error:.1e}")


if __name__ == "__main__":
    main()
