"""Every masked access at the ends of protected pages, for one machine: run as a program.

    python -m tests.cpu.masked_accesses avx512

One idea: what LLVM makes of a masked access is checked in memory, not in text. The lanes of a mask
end (or begin) at a page that may not be touched, so a byte too many ends the process, and the bytes
around them are compared. It runs in a process of its own because of that.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl
from mytriton.targets.cpu.host import made_for

from .machines import MACHINES

PAGE = mmap.PAGESIZE
FILL = 0xEE
BLOCKS = (1, 4, 9, 16, 33)
PAIRS: Sequence[tuple[Any, Any]] = (
    (np.int32, np.int8),
    (np.int16, np.uint8),
    (np.int64, np.int16),
    (np.int64, np.int32),
    (np.int32, np.bool_),
    (np.float32, ml_dtypes.bfloat16),
    (np.float32, ml_dtypes.float8_e5m2),
    (np.float32, np.float16),
    (np.float64, np.float32),
    (np.int8, np.int8),
    (np.int32, np.int32),
    (np.int64, np.int64),
    (np.float64, np.float64),
    (np.int8, np.int64),
    (np.uint16, np.int32),
    (ml_dtypes.bfloat16, np.float32),
    (np.float16, np.float64),
)
"""Element types of what is loaded and of what is stored."""


class Fenced:
    """Bytes of one page between two that may not be touched."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 3 * PAGE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) + PAGE
        libc = ctypes.CDLL(None, use_errno=True)
        for place in (self.start - PAGE, self.start + PAGE):
            assert libc.mprotect(ctypes.c_void_p(place), PAGE, 0) == 0
        self.bytes = np.frombuffer(self.memory, np.uint8, PAGE, PAGE)

    def place(self, mask: Sequence[bool], size: int, at_end: bool) -> int:
        """The address of lane 0 such that the true lanes lie at the page's end or start."""
        lanes = [i for i, on in enumerate(mask) if on] or [0]
        if at_end:
            return self.start + PAGE - size * (lanes[-1] + 1)
        return self.start - size * lanes[0]


def masks(block: int, n: int, bits: Sequence[bool]) -> list[list[bool]]:
    """What the kernels' masks are in Python, in their order."""
    lanes = range(block)
    return [
        [True for _ in lanes],
        [i < 1 for i in lanes],
        [i == block - 1 for i in lanes],
        [i == block // 2 for i in lanes],
        [i < block - 1 for i in lanes],
        [i < 0 for i in lanes],
        [i >= block // 2 for i in lanes],
        [i < n for i in lanes],
        [i == n for i in lanes],
        list(bits),
    ]


@triton.jit
def mask_of(K: tl.constexpr, n, bits, B: tl.constexpr):
    i = tl.arange(0, B)
    if K == 0:
        return i < B
    if K == 1:
        return i < 1
    if K == 2:
        return i == B - 1
    if K == 3:
        return i == B // 2
    if K == 4:
        return i < B - 1
    if K == 5:
        return i < 0
    if K == 6:
        return i >= B // 2
    if K == 7:
        return i < n
    if K == 8:
        return i == n
    return tl.load(bits + i) != 0


@triton.jit
def store_kernel(x, targets, like, n, bits, B: tl.constexpr):
    i = tl.arange(0, B)
    for K in tl.static_range(10):
        out = tl.load(targets + K).to(tl.pointer_type(like.dtype.element_ty))
        value = tl.load(x + i).to(like.dtype.element_ty)
        tl.store(out + i, value, mask=mask_of(K, n, bits, B))


@triton.jit
def load_kernel(sources, x, out, n, bits, B: tl.constexpr):
    i = tl.arange(0, B)
    for K in tl.static_range(10):
        p = tl.load(sources + K).to(tl.pointer_type(x.dtype.element_ty))
        value = tl.load(p + i, mask=mask_of(K, n, bits, B))
        tl.store(out + K * B + i, value.to(out.dtype.element_ty))


def check_stores(pair: tuple[Any, Any], block: int, pages: list[Fenced]) -> Iterator[str]:
    given, stored = map(np.dtype, pair)
    x = np.arange(3, 3 + block).astype(given)
    bits = np.arange(block) % 3 == 1
    for n in (0, 1, block - 1, block):
        wanted = masks(block, n, bits)
        for at_end in (False, True):
            places = [p.place(m, stored.itemsize, at_end) for p, m in zip(pages, wanted)]
            for page in pages:
                page.bytes[:] = FILL
            like = np.zeros(1, stored)
            store_kernel[(1,)](x, np.array(places), like, n, bits.astype(np.int32), B=block,
                               target="cpu")  # fmt: skip
            for number, (page, mask, place) in enumerate(zip(pages, wanted, places)):
                expected = np.full(PAGE, FILL, np.uint8)
                for lane in np.flatnonzero(mask):
                    start = place - page.start + lane * stored.itemsize
                    value = x[lane : lane + 1].astype(stored).view(np.uint8)
                    expected[start : start + stored.itemsize] = value
                if not np.array_equal(expected, page.bytes):
                    yield f"store {given} as {stored}, {block} lanes, mask {number}, n {n}"


def check_loads(pair: tuple[Any, Any], block: int, pages: list[Fenced]) -> Iterator[str]:
    held, made = map(np.dtype, pair)
    x = np.arange(3, 3 + block).astype(held)
    bits = np.arange(block) % 3 == 1
    for n in (0, 1, block - 1, block):
        wanted = masks(block, n, bits)
        for at_end in (False, True):
            places = [p.place(m, held.itemsize, at_end) for p, m in zip(pages, wanted)]
            for page, mask, place in zip(pages, wanted, places):
                for lane in np.flatnonzero(mask):
                    start = place - page.start + lane * held.itemsize
                    page.bytes[start : start + held.itemsize] = x[lane : lane + 1].view(np.uint8)
            out = np.full((10, block), 9).astype(made)
            load_kernel[(1,)](np.array(places), x, out, n, bits.astype(np.int32), B=block,
                              target="cpu")  # fmt: skip
            expected = np.where(wanted, x.astype(made), np.zeros(1, made))
            for number in np.flatnonzero((out != expected).any(1)):
                yield f"load {held} as {made}, {block} lanes, mask {number}, n {n}"


def main(name: str) -> None:
    """Prints what differs, then "done"."""
    pages = [Fenced() for _ in range(10)]
    with made_for(MACHINES[name]):
        for pair, block, check in product(PAIRS, BLOCKS, (check_stores, check_loads)):
            for line in check(pair, block, pages):
                print(line, flush=True)
    print("done")


if __name__ == "__main__":
    main(sys.argv[1])
