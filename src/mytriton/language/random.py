"""Random numbers: Philox 4×32-10 (Salmon et al., SC 2011), by seed and offset.

It is a generator without state. Ten rounds of multiply and exclusive-or turn a counter (the
offset) and a key (the seed) into four random words, so every element of every program can have its
own, and the same call always gives the same numbers: bit for bit those of Triton.
"""

from __future__ import annotations

from ..errors import CompileTypeError
from ..ir.types import I32, I64, U32, U64
from .arguments import ConstInt, TensorLike
from .constexpr import builtin
from .creation import cast
from .math import cos, log, maximum, sin, sqrt, umulhi, where
from .tensor import tensor, to_tensor

__all__ = [
    "pair_uniform_to_normal",
    "philox",
    "philox_impl",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "uint_to_uniform_float",
]

N_ROUNDS_DEFAULT = 10
Four = tuple[tensor, tensor, tensor, tensor]

_CONSTANTS = {
    U32: ((0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)),
    U64: (
        (0xD2E7470EE14C6C93, 0xCA5A826395121157),
        (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B),
    ),
}
"""By word type: the round's multipliers and what the keys grow by."""


@builtin
def philox_impl(
    c0: tensor,
    c1: tensor,
    c2: tensor,
    c3: tensor,
    k0: tensor,
    k1: tensor,
    n_rounds: ConstInt = N_ROUNDS_DEFAULT,
) -> Four:
    """Four random words from the counter c0 … c3 under the key k0, k1; all uint32 or all uint64."""
    if c0.dtype not in _CONSTANTS:
        raise CompileTypeError(f"philox: words are uint32 or uint64, got {c0.dtype.name}")
    (first, second), (grow0, grow1) = _CONSTANTS[c0.dtype]
    for _ in range(int(n_rounds)):
        old0, old2 = c0, c2
        c0 = umulhi(old2, second) ^ c1 ^ k0
        c2 = umulhi(old0, first) ^ c3 ^ k1
        c1, c3 = old2 * second, old0 * first
        k0, k1 = k0 + grow0, k1 + grow1
    return c0, c1, c2, c3


def _word(value: TensorLike, bits: int) -> tensor:
    """An int's bits as an unsigned word."""
    given = to_tensor(value)
    word = U64 if bits == 64 else U32
    same = given.dtype.bits == bits
    return cast(given, word, bitcast=same)


@builtin
def philox(
    seed: TensorLike,
    c0: TensorLike,
    c1: TensorLike,
    c2: TensorLike,
    c3: TensorLike,
    n_rounds: ConstInt = N_ROUNDS_DEFAULT,
) -> Four:
    """Four random words from a counter under a seed (64 bits of it count).

    The counter's words are ints of 32 bits (uint32 results) or of 64 (uint64 results).
    """
    bits = 64 if to_tensor(c0).dtype.bits == 64 else 32
    key = cast(seed, U64)
    w0, w1, w2, w3 = (_word(c, bits) for c in (c0, c1, c2, c3))
    if bits == 64:
        return philox_impl(w0, w1, w2, w3, key, cast(0, U64), n_rounds)
    low, high = cast(key & 0xFFFFFFFF, U32), cast(key >> 32, U32)
    return philox_impl(w0, w1, w2, w3, low, high, n_rounds)


@builtin
def randint4x(seed: TensorLike, offset: TensorLike, n_rounds: ConstInt = N_ROUNDS_DEFAULT) -> Four:
    """Four blocks of random uint32 of the offset's shape: the cheapest way to many numbers.

    seed: a scalar; offset: ints, 64-bit ones with all their bits.
    """
    place = to_tensor(offset)
    low = cast(place, U32)
    zero = low * 0
    high = cast(place >> 32, U32) if place.dtype.bits > 32 else zero
    return philox(seed, low, high, zero, zero, n_rounds)


@builtin
def randint(seed: TensorLike, offset: TensorLike, n_rounds: ConstInt = N_ROUNDS_DEFAULT) -> tensor:
    """A block of random uint32 of the offset's shape."""
    return randint4x(seed, offset, n_rounds)[0]


@builtin
def uint_to_uniform_float(x: tensor) -> tensor:
    """Random words of 32 or 64 bits as f32 uniform in [0, 1)."""
    if x.dtype not in (U32, I32, U64, I64):
        raise CompileTypeError(f"uint_to_uniform_float: 32 or 64 bits needed, got {x.dtype.name}")
    narrow = x.dtype.bits == 32
    signed = cast(x, I32 if narrow else I64, bitcast=True)
    scale = 4.6566127342e-10 if narrow else 1.0842020432385337e-19
    return where(signed < 0, -signed - 1, signed) * scale


@builtin
def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    """Two normal numbers of two uniform ones (Box and Muller)."""
    angle = 6.283185307179586 * u2
    radius = sqrt(-2.0 * log(maximum(1.0e-7, u1)))
    return radius * cos(angle), radius * sin(angle)


@builtin
def rand(seed: TensorLike, offset: TensorLike, n_rounds: ConstInt = N_ROUNDS_DEFAULT) -> tensor:
    """A block of f32 uniform in [0, 1), of the offset's shape."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@builtin
def rand4x(seed: TensorLike, offsets: TensorLike, n_rounds: ConstInt = N_ROUNDS_DEFAULT) -> Four:
    """Four blocks of f32 uniform in [0, 1)."""
    a, b, c, d = map(uint_to_uniform_float, randint4x(seed, offsets, n_rounds))
    return a, b, c, d


@builtin
def randn(seed: TensorLike, offset: TensorLike, n_rounds: ConstInt = N_ROUNDS_DEFAULT) -> tensor:
    """A block of f32 of the standard normal distribution, of the offset's shape."""
    first, second = randint4x(seed, offset, n_rounds)[:2]
    return pair_uniform_to_normal(uint_to_uniform_float(first), uint_to_uniform_float(second))[0]


@builtin
def randn4x(seed: TensorLike, offset: TensorLike, n_rounds: ConstInt = N_ROUNDS_DEFAULT) -> Four:
    """Four blocks of f32 of the standard normal distribution."""
    a, b, c, d = map(uint_to_uniform_float, randint4x(seed, offset, n_rounds))
    return *pair_uniform_to_normal(a, b), *pair_uniform_to_normal(c, d)
