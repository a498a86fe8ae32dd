"""Products of narrow numbers: several neighbours along K in one 32-bit word, one instruction each.

An instruction such as `vdpbf16ps` multiplies the two bf16 of each word by those of another word and
adds both products to an f32; `vpdpbusd` does so with four bytes and an i32. So the operands are
packed before the product: words of the left operand run along its rows, words of the right one hold
neighbours of a column, and the micro-kernel is that of 32-bit numbers with K as many times shorter.

    right   k=0: a b c d          words   k=0,1: (a,e) (b,f) (c,g) (d,h)
            k=1: e f g h

`vpdpbusd` takes its first operand as unsigned: 128 is added to it, and 128 times the sum of the
column of the other is taken off the accumulator. (Intel 64 Software Developer's Manual, volume 2.)
"""

from __future__ import annotations

from collections.abc import Callable

from . import access, affine
from .code import Code, Reg, const, power_of_two_in
from .loops import stitch
from .lower.words import LANES, Words
from .nest import Home, Nest
from .segments import Stitch
from .types import SIZES, full


def loop_to(nest: Nest, end: Reg, step: int, body: Callable[[Reg], None]) -> None:
    """A loop from 0 to an end."""
    header, name = nest.writer.names.fresh("tiles"), nest.writer.names.fresh("t")
    nest.codes.append(Code(header))
    body(Reg(f"%{name}", "i64", 0, len(nest.codes) - 1))
    code = nest.codes.pop()
    loop = Stitch(header, name, code, const("i64", 0), end, step)
    stitch(nest.writer, nest.codes[-1], loop, [])


def counted_loop(
    nest: Nest, start: int, count: int, step: int, body: Callable[[Reg], None]
) -> None:
    """A loop of so many turns; one turn needs none."""
    if count == 1:
        body(const("i64", start))
        return
    header, name = nest.writer.names.fresh("tiles"), nest.writer.names.fresh("t")
    nest.codes.append(Code(header))
    body(Reg(f"%{name}", "i64", 0, len(nest.codes) - 1))
    code = nest.codes.pop()
    end = const("i64", start + count * step)
    loop = Stitch(header, name, code, const("i64", start), end, step)
    stitch(nest.writer, nest.codes[-1], loop, [])


def read(nest: Nest, base: Reg, place: Reg, type_: str, lanes: int) -> Reg:
    """A vector at a place, counted in elements."""
    at = access.at(nest, base, place, type_)
    text = f"load {full(type_, lanes)}, {at.typed}, align {SIZES[type_]}"
    return nest.put(len(nest.codes) - 1, "part", text, type_, lanes)


def write(nest: Nest, base: Reg, place: Reg, value: Reg) -> None:
    at = access.at(nest, base, place, value.type)
    nest.codes[-1].add(f"store {value.typed}, {at.typed}, align {SIZES[value.type]}")


def splat(type_: str, value: int, lanes: int) -> Reg:
    return Reg(f"splat ({type_} {value})", type_, lanes)


def multiply_add(nest: Nest, words: Words, left: Reg, right: Reg, old: Reg) -> Reg:
    """`old` plus the products of the numbers in each word."""
    lanes, level = old.lanes, len(nest.codes) - 1
    passed = f"<{lanes * 4 // 2} x bfloat>" if words.passed == "bfloat" else f"<{lanes} x i32>"
    given = []
    for operand in (left, right):
        if words.passed == "bfloat":
            text = f"bitcast {operand.typed} to {passed}"
            operand = nest.put(max(operand.level, 0), "pair", text, "bfloat", 2 * lanes)
        given.append(operand)
    name = nest.writer.module.intrinsic(
        f"{words.intrinsic}.{32 * lanes}", old.full, [old.full, passed, passed]
    )
    arguments = ", ".join(reg.typed for reg in (old, *given))
    return nest.put(level, "sum", f"call {old.full} @{name}({arguments})", old.type, lanes)


def pack_left(
    nest: Nest, words: Words, source: Home, packed: Home, size: int, unsigned: bool
) -> None:
    """`size` numbers in row-major order, each in its narrow type; bytes become unsigned ones."""
    assert unsigned or words.count == 2
    lanes = min(64 // SIZES[words.held] * (2 if words.count == 2 else 1), power_of_two_in(size))

    def part(at: Reg) -> None:
        value, level = read(nest, source.address, at, words.held, lanes), len(nest.codes) - 1
        if words.count == 2:
            value = _upper_half(nest, value)
            text = f"trunc {value.typed} to {full('i16', lanes)}"
            value = nest.put(level, "half", text, "i16", lanes)
        else:
            value = nest.inst("unsigned", "xor", [value, splat("i8", -128, lanes)])
        write(nest, packed.address, at, value)

    counted_loop(nest, 0, size // lanes, lanes, part)


def _upper_half(nest: Nest, value: Reg) -> Reg:
    """The bits of a bf16 out of those of the f32 that holds it."""
    return nest.inst("upper", "lshr", [value, splat("i32", 16, value.lanes)])


def pack_right(
    nest: Nest, words: Words, source: Home, packed: Home, correction: Reg | None, k: int, n: int
) -> None:
    """Words of the right operand's columns; what is taken off each column's accumulators of bytes,
    where there is a `correction`."""
    lanes = next(width for width in LANES if n % width == 0)
    sums = correction
    if sums is not None:

        def clear(at: Reg) -> None:
            write(nest, sums, at, nest.zero("i32", lanes))

        counted_loop(nest, 0, n // lanes, lanes, clear)

    def row(depth: Reg) -> None:
        def part(column: Reg) -> None:
            first = affine.mul_scalars(nest, depth, const("i64", words.count * n))
            first = affine.add_scalars(nest, first, column)
            word = _word(nest, words, source, first, n, lanes)
            place = affine.mul_scalars(nest, depth, const("i64", n))
            write(nest, packed.address, affine.add_scalars(nest, place, column), word)
            if sums is not None:
                old = read(nest, sums, column, "i32", lanes)
                ones = splat("i32", affine.wrap("i32", 0x80808080), lanes)
                write(nest, sums, column, multiply_add(nest, words, ones, word, old))

        counted_loop(nest, 0, n // lanes, lanes, part)

    counted_loop(nest, 0, k // words.count, 1, row)


def _word(nest: Nest, words: Words, source: Home, first: Reg, n: int, lanes: int) -> Reg:
    """The words of some columns: the numbers at `first` and in the rows below it."""
    level, total = len(nest.codes) - 1, None
    for number in range(words.count):
        place = affine.add_scalars(nest, first, const("i64", number * n))
        value = read(nest, source.address, place, words.held, lanes)
        if words.count == 2:
            upper = splat("i32", -(1 << 16), lanes)
            value = nest.inst("odd", "and", [value, upper]) if number else _upper_half(nest, value)
        else:
            text = f"zext {value.typed} to {full('i32', lanes)}"
            value = nest.put(level, "byte", text, "i32", lanes)
            value = nest.inst("byte", "shl", [value, splat("i32", 8 * number, lanes)])
        total = value if total is None else nest.inst("word", "or", [total, value])
    assert total is not None
    return total
