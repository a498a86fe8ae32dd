"""Sorting and counting, a row at a time.

A key of any type becomes an unsigned int that orders as the type does (minus zero is zero, NaN is
last). With its position behind it no two are equal, so every sort is stable: of keys up to 32 bits
a network of vectors (`sort_network`), of longer ones a merge sort of (key, position) pairs. The
operands are then picked by position.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...ir.nodes import Op
from ...ir.types import ScalarType, shape_of
from . import access, affine
from .code import Code, Reg, const
from .folds import Axis, Work, homes_of, offset, run_along, split_at
from .loops import stitch
from .lowering import Index
from .nest import Form, Home, Nest, Run
from .operands import named, scalar_at, shape_at
from .region import FunctionEmitter
from .schedule.plan import Root
from .segments import Stitch
from .sort_network import network
from .types import arena

SORT = """define internal void @sort_pairs(ptr %keys, ptr %spare, i64 %n) noinline {
entry:
  br label %widths
widths:
  %width = phi i64 [ 1, %entry ], [ %width.next, %merged ]
  %from = phi ptr [ %keys, %entry ], [ %to, %merged ]
  %to = phi ptr [ %spare, %entry ], [ %from, %merged ]
  %again = icmp ult i64 %width, %n
  br i1 %again, label %runs, label %sorted
runs:
  %start = phi i64 [ 0, %widths ], [ %end, %next.run ]
  %has.run = icmp ult i64 %start, %n
  br i1 %has.run, label %run, label %merged
run:
  %half = add i64 %start, %width
  %middle = call i64 @llvm.umin.i64(i64 %half, i64 %n)
  %whole = add i64 %middle, %width
  %end = call i64 @llvm.umin.i64(i64 %whole, i64 %n)
  br label %merge
merge:
  %i = phi i64 [ %start, %run ], [ %i.next, %put ]
  %j = phi i64 [ %middle, %run ], [ %j.next, %put ]
  %k = phi i64 [ %start, %run ], [ %k.next, %put ]
  %more = icmp ult i64 %k, %end
  br i1 %more, label %choose, label %next.run
choose:
  %left = icmp ult i64 %i, %middle
  %right = icmp ult i64 %j, %end
  %i.safe = select i1 %left, i64 %i, i64 %start
  %j.safe = select i1 %right, i64 %j, i64 %start
  %i.at = getelementptr { i64, i64 }, ptr %from, i64 %i.safe
  %j.at = getelementptr { i64, i64 }, ptr %from, i64 %j.safe
  %a = load i64, ptr %i.at
  %b = load i64, ptr %j.at
  %ordered = icmp ule i64 %a, %b
  %neither = xor i1 %right, true
  %first = or i1 %ordered, %neither
  %take = and i1 %left, %first
  br label %put
put:
  %source = select i1 %take, ptr %i.at, ptr %j.at
  %target = getelementptr { i64, i64 }, ptr %to, i64 %k
  %pair = load <2 x i64>, ptr %source, align 8
  store <2 x i64> %pair, ptr %target, align 8
  %step = zext i1 %take to i64
  %other = sub i64 1, %step
  %i.next = add i64 %i, %step
  %j.next = add i64 %j, %other
  %k.next = add i64 %k, 1
  br label %merge
next.run:
  br label %runs
merged:
  %width.next = shl i64 %width, 1
  br label %widths
sorted:
  %moved = icmp ne ptr %from, %keys
  br i1 %moved, label %copy, label %done
copy:
  %bytes = shl i64 %n, 4
  call void @llvm.memcpy.p0.p0.i64(ptr %keys, ptr %from, i64 %bytes, i1 false)
  br label %done
done:
  ret void
}"""
PAIR = "{ i64, i64 }"
MOST = (1 << 32) - 1
LONGEST = 1 << 14
"""The longest row for a network, whose work grows by n log(n)**2; that of merging by n log(n)."""


def ordered_key(nest: Nest, element: ScalarType, value: Reg, descending: bool) -> Reg:
    """An i64 whose unsigned order is the element's; NaN is above all, in either direction."""
    if element.kind != "f":
        wide = value
        if value.type != "i64":
            wide = nest.convert("key", "sext" if element.kind == "i" else "zext", value, "i64")
        if element.kind == "i":
            wide = nest.inst("key", "xor", [wide, const("i64", -(1 << 63))])
        return nest.inst("key", "xor", [wide, const("i64", -1)]) if descending else wide
    zero = const(value.type, 0.0)
    nan = nest.inst("nan", "fcmp uno", [value, zero], "i1")
    value = nest.inst("value", "fadd", [value, zero])
    if descending:
        value = nest.inst("value", "fneg", [value])
        value = nest.inst("value", "fadd", [value, zero])
    bits = nest.convert("bits", "bitcast", value, "i64" if value.type == "double" else "i32")
    top = affine.bits_of(bits.type) - 1
    sign = nest.inst("sign", "ashr", [bits, const(bits.type, top)])
    flip = nest.inst("flip", "or", [sign, const(bits.type, -(1 << top))])
    key = nest.inst("key", "xor", [bits, flip])
    if key.type != "i64":
        key = nest.convert("key", "zext", key, "i64")
    return nest.select("key", nan, const("i64", -1), key)


