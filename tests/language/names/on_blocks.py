"""Names that make blocks of blocks: each with what NumPy makes of the same arrays."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

import mytriton.language as tl

from .shown import Row, Shown

X = np.array([0.5, 1.5, -2.25, 3.0, -0.75, 8.0, 0.125, -1.0], np.float32)
Y = np.array([2.0, -1.0, 0.5, 4.0, 3.0, 0.25, -8.0, 1.0], np.float32)
P = np.abs(X)
I = np.array([3, 1, 4, 1, -5, 9, 2, 6], np.int32)  # noqa: E741
U = I.astype(np.uint32)
B = X > 0
M = np.arange(6, dtype=np.int32).reshape(2, 3)
SQUARE = np.arange(256, dtype=np.float32).reshape(16, 16) % 7
SMALL = (np.arange(64).reshape(2, 32) % 5).astype(ml_dtypes.bfloat16)
CLOSE = 2e-6


def one(function: Any, *inputs: Any, rtol: float = 0.0, atol: float = 0.0) -> Row:
    """The name of blocks alone."""
    return Row(lambda f, *blocks: f(*blocks), function, inputs, rtol, atol)


def near(function: Any, *inputs: Any) -> Row:
    """In f64, then as f32."""

    def reference(*arrays: Any) -> Any:
        return np.asarray(function(*(a.astype(np.float64) for a in arrays))).astype(np.float32)

    return one(reference, *inputs, rtol=CLOSE, atol=1e-7)


def int32(function: Any) -> Any:
    return lambda *arrays: np.asarray(function(*arrays)).astype(np.int32)


def softmax(x: Any) -> Any:
    top = np.exp((x - x.max(0)).astype(np.float64))
    return (top / top.sum(0)).astype(np.float32)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def histogram(x: Any) -> Any:
    return np.bincount(x[x >= 0], minlength=10)


ELEMENTWISE: dict[str, Shown] = {
    "abs": one(np.abs, X),
    "add": one(np.add, X, Y),
    "sub": one(np.subtract, X, Y),
    "mul": one(np.multiply, X, Y),
    "ceil": one(np.ceil, X),
    "floor": one(np.floor, X),
    "cos": near(np.cos, X),
    "sin": near(np.sin, X),
    "exp": near(np.exp, X),
    "exp2": near(np.exp2, X),
    "log": near(np.log, P),
    "log2": near(np.log2, P),
    "erf": near(np.vectorize(math.erf), X),
    "sqrt": one(np.sqrt, P),
    "sqrt_rn": one(np.sqrt, P),
    "rsqrt": near(lambda x: 1 / np.sqrt(x), P),
    "fdiv": one(np.divide, X, Y),
    "div_rn": one(np.divide, X, Y),
    "fma": near(lambda x, y, z: x * y + z, X, Y, P),
    "umulhi": one(lambda x, y: (x.astype(np.uint64) * y >> np.uint64(32)).astype(np.uint32), U, ~U),
    "sigmoid": near(sigmoid, X),
    "minimum": one(np.minimum, X, Y),
    "maximum": one(np.maximum, X, Y),
    "clamp": Row(lambda f, x: f(x, -1.0, 2.0), lambda x: np.clip(x, -1, 2), [X]),
    "where": Row(lambda f, x, y: f(x > 0, x, y), lambda x, y: np.where(x > 0, x, y), [X, Y]),
    "cdiv": Row(lambda f, x: f(x + 5, 4), lambda x: (x + 5 + 3) // 4, [I]),
    "cast": Row(lambda f, x: f(x, tl.float16), lambda x: x.astype(np.float16), [X]),
    "tensor.to": Row(lambda f, x: f(x, tl.int32), lambda x: x.astype(np.int32), [X]),
    "tensor.logical_and": one(np.logical_and, B, Y < 1),
    "tensor.logical_or": one(np.logical_or, B, Y < 1),
    "to_tensor": Row(lambda f, x: x + f(2.0), lambda x: x + 2, [X]),
    "multiple_of": Row(lambda f, x: f(x, 1), lambda x: x, [I]),
    "max_contiguous": Row(lambda f, x: f(x, 1), lambda x: x, [I]),
    "max_constancy": Row(lambda f, x: f(x, 1), lambda x: x, [I]),
    "expect_zero": Row(lambda f, x: f(x, x > 0), lambda x: np.where(x > 0, x, 0), [X]),
    "map_elementwise": Row(
        lambda f, x: f(lambda v: tl.where(v > 2, v * v, -v), x),
        lambda x: np.where(x > 2, x * x, -x),
        [I],
    ),
    "inline_asm_elementwise": Row(
        lambda f, x: f("lop3.b32 $0, $1, 0xF, 0, 0xC0;", "=r,r", [x], tl.int32, True, 1),
        lambda x: x & 0xF,
        [I],
    ),
    "swizzle2d": Row(
        lambda f, x: f(x // 4, x % 4, 2, 4, 2),
        lambda x: (x % 2, x // 2),
        [np.arange(8, dtype=np.int32)],
    ),
}

SHAPES: dict[str, Shown] = {
    "arange": Row(lambda f, x: f(2, 10) + x, lambda x: np.arange(2, 10, dtype="i4") + x, [I]),
    "full": Row(lambda f, x: f([8], 3, tl.int32) + x, lambda x: 3 + x, [I]),
    "zeros": Row(lambda f, x: f((8,), tl.int32) + x, lambda x: x, [I]),
    "zeros_like": Row(lambda f, x: f(x) + x, lambda x: x, [I]),
    "broadcast": Row(
        lambda f, x: f(x, x[:, None])[1], lambda x: np.repeat(x, 8).reshape(8, 8), [I]
    ),
    "broadcast_to": Row(lambda f, x: f(x, 3, 8), lambda x: np.tile(x, (3, 1)), [I]),
    "expand_dims": Row(lambda f, x: f(x, 1), lambda x: x[:, None], [I]),
    "unsqueeze": Row(lambda f, x: f(x, 1), lambda x: x[:, None], [I]),
    "squeeze": Row(lambda f, x: f(x[:, None], 1), lambda x: x, [I]),
    "reshape": Row(lambda f, x: f(x, (3, 2)), lambda x: x.reshape(3, 2), [M]),
    "view": Row(lambda f, x: f(x, 3, 2), lambda x: x.reshape(3, 2), [M]),
    "ravel": one(np.ravel, M),
    "trans": one(np.transpose, M),
    "permute": Row(lambda f, x: f(x, (1, 0)), np.transpose, [M]),
    "tensor.T": Row(lambda f, x: x.T, np.transpose, [M]),
    "tensor.item": Row(lambda f, x: f(x), lambda x: np.int32(x[0]), [I[:1]]),
    "join": one(lambda x, y: np.stack([x, y], -1), X, Y),
    "interleave": one(lambda x, y: np.stack([x, y], -1).ravel(), X, Y),
    "split": Row(lambda f, x: f(tl.reshape(x, (4, 2))), lambda x: (x[::2], x[1::2]), [X]),
    "cat": one(lambda x, y: np.concatenate([x, y]), X, Y),
    "flip": one(np.flip, X),
    "gather": Row(lambda f, x, i: f(x, i & 7, 0), lambda x, i: x[i & 7], [X, I]),
}

ALONG: dict[str, Shown] = {
    "sum": Row(lambda f, x: f(x, 0), int32(lambda x: x.sum(0)), [I]),
    "max": Row(lambda f, x: f(x, 0), int32(lambda x: x.max(0)), [I]),
    "min": Row(lambda f, x: f(x, 0), int32(lambda x: x.min(0)), [I]),
    "argmax": Row(lambda f, x: f(x, 0), int32(lambda x: x.argmax(0)), [X]),
    "argmin": Row(lambda f, x: f(x, 0), int32(lambda x: x.argmin(0)), [I]),
    "xor_sum": Row(lambda f, x: f(x, 0), int32(np.bitwise_xor.reduce), [I]),
    "reduce_or": Row(lambda f, x: f(x, 0), int32(np.bitwise_or.reduce), [I]),
    "reduce": Row(lambda f, x: f(x, 0, lambda a, b: a * b), int32(np.multiply.reduce), [I]),
    "associative_scan": Row(
        lambda f, x: f(x, 0, lambda a, b: a * b), int32(np.multiply.accumulate), [I]
    ),
    "cumsum": Row(lambda f, x: f(x, 0), int32(np.cumsum), [I]),
    "cumprod": Row(lambda f, x: f(x, 0), int32(np.cumprod), [I]),
    "softmax": one(softmax, X, rtol=CLOSE),
    "sort": one(np.sort, I),
    "standard.sort_impl": Row(lambda f, x: f(x, 3), lambda x: np.sort(x)[:3], [I]),
    "topk": Row(lambda f, x: f(x, 3), lambda x: np.sort(x)[:-4:-1], [I]),
    "bitonic_merge": one(np.sort, np.array([1, 4, 6, 9, 8, 3, 2, 0], np.int32)),
    "histogram": Row(lambda f, x: f(x, 10), int32(histogram), [I]),
    "dot": one(lambda x, y: x @ y, SQUARE, SQUARE),
    "dot_scaled": Row(
        lambda f, x, s: f(x, s, "bf16", x.T, None, "bf16"),
        lambda x, s: x.astype("f4") * np.exp2(s[:, :1].astype("f4") - 127) @ x.astype("f4").T,
        [SMALL, np.array([[127], [129]], np.uint8)],
    ),
}


# -- Philox, in Python's ints


def philox_words(seed: int, counter: tuple[int, int, int, int]) -> list[int]:
    """Ten rounds (Salmon et al., SC 2011)."""
    c, key = list(counter), [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            second >> 32 ^ c[1] ^ key[0],
            second & 0xFFFFFFFF,
            first >> 32 ^ c[3] ^ key[1],
            first & 0xFFFFFFFF,
        ]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, (0x9E3779B9, 0xBB67AE85))]
    return c


SEED = 2**33 + 7
OFFSETS = np.arange(8, dtype=np.int32)


def words(offsets: Any) -> list[Any]:
    made = [philox_words(SEED, (int(o), 0, 0, 0)) for o in offsets]
    return [np.array(column, np.uint32) for column in zip(*made)]


def uniform(x: Any) -> Any:
    signed = x.view(np.int32).astype(np.int64)
    whole = np.where(signed < 0, -signed - 1, signed).astype(np.float32)
    return whole * np.float32(4.6566127342e-10)


def normal(u: Any, v: Any) -> tuple[Any, Any]:
    radius = np.sqrt(-2 * np.log(np.maximum(1e-7, u.astype(np.float64))))
    angle = 2 * np.pi * v.astype(np.float64)
    return (radius * np.cos(angle)).astype("f4"), (radius * np.sin(angle)).astype("f4")


def normals(offsets: Any) -> list[Any]:
    a, b, c, d = map(uniform, words(offsets))
    return [*normal(a, b), *normal(c, d)]


def seeded(reference: Any, rtol: float = 0.0, atol: float = 0.0) -> Row:
    return Row(lambda f, o: f(SEED, o), reference, [OFFSETS], rtol, atol)


def philox_body(f: Any, o: Any) -> Any:
    return f(SEED, o, o * 0, o * 0, o * 0)


def philox_impl_body(f: Any, o: Any) -> Any:
    zero = o.to(tl.uint32) * 0
    return f(o.to(tl.uint32), zero, zero, zero, zero + (SEED & 0xFFFFFFFF), zero + (SEED >> 32))


RANDOM: dict[str, Shown] = {
    "philox": Row(philox_body, words, [OFFSETS]),
    "philox_impl": Row(philox_impl_body, words, [OFFSETS]),
    "randint": seeded(lambda o: words(o)[0]),
    "randint4x": seeded(words),
    "rand": seeded(lambda o: uniform(words(o)[0])),
    "rand4x": seeded(lambda o: [uniform(w) for w in words(o)]),
    "randn": seeded(lambda o: normals(o)[0], 1e-4, 1e-5),
    "randn4x": seeded(normals, 1e-4, 1e-5),
    "uint_to_uniform_float": one(uniform, U * np.uint32(0x12345678)),
    "pair_uniform_to_normal": one(normal, P / 10, P / 9, rtol=1e-4, atol=1e-5),
}

ON_BLOCKS = {**ELEMENTWISE, **SHAPES, **ALONG, **RANDOM}
