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


INSTRUCTIONS = (
    Words("avx512bf16", "amx-bf16", BF16, F32, 2, "llvm.x86.avx512bf16.dpbf16ps", "i32", "bfloat"),
    Words("avx512vnni", "", I8, I32, 4, "llvm.x86.avx512.vpdpbusd", "i8", "i32"),
)
LANES = (16, 8, 4)


def words_for(
    left: Element, right: Element, result: Element, shape: tuple[int, int], host: Host
) -> Words | None:
    """The instruction for a product of these element types with K, N = `shape`, if there is one."""
    k, n = shape
    for words in INSTRUCTIONS:
        types = (words.element, words.element, words.result)
        here = host.has(words.feature) and not host.has(words.unless)
        if here and types == (left, right, result):
            return words if k % words.count == 0 and n % LANES[-1] == 0 else None
    return None
