"""Rewrites a function so that every op left has a direct form in LLVM.

An op without an instruction is rewritten in other ops, through the one `Builder`, so that
sharing and hoisting apply: rows without an instruction become their expansions, a block assert
becomes a reduction and a scalar one, an element-wise function without control flow is inlined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ....elementary.term import IrTerm
from ....ir.build import Builder, using
from ....ir.nodes import Const, Function, Op, Operand, Param, Region, walk
from ....ir.ops import RegionKind
from ....ir.recursion import Walk
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
from ....passes import loop_values
from ....passes.axis_info import AxisAnalysis, axis_info
from ....passes.checks.shrink import shrink_checks
from ....passes.rebuild import Rebuild, Results
from ..host import host
from ..operands import scalar_at, shape_at
from ..rows import has_instruction
from .induction import Moved, find
from .words import words_for

Special = Callable[["Expander", Op, tuple[Operand, ...]], Results]


class Expander(Rebuild):
    """A rebuild of a function in the ops that LLVM has."""

    def __init__(self, original: Function) -> None:
        super().__init__({})
        self.original = original

    @cached_property
    def axis_info(self) -> AxisAnalysis:
        """What is known of the original's values, for the few functions that ask."""
        return axis_info(self.original)

    def op(self, op: Op) -> Sequence[Operand]:
        operands = self.operands(op)
        special = SPECIAL.get(op.name)
        results = special(self, op, operands) if special else None
        if results is not None:
            return results
        row = op.row.element
        if row is not None and row.expand is not None:
            element = scalar_at(op, 0)
            if not has_instruction(row, element):
                return (expansion(row.expand, element, operands),)
        return self.keep(op, operands)

    def with_regions(self, op: Op) -> Walk[Sequence[Operand]]:
        moved = find(op)
        results: Sequence[Operand]
        if moved:
            results = yield self.loop(op, moved)
        elif op.name == "map" and all(map(_is_pure, op.regions[0].ops[:-1])):
            results = yield self.inline(op.regions[0], self.operands(op))
            results = [_stretched(self, value, shape_of(op.types[0])) for value in results]
        else:
            results = yield self.keep_regions(op, self.operands(op))
        return results

    def loop(self, op: Op, moved: Mapping[int, Moved]) -> Walk[Sequence[Operand]]:
        """A loop, without the blocks among its carried values that only move (`induction`)."""
        starts = {k: self.operand(loop_values.init(op, k)) for k in moved}
        operands, first = list(self.operands(op)), len(op.operands) - len(op.types)
        for k, move in moved.items():
            operands[first + k] = Const(0, move.total)
        regions = []
        for region in op.regions:
            regions.append((yield self.loop_region(op, region, starts, moved)))
        self.builder.where = op.where
        results = self.builder.make(op.row, operands, op.attrs, tuple(regions))
        return [self.at(starts[k], v) if k in moved else v for k, v in enumerate(results)]

    def at(self, start: Operand, moved: Operand) -> Operand:
        """A block that has moved."""
        assert start is not None
        name = "addptr" if isinstance(element_of(start.ty), PointerType) else "add"
        return self.builder.emit(name, [start, moved])[0]

    def loop_region(
        self, op: Op, region: Region, starts: Mapping[int, Operand], moved: Mapping[int, Moved]
    ) -> Walk[Region]:
        """One region of a loop; the body ends by moving what moves."""
        params, fixed = list(region.params), len(region.params) - len(op.types)
        for k, move in moved.items():
            params[fixed + k] = Param(params[fixed + k].name, move.total)
        self.builder.open(op.row.region_kind, params)
        for k, start in starts.items():
            self.new[region.params[fixed + k]] = self.at(start, params[fixed + k])
        yield self.ops(region)
        results = [self.operand(result) for result in region.results]
        if region is op.regions[-1]:
            for k, move in moved.items():
                results[k] = self.sum(params[fixed + k], move)
        return self.builder.close(results)

    def sum(self, start: Operand, move: Moved) -> Operand:
        total = IrTerm(start)
        for step in move.steps:
            total = total + IrTerm(self.operand(step)).to(move.total)
        return total.value


def expansion(expand: Callable[..., Any], element: Any, operands: Sequence[Operand]) -> Operand:
    """The row's meaning in other rows; a small float is computed in f32 and rounded once."""
    forms = [IrTerm(operand) for operand in operands]
    wide = compute_type(element) if isinstance(element, ScalarType) else element
    if wide is not element:
        forms = [form.to(wide) for form in forms]
    result: IrTerm = expand(*forms)
    if wide is not element and result.element == F32:
        result = result.to(element)
    return result.value


def _assert(expander: Expander, op: Op, operands: tuple[Operand, ...]) -> Results:
    """Of a block: whether any element fails, then a scalar assert."""
    condition, mask = operands
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


def _is_pure(op: Op) -> bool:
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


def _dot(expander: Expander, op: Op, operands: tuple[Operand, ...]) -> Results:
    """Operands and accumulator in the type that the product is computed in."""
    left, right, acc = (IrTerm(operand) for operand in operands)
    element, target = left.element, acc.element
    m, k, n = *shape_at(op, 0)[-2:], shape_at(op, 1)[-1]
    if words_for(element, right.element, target, (m, n, k), host()) is not None:
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


def _gather(expander: Expander, op: Op, operands: tuple[Operand, ...]) -> Results:
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


SPECIAL: dict[str, Special] = {
    "assert": _assert,
    "dot": _dot,
    "gather": _gather,
}


def expand(function: Function) -> Function:
    """The function in ops that LLVM has."""
    expanded = Expander(function).function(function)
    if any(op.name == "check_access" for op in walk(function.body)):
        expanded = shrink_checks(expanded)
        return Expander(expanded).function(expanded)
    return expanded
