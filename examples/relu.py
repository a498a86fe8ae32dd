"""ReLU: the positive part of a vector, by `tl.maximum`.

Triton's rule for NaN holds: a NaN operand of `maximum` yields the other one, so ReLU of NaN is 0.
"""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask, other=0.0)
    tl.store(out + offsets, tl.maximum(value, 0.0), mask=mask)


def relu(x: np.ndarray) -> np.ndarray:
    """max(x, 0) on the CPU target, for a float32 vector."""
    out = np.empty_like(x)
    relu_kernel[(triton.cdiv(x.size, 1024),)](x, out, x.size, BLOCK=1024, target="cpu")
    return out


def main() -> None:
    x = np.random.default_rng(0).standard_normal((1 << 20) + 7).astype(np.float32)
    x[:3] = np.nan, -np.inf, np.inf
    np.testing.assert_array_equal(relu(x), np.fmax(x, 0))
    print(f"relu: {x.size} elements, equal to NumPy's fmax(x, 0)")


if __name__ == "__main__":
    main()
