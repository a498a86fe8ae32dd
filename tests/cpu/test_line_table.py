"""Machine code says which line of the LLVM text each instruction came from, and so which kernel
line."""

from __future__ import annotations

import mytriton as triton
import mytriton.language as tl
from mytriton.frontend.signature import Constexpr
from mytriton.ir.types import F32, I32, PointerType
from mytriton.runtime.compile import Compilation
from mytriton.targets.cpu.host import host
from mytriton.targets.cpu.line_table import located


@triton.jit
def squared(x):
    return x * x


@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    for _ in range(n):
        value = squared(value) + 1.0
    tl.store(out + i, tl.exp(value) / tl.sum(value), mask=i < n)


def made() -> Compilation:
    pointer = PointerType(F32)
    types = {"x": pointer, "out": pointer, "n": I32, "BLOCK": Constexpr(256)}
    return Compilation(kernel.fn, types)


def instructions(lines: list[str]) -> list[str]:
    return [line for line in lines if line[:1].isspace() and line.strip()[0] not in ".#"]


def test_the_code_is_the_same_with_a_line_table():
    compilation = made()
    rows = located(compilation.text("llvm"), host())
    plain = instructions(compilation.text("asm").splitlines())
    assert instructions([line for line, _ in rows]) == plain
    assert all(".loc" not in line and ".debug" not in line for line, _ in rows)


def test_instructions_lead_to_the_kernel_line():
    compilation = made()
    source = compilation.executable("cpu").source
    text = source.text.splitlines()
    assert len(text) == len(source.places)
    first = kernel.fn.__code__.co_firstlineno
    loads, products = set(), set()
    for _, number in located(source.text, host()):
        where = source.places[number - 1] if number else ()
        if number and "masked.load" in text[number - 1]:
            loads.add(where[0].line - first)
        if number and "fmul" in text[number - 1] and len(where) == 2:
            products.add((where[0].function, where[1].line - first))
    assert loads == {3}
    assert products == {("squared", 5)}
