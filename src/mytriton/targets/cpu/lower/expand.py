"""Rewrites a function so that every op left has a direct form in LLVM.

One idea: what can be said in other ops is said in other ops, through the one `Builder`, so that
sharing and hoisting apply: rows without an instruction become their expansions, a block assert
becomes a reduction and a scalar one, an element-wise function without control flow is inlined.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from ....elementary.term import IrTerm
from ....ir.build import Builder, using
from ....ir.nodes import Const, Function, Op, Operand, Param, Region
from ....ir.ops import RegionKind
from ....ir.types import (
    BF16,
    BOOL,
    F32,
    F64,
    I32,
    PointerType,
    ScalarType,
    compute_type,
    element_of,
    shape_of,
)
from ....passes.axis_info import AxisAnalysis, axis_info
from ..host import host
from ..operands import scalar_at, shape_at
from ..rows import has_instruction
from .induction import Moved, find
from .words import words_for

Map = dict[Any, Operand]
LOOPS = {"for": 3, "while": 0}
"""The loops, and how many operands come before the carried values (of a `for`, one param does)."""


class Expander:
    """Rebuilds a function op by op; `known` maps old values to new ones."""

    def __init__(self, original: Function) -> None:
        self.original = original
        self.builder = Builder(where=())
        self.known: Map = {}

    @cached_property
    def axis_info(self) -> AxisAnalysis:
        """What is known of the original's values, for the few functions that ask."""
        return axis_info(self.original)

    def function(self, function: Function) -> Function:
        with using(self.builder):
            for param in function.params:
                self.known[param] = param
            self.ops(function.body)
            return self.builder.function(function.name, function.params)

    def ops(self, region: Region) -> None:
        for op in region.ops[:-1]:
            self.builder.where = op.where
            results = self.op(op)
            self.known.update(zip(op.results, results, strict=True))

    def get(self, operand: Operand) -> Operand:
        return operand if operand is None or isinstance(operand, Const) else self.known[operand]

    def op(self, op: Op) -> tuple[Operand, ...]:
        operands = [self.get(operand) for operand in op.operands]
        special = SPECIAL.get(op.name)
        if special is not None:
            found = special(self, op, operands)
            if found is not None:
                return found
        if op.name in LOOPS:
            return self.loop(op, LOOPS[op.name])
        row = op.row.element
        if row is not None and row.expand is not None:
            element = scalar_at(op, 0)
            if not has_instruction(row, element):
                return (expansion(row.expand, element, operands),)
        regions = self.regions(op)
        self.builder.where = op.where
        return self.builder.emit(op.name, operands, dict(op.attrs), regions)

    def loop(self, op: Op, first: int) -> tuple[Operand, ...]:
        """A loop, without the blocks among its carried values that only move (`induction`)."""
        moved = find(op, op.regions[-1].params[first // 3 :], op.regions[-1])
        starts = [self.get(operand) for operand in op.operands[first:]]
        carried = list(starts)
        for number, move in moved.items():
            carried[number] = Const(0, move.total)
        regions = tuple(
            self.loop_region(region, first // 3, starts, moved, region is op.regions[-1])
            for region in op.regions
        )
        bounds = [self.get(operand) for operand in op.operands[:first]]
        self.builder.where = op.where
        results = self.builder.emit(op.name, [*bounds, *carried], dict(op.attrs), regions)
        return tuple(
            self.at(starts[number], result) if number in moved else result
            for number, result in enumerate(results)
        )

    def at(self, start: Operand, moved: Operand) -> Operand:
        """A block that has moved."""
        assert start is not None
        name = "addptr" if isinstance(element_of(start.ty), PointerType) else "add"
        return self.builder.emit(name, [start, moved])[0]

    def loop_region(
        self,
        region: Region,
        skipped: int,
        starts: list[Operand],
        moved: dict[int, Moved],
        body: bool,
    ) -> Region:
        """One region of a loop; the body ends by moving what moves."""
        params = [
            Param(param.name, moved[number - skipped].total)
            if number - skipped in moved
            else Param(param.name, param.ty)
            for number, param in enumerate(region.params)
        ]

        def inside(*_: Param) -> list[Operand]:
            for number, (old, new) in enumerate(zip(region.params, params, strict=True)):
                start = number - skipped
                self.known[old] = self.at(starts[start], new) if start in moved else new
            self.ops(region)
            results = [self.get(result) for result in region.results]
            if body:
                for number, move in moved.items():
                    results[number] = self.sum(params[number + skipped], move)
            return results

        return self.builder.region(RegionKind.LOOP, params, inside)

    def sum(self, start: Operand, move: Moved) -> Operand:
        total = IrTerm(start)
        for step in move.steps:
            total = total + IrTerm(self.get(step)).to(move.total)
        return total.value

    def regions(self, op: Op) -> tuple[Region, ...]:
        return tuple(self.region(RegionKind.BRANCH, region) for region in op.regions)

    def region(self, kind: RegionKind, region: Region) -> Region:
        params = [Param(param.name, param.ty) for param in region.params]
        self.known.update(zip(region.params, params, strict=True))

        def body(*_: Param) -> list[Operand]:
            self.ops(region)
            return [self.get(result) for result in region.results]

        return self.builder.region(kind, params, body)


def expansion(expand: Callable[..., Any], element: Any, operands: list[Operand]) -> Operand:
    """The row's meaning in other rows; a small float is computed in f32 and rounded once."""
    forms = [IrTerm(operand) for operand in operands]
    wide = compute_type(element) if isinstance(element, ScalarType) else element
    if wide is not element:
        forms = [form.to(wide) for form in forms]
    result: IrTerm = expand(*forms)
    if wide is not element and result.element == F32:
        result = result.to(element)
    return result.value


def _assert(expander: Expander, op: Op, operands: list[Operand]) -> tuple[Operand, ...] | None:
    """Of a block: whether any element fails, then a scalar assert."""
    condition, mask = operands[0], operands[1] if len(operands) > 1 else None
    assert condition is not None
    if not shape_of(condition.ty) and mask is None:
        return None
    bad = IrTerm(condition) ^ True
    if mask is not None:
        bad = bad & IrTerm(mask)
    while shape_of(bad.ty):
        axis = len(shape_of(bad.ty)) - 1
        bad = IrTerm(expander.builder.emit("reduce", [bad.value], {"axis": axis}, (_any(),))[0])
    fine = bad ^ True
    return expander.builder.emit("assert", [fine.value, None], dict(op.attrs))


def _any() -> Region:
    """The region of a reduction with `or`."""
    builder = Builder(where=())
    params = [Param("a", BOOL), Param("b", BOOL)]
    with using(builder):
        return builder.region(RegionKind.BRANCH, params, lambda a, b: builder.emit("or", [a, b]))


def _map(expander: Expander, op: Op, operands: list[Operand]) -> tuple[Operand, ...] | None:
    """A function without control flow is its ops on blocks."""
    region = op.regions[0]
    plain = all(not inner.regions and _pure(inner) for inner in region.ops[:-1])
    if not plain:
        return None
    shape = shape_of(op.types[0])
    expander.known.update(zip(region.params, operands, strict=True))
    expander.ops(region)
    return tuple(_stretched(expander, expander.get(result), shape) for result in region.results)


def _pure(op: Op) -> bool:
    return op.row.element is not None or op.name in ("cast", "select", "bitcast")


def _stretched(expander: Expander, value: Operand, shape: tuple[int, ...]) -> Operand:
    assert value is not None
    if shape_of(value.ty) == shape:
        return value
    return expander.builder.emit("broadcast", [value], {"shape": shape})[0]


def _tf32(value: IrTerm) -> IrTerm:
    """The nearest number of 10 mantissa bits, ties to even."""
    bits = value.bits(I32)
    rounded = (bits + ((bits >> 13) & 1) + 0xFFF) & -0x2000
    return value.ne(value).where(value, rounded.bits(F32))


def _bf16(value: IrTerm) -> IrTerm:
    return value.to(BF16).to(F32)


PARTS: dict[str, tuple[Callable[[IrTerm], IrTerm], int]] = {
    "tf32": (_tf32, 1),
    "tf32x3": (_tf32, 2),
    "bf16x3": (_bf16, 2),
    "bf16x6": (_bf16, 3),
}
"""How a precision cuts an f32 operand, and into how many parts; part i of the left operand meets
part j of the right where i + j is less than that number.
"""


def _cut(value: IrTerm, part: Callable[[IrTerm], IrTerm], count: int) -> list[IrTerm]:
    parts: list[IrTerm] = []
    for _ in range(count):
        parts.append(part(value))
        finite = parts[-1].abs() < float("inf")
        value = finite.where(value - parts[-1], 0.0)
    return parts


def _dot(expander: Expander, op: Op, operands: list[Operand]) -> tuple[Operand, ...] | None:
    """Operands and accumulator in the type that the product is computed in."""
    left, right, acc = (IrTerm(operand) for operand in operands)
    element, target = left.element, acc.element
    extents = shape_at(op, 1)[-2:]
    if words_for(element, right.element, target, (extents[0], extents[1]), host()) is not None:
        return None
    precision = op.attribute("precision")
    real = F64 if F64 in (element, target) else F32
    wide = real if element.kind == "f" else target
    if element == F32 and wide == F32 and precision in PARTS:
        part, count = PARTS[precision]
        lefts, rights = _cut(left, part, count), _cut(right, part, count)
        pairs = [(lefts[i], rights[j]) for i in range(count) for j in range(count - i)]
    else:
        pairs = [(left.to(wide), right.to(wide))]
    total = acc.to(wide)
    for one, two in reversed(pairs):
        values = [one.value, two.value, total.value]
        total = IrTerm(expander.builder.emit("dot", values, {"precision": "ieee"})[0])
    return (total.to(target).value,)


def _gather(expander: Expander, op: Op, operands: list[Operand]) -> tuple[Operand, ...] | None:
    """An index outside the block takes the nearest element instead: nothing else is read."""
    source, index = op.operands
    assert source is not None
    assert index is not None
    ends, last = expander.axis_info.of(index).bounded(), shape_of(source.ty)[op.attrs["axis"]] - 1
    element = element_of(index.ty)
    assert isinstance(element, ScalarType)
    if ends is not None and ends[0] >= 0 and ends[1] <= last:
        return None
    inside = IrTerm(operands[1]).maximum(0).minimum(min(last, element.max_int))
    return expander.builder.emit("gather", [operands[0], inside.value], dict(op.attrs))


SPECIAL: dict[str, Callable[[Expander, Op, list[Operand]], tuple[Operand, ...] | None]] = {
    "assert": _assert,
    "dot": _dot,
    "gather": _gather,
    "map": _map,
}


def expand(function: Function) -> Function:
    """The function in ops that LLVM has."""
    return Expander(function).function(function)
