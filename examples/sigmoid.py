"""Sigmoid from its formula: negation, `tl.exp`, addition and division composed in one kernel."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def sigmoid_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask, other=0.0)
    result = 1.0 / (1.0 + tl.exp(-value))
    tl.store(out + offsets, result, mask=mask)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)) on the CPU target, for a float32 vector."""
    out = np.empty_like(x)
    sigmoid_kernel[(triton.cdiv(x.size, 1024),)](x, out, x.size, BLOCK=1024, target="cpu")
    return out


def main() -> None:
    x = np.random.default_rng(0).uniform(-20, 20, (1 << 20) + 7).astype(np.float32)
    exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    error = np.max(np.abs(sigmoid(x) - exact) / exact)
    assert error < 1e-6, error
    print(f"sigmoid: {x.size} elements, relative error at most {error:.1e}")


if __name__ == "__main__":
    main()