def word_key(nest: Nest, element: ScalarType, value: Reg, descending: bool) -> Reg:
    """i64 vectors below 2**32 that order as elements of at most 32 bits do; NaN above all."""

    def every(type_: str, number: int) -> Reg:
        return nest.wide(const(type_, number))

    if element.kind != "f":
        key = nest.convert("key", "sext" if element.kind == "i" else "zext", value, "i64")
        if element.kind == "i":
            key = nest.inst("key", "add", [key, every("i64", 1 << 31)])
        return nest.inst("key", "xor", [key, every("i64", MOST)]) if descending else key
    zero = nest.wide(const("float", 0.0))
    nan = nest.inst("nan", "fcmp uno", [value, zero], "i1")
    if descending:
        value = nest.inst("value", "fneg", [value])
    value = nest.inst("value", "fadd", [value, zero])  # -0.0 is 0.0
    bits = nest.convert("bits", "bitcast", value, "i32")
    sign = nest.inst("sign", "ashr", [bits, every("i32", 31)])
    flip = nest.inst("flip", "or", [sign, every("i32", -(1 << 31))])
    key = nest.convert("key", "zext", nest.inst("key", "xor", [bits, flip]), "i64")
    return nest.select("key", nan, every("i64", MOST), key)


def _loop(nest: Nest, extent: int, body: Any) -> None:
    """A loop of scalars at the end of the innermost code."""
    header, name = nest.writer.names.fresh("each"), nest.writer.names.fresh("k")
    nest.codes.append(Code(header))
    body(Reg(f"%{name}", "i64", 0, len(nest.codes) - 1))
    code = nest.codes.pop()
    loop = Stitch(header, name, code, const("i64", 0), const("i64", extent), 1)
    stitch(nest.writer, nest.codes[-1], loop, [])


def _scalar(nest: Nest, home: Home, spot: Form) -> Reg:
    """One element of a home, in a nest of one lane."""
    assert isinstance(spot, Reg)
    lanes, nest.lanes = nest.lanes, 0
    value = access.fetch_at(nest, home, spot)
    nest.lanes = lanes
    return value


