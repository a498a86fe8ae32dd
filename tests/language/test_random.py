"""Philox: published words, and Triton's numbers from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton.language as tl
from tests.support.block_functions import evaluate

MASK = 2**32 - 1


def philox(seed: int, counter: list[int], rounds: int = 10) -> list[int]:
    """Philox 4×32 in Python's ints, from the paper."""
    key = [seed & MASK, seed >> 32 & MASK]
    c = counter
    for _ in range(rounds):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ key[0], b & MASK, a >> 32 ^ c[3] ^ key[1], a & MASK]
        key = [key[0] + 0x9E3779B9 & MASK, key[1] + 0xBB67AE85 & MASK]
    return c


def test_the_papers_known_answers() -> None:
    """The Random123 distribution's test vectors."""
    assert philox(0, [0] * 4) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = philox(2**64 - 1, [MASK] * 4)
    assert ones == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    got = evaluate(lambda c: tl.philox(2**64 - 1, c, c, c, c), np.array([-1], np.int32))
    assert [int(word[0]) for word in got] == ones


@pytest.mark.parametrize("seed", [0, 42, 2**31 - 1, 2**40 + 7, -5])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_words(seed: int, dtype: Any) -> None:
    offsets = np.array([0, 1, 7, 123456], dtype)
    if offsets.itemsize == 8:
        offsets[3] = 2**35 + 3
    got = evaluate(lambda o: tl.randint4x(seed, o), offsets)
    for lane, offset in enumerate(int(o) for o in offsets):
        expected = philox(seed % 2**64, [offset & MASK, offset >> 32, 0, 0])
        assert [int(word[lane]) for word in got] == expected


def test_known_words_of_seed_42() -> None:
    words = evaluate(lambda o: tl.randint(42, o), np.array([0, 1], np.int32))
    assert words.tolist() == [2632642643, 4242219303]


def test_a_seed_tensor_is_sign_extended() -> None:
    got = evaluate(lambda s, o: tl.randint(s, o), np.int32(-5), np.array([3], np.int32))
    assert got[0] == philox(2**64 - 5, [3, 0, 0, 0])[0]


def test_uniform_numbers() -> None:
    offsets = np.arange(4096, dtype=np.int32)
    words = evaluate(lambda o: tl.randint(7, o), offsets).view(np.int32)
    folded = np.where(words < 0, -words - 1, words).astype(np.float32)
    uniform = evaluate(lambda o: tl.rand(7, o), offsets)
    assert (uniform == folded * np.float32(4.6566127342e-10)).all()
    assert uniform.min() >= 0 and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02
    four = evaluate(lambda o: tl.rand4x(7, o), offsets)
    assert (four[0] == uniform).all() and not (four[1] == uniform).any()


def test_normal_numbers() -> None:
    offsets = np.arange(4096, dtype=np.int32)
    u1, u2, *_ = evaluate(lambda o: tl.rand4x(3, o), offsets)
    radius = np.sqrt(-2 * np.log(np.maximum(np.float32(1e-7), u1).astype(np.float64)))
    normal = evaluate(lambda o: tl.randn(3, o), offsets)
    np.testing.assert_allclose(normal, radius * np.cos(2 * np.pi * u2), atol=2e-6)
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
    four = evaluate(lambda o: tl.randn4x(3, o), offsets)
    np.testing.assert_allclose(four[1], radius * np.sin(2 * np.pi * u2), atol=2e-6)


def test_wide_counters_give_wide_words() -> None:
    got = evaluate(lambda c: tl.philox(1, c, c, c, c), np.array([0], np.uint64))
    assert got[0].dtype == np.uint64
    uniform = evaluate(
        lambda x: tl.uint_to_uniform_float(x), np.array([2**64 - 1, 2**63], np.uint64)
    )
    assert uniform.dtype == np.float32 and uniform[0] == 0 and 0.99 < uniform[1] < 1
