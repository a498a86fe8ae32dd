"""The CUDA of a product of matrices is short, and docs/cuda.md quotes it as it is."""

from __future__ import annotations

import re
from pathlib import Path

import mytriton.language as tl
from mytriton.targets.cuda import generate
from tests.support.cuda import compile_everywhere, traced

PAGE = Path(__file__).parents[2] / "docs" / "cuda.md"
KNOWN = frozenset(("a", "b", "c", "M", "N", "K"))


def matmul(
    a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


def source():
    function = traced(
        matmul, a="*f16", b="*f16", c="*f32", M="i32", N="i32", K="i32",
        BLOCK_M=64, BLOCK_N=64, BLOCK_K=32,
    )  # fmt: skip
    return generate(function, num_warps=4, aligned=KNOWN, comments=True)


def test_the_text(expected):
    made = source()
    expected("cuda_matmul.cu", made.kernel)
    assert len(made.kernel.splitlines()) < 250
    compile_everywhere(made)


def test_the_page_quotes_it():
    quotes = re.findall(r"```cuda\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = {line.strip() for line in source().kernel.splitlines()}
    assert quotes
    for quote in quotes:
        for line in quote.splitlines():
            assert line.strip() in lines | {"…", ""}, line