def _sort(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    """Fills the pairs, sorts them, and picks every operand by position."""
    assert isinstance(root, Work) and root.op is not None
    op, axis = root.op, root.axis_of
    homes, descending = homes_of(nest, op), bool(op.attribute("descending"))
    pairs, spare = (home.address for home in root.emitter.pairs)
    first = (nest.wide(index[0]), nest.wide(index[1]))
    where = tuple(nest.extract(part, 0) for part in first)
    key_type = homes[0].element
    assert isinstance(key_type, ScalarType)

    def fill(k: Reg) -> None:
        value = _scalar(nest, homes[0], offset(nest, axis, where, k))
        key = ordered_key(nest, key_type, value, descending)
        place = access.at(nest, pairs, k, PAIR)
        position = access.at(nest, place, const("i64", 1), "i64")
        nest.codes[-1].add(f"store {key.typed}, {place.typed}")
        nest.codes[-1].add(f"store {k.typed}, {position.typed}")

    def pick(k: Reg) -> None:
        place = access.at(nest, pairs, k, PAIR)
        position = access.at(nest, place, const("i64", 1), "i64")
        chosen = nest.put(position.level, "from", f"load i64, {position.typed}", "i64")
        for home, result in zip(homes, op.results, strict=True):
            value = _scalar(nest, home, offset(nest, axis, where, chosen))
            target = nest.places[result]
            lanes, nest.lanes = nest.lanes, 0
            spot = offset(nest, axis, where, k)
            access.keep(nest, target.address, target.element, spot, value)
            nest.lanes = lanes

    _loop(nest, axis.extent, fill)
    nest.codes[-1].add(f"call void @sort_pairs({pairs.typed}, {spare.typed}, i64 {axis.extent})")
    _loop(nest, axis.extent, pick)


def _sort_words(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    """The same where key and position fit into one word: 32 bits of each, sorted by a network."""
    assert isinstance(root, Work) and root.op is not None
    op, axis = root.op, root.axis_of
    homes, descending = homes_of(nest, op), bool(op.attribute("descending"))
    words = root.emitter.pairs[0]
    first = (nest.wide(index[0]), nest.wide(index[1]))
    where = tuple(nest.extract(part, 0) for part in first)
    key_type = homes[0].element
    assert isinstance(key_type, ScalarType)

    def fill(k: Run) -> None:
        value = access.fetch_at(nest, homes[0], offset(nest, axis, where, k))
        key = word_key(nest, key_type, nest.wide(value), descending)
        high = nest.inst("high", "shl", [key, nest.wide(const("i64", 32))])
        word = nest.inst("word", "or", [high, nest.wide(k)])
        access.keep(nest, words.address, words.element, k, word)

    def pick(k: Run) -> None:
        word = nest.wide(access.fetch_at(nest, words, k))
        chosen = nest.inst("from", "and", [word, nest.wide(const("i64", (1 << 32) - 1))])
        for home, result in zip(homes, op.results, strict=True):
            value = access.fetch_at(nest, home, offset(nest, axis, where, chosen))
            target, spot = nest.places[result], offset(nest, axis, where, k)
            access.keep(nest, target.address, target.element, spot, value)

    wide = nest.writer.host.vector_bytes // 8
    count, lanes = words.shape[0], math.gcd(axis.extent, wide)
    _vector_loop(nest, 0, axis.extent, lanes, fill)
    if axis.extent < count:
        _vector_loop(nest, axis.extent, count, 1, lambda k: access.keep(
            nest, words.address, words.element, k, const("i64", -1)
        ))  # fmt: skip
    nest.codes[-1].add(f"call void @sort_words({words.address.typed}, i64 {count})")
    _vector_loop(nest, 0, axis.extent, lanes, pick)


def _vector_loop(nest: Nest, start: int, end: int, lanes: int, body: Callable[[Run], None]) -> None:
    """A loop of vectors at the end of the innermost code, inside a nest of one lane."""
    before = nest.lanes, nest.lane, nest.lane_level, nest.inner
    header, name = nest.writer.names.fresh("each"), nest.writer.names.fresh("k")
    nest.codes.append(Code(header))
    nest.lanes, nest.lane_level, nest.inner = lanes, len(nest.codes) - 1, {}
    nest.lane = Reg(f"%{name}", "i64", 0, nest.lane_level)
    body(Run(const("i64", 0), const("i64", 1)))
    nest.lanes, nest.lane, nest.lane_level, nest.inner = before
    code = nest.codes.pop()
    loop = Stitch(header, name, code, const("i64", start), const("i64", end), lanes)
    stitch(nest.writer, nest.codes[-1], loop, [])


def _emit_merge_sort(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    module = emitter.writer.module
    module.helpers["sort_pairs"] = SORT
    module.overloaded("llvm.umin", "i64", 0, 2)
    module.intrinsic("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
    axis = split_at(shape_of(op.types[0]), op.attrs["axis"])
    element = ScalarType("i64", "int64", "i", 64)
    pairs = [emitter.new_home(element, (axis.extent, 2), "pairs") for _ in range(2)]
    emitter.pairs = (pairs[0], pairs[1])
    run_along(emitter, code, op, _sort, axis, True)


def emit_sort(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """Keys of at most 32 bits by a network, where that is not too long; others by merging."""
    for result in op.results:
        emitter.place_of(result)
    axis, key = split_at(shape_of(op.types[0]), op.attrs["axis"]), scalar_at(op, 0)
    if key.bits > 32 or axis.extent > LONGEST:
        return _emit_merge_sort(emitter, code, op)
    lanes = emitter.writer.host.vector_bytes // 8
    emitter.writer.module.helpers["sort_words"] = network(lanes)
    emitter.writer.module.overloaded("llvm.umin", "i64", lanes, 2)
    emitter.writer.module.overloaded("llvm.umax", "i64", lanes, 2)
    count = max(lanes, 1 << (axis.extent - 1).bit_length())
    words = emitter.new_home(ScalarType("i64", "int64", "i", 64), (count,), "words")
    emitter.pairs = (words, words)
    run_along(emitter, code, op, _sort_words, axis, True)


def _count(nest: Nest, root: Root, index: Index, forms: list[Any]) -> None:
    """One element: adds one to its bin, or to a place that nobody reads."""
    assert isinstance(root, Work) and root.op is not None
    op = root.op
    value_type = scalar_at(op, 0)
    homes = nest.writer.homes
    place = nest.extract(nest.wide(index[0]), 0)
    value = _scalar(nest, homes[named(op.operands[0])], place)
    number = affine.resize(nest, value, value_type.kind == "i", "i64")
    assert isinstance(number, Reg)
    counted = nest.inst("counted", "icmp ult", [number, const("i64", op.attrs["bins"])], "i1")
    if op.operands[1] is not None:
        mask = _scalar(nest, homes[named(op.operands[1])], place)
        counted = nest.inst("counted", "and", [counted, mask])
    home = nest.places[op.results[0]]
    bin_ = access.at(nest, home.address, number, arena(home.element))
    address = nest.select("bin", counted, bin_, access.dummy(nest))
    old = nest.put(address.level, "old", f"load i32, {address.typed}", "i32")
    new = nest.inst("new", "add", [old, const("i32", 1)])
    nest.codes[-1].add(f"store {new.typed}, {address.typed}")


def emit_histogram(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    home = emitter.place_of(op.results[0])
    name = emitter.writer.module.intrinsic("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"])
    size = 4 * op.attrs["bins"]
    code.add(f"call void @{name}({home.address.typed}, i8 0, i64 {size}, i1 false)")
    count = math.prod(shape_at(op, 0))
    run_along(emitter, code, op, _count, Axis(count, 1, 1), True)
