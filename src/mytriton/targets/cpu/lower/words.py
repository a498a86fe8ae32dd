"""The processor's instructions that multiply several narrow numbers of a 32-bit word at once, and
which products they are for."""

from __future__ import annotations

from dataclasses import dataclass

from ....ir.types import BF16, F32, I8, I32, Element
from ..host import Host


@dataclass(frozen=True)
class Words:
    """One such instruction: the processor's feature, the types, the numbers in a word, LLVM's
    intrinsic without its width in bits."""

    feature: str
    unless: str
    """A feature with which the instruction is slower than fma: processors with tiles have half as
    many units for it."""
    element: Element
    result: Element
    count: int
    intrinsic: str
    held: str
    """The LLVM type that an operand's buffer holds a number in."""
    passed: str
    """The LLVM type that the intrinsic takes; words themselves for `i32`."""
    tile_feature: str
    tile_intrinsic: str
    """The same of tiles, of the processor's matrix unit."""


INSTRUCTIONS = (
    Words(
        feature="avx512bf16",
        unless="amx-bf16",
        element=BF16,
        result=F32,
        count=2,
        intrinsic="llvm.x86.avx512bf16.dpbf16ps",
        held="i32",
        passed="bfloat",
        tile_feature="amx-bf16",
        tile_intrinsic="tdpbf16ps",
    ),
    Words(
        feature="avx512vnni",
        unless="",
        element=I8,
        result=I32,
        count=4,
        intrinsic="llvm.x86.avx512.vpdpbusd",
        held="i8",
        passed="i32",
        tile_feature="amx-int8",
        tile_intrinsic="tdpbssd",
    ),
)
LANES = (16, 8, 4)
TILE = 16
"""Rows of a tile, and words in a row."""


def words_for(
    left: Element, right: Element, result: Element, shape: tuple[int, int, int], host: Host
) -> tuple[Words, bool] | None:
    """The instruction for a product of these element types with M, N, K = `shape`, and whether it
    is that of tiles; None where there is none."""
    for words in INSTRUCTIONS:
        if (words.element, words.element, words.result) != (left, right, result):
            continue
        m, n, k = shape
        whole = m % TILE == 0 and n % TILE == 0 and k % (TILE * words.count) == 0
        if whole and host.tiles and host.has(words.tile_feature):
            return words, True
        fits = k % words.count == 0 and n % LANES[-1] == 0
        if fits and host.has(words.feature) and not host.has(words.unless):
            return words, False
    return None
