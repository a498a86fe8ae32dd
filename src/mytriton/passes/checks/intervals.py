"""The smallest and largest element of a block, as scalars that the code computes.

Interval arithmetic on the ops that made the block: an arange is its two ends, a sum the sums of the
ends, and so on; what nothing is known of is reduced. The ends are i64, and `conditions` collects
under which they are right: that no narrower int on the way wraps, that a divisor is positive, ….

    x + (pid * 256 + arange(0, 256))     low   x + 4 * (i64(pid) * 256)
                                         high  x + 4 * (i64(pid) * 256 + 255)
                                         if    i64(pid) * 256 + 255 < 2**31, …

Sums and products of i32 are right whatever wraps on the way if the final one does not, since they
are right modulo 2**32; so only what leaves i32, and factors, need a condition.
(R. E. Moore, "Interval Analysis", 1966.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...elementary.term import IrTerm
from ...ir.fold import constant
from ...ir.nodes import Const, Operand, Value
from ...ir.structural import pointee
from ...ir.types import I64, PointerType, ScalarType, element_of, shape_of
from .reductions import reduced

FAR = 1 << 48
"""Offsets past this are taken for nonsense, so that sums of i64 need no conditions."""


@dataclass(frozen=True)
class Interval:
    """The ends of a block, i64 scalars."""

    low: IrTerm
    high: IrTerm

    @property
    def is_one(self) -> bool:
        """Whether all elements are certainly equal."""
        return self.low is self.high


class Intervals:
    """The intervals of the values under one block; the ops go to the current builder."""

    def __init__(self) -> None:
        self.known: dict[Operand, Interval] = {}
        self.conditions: list[IrTerm] = []

    def of(self, operand: Operand) -> Interval:
        """The ends of an int block, or of a block of addresses in bytes."""
        if operand not in self.known:
            self.known[operand] = self._find(operand)
        return self.known[operand]

    def _find(self, operand: Operand) -> Interval:
        assert operand is not None
        if isinstance(operand, Const):
            return one(number(int(operand.value)))
        if isinstance(operand, Value) and shape_of(operand.ty):
            rule = RULES.get(operand.op.name)
            found = rule(self, operand) if rule else None
            return found or _reduced(operand)
        if isinstance(operand, Value) and operand.op.name in SCALAR:
            return RULES[operand.op.name](self, operand) or one(IrTerm(operand).to(I64))
        if shape_of(operand.ty):
            return _reduced(operand)
        return one(IrTerm(operand).to(I64))

    def fitted(self, operand: Operand) -> Interval:
        """`of`, where the value is used as the number it is: it must not have wrapped."""
        found = self.of(operand)
        if isinstance(operand, Value) and operand.op.name in MODULAR and shape_of(operand.ty):
            element = element_of(operand.ty)
            assert isinstance(element, ScalarType)
            if element.bits < 64:
                self.within(found, element.min_int, element.max_int)
        return found

    def within(self, interval: Interval, low: int, high: int) -> None:
        """The ends are right only if the interval lies in these bounds."""
        self.conditions += [interval.low >= low, interval.high <= high]

    def operands(self, value: Value) -> list[Interval]:
        return [self.fitted(operand) for operand in value.op.operands]


def number(value: int) -> IrTerm:
    return IrTerm(constant(value, I64))


def one(term: IrTerm) -> Interval:
    return Interval(term, term)


def union(left: Interval, right: Interval) -> Interval:
    """The smallest interval around two."""
    return Interval(left.low.minimum(right.low), left.high.maximum(right.high))


def _reduced(operand: Operand) -> Interval:
    """The ends of a block by looking at all of it."""
    assert operand is not None
    if isinstance(element_of(operand.ty), PointerType):
        operand = IrTerm(operand).to(I64).value
    low, high = reduced("minimum", operand), reduced("maximum", operand)
    return Interval(IrTerm(low).to(I64), IrTerm(high).to(I64))


Rule = Callable[[Intervals, Value], Interval | None]


def _arange(known: Intervals, value: Value) -> Interval:
    return Interval(number(value.op.attrs["start"]), number(value.op.attrs["end"] - 1))


def _same(known: Intervals, value: Value) -> Interval:
    return known.of(value.op.operands[0])


def _either(known: Intervals, value: Value) -> Interval:
    left, right = value.op.operands[-2:]
    return union(known.fitted(left), known.fitted(right))


def _add(known: Intervals, value: Value) -> Interval:
    left, right = map(known.of, value.op.operands)
    return combined(left, right, lambda a, b: a + b)


def _sub(known: Intervals, value: Value) -> Interval:
    left, right = map(known.of, value.op.operands)
    return combined(left, Interval(right.high, right.low), lambda a, b: a - b)


def combined(left: Interval, right: Interval, op: Callable[[IrTerm, IrTerm], IrTerm]) -> Interval:
    """An op that grows with both of its operands, applied to the ends."""
    low = op(left.low, right.low)
    return one(low) if left.is_one and right.is_one else Interval(low, op(left.high, right.high))


def _mul(known: Intervals, value: Value) -> Interval:
    """The ends of a product are among the products of the ends."""
    left, right = known.operands(value)
    for factor in left, right:
        if element_of(value.ty).bits > 32:
            known.within(factor, -(1 << 31), (1 << 31) - 1)
    if left.is_one:
        left, right = right, left
    if left.is_one:
        return one(left.low * right.low)
    ends = [left.low * right.low, left.high * right.low]
    if not right.is_one:
        ends += [left.low * right.high, left.high * right.high]
    low = high = ends[0]
    for end in ends[1:]:
        low, high = low.minimum(end), high.maximum(end)
    return Interval(low, high)


def _extremum(known: Intervals, value: Value) -> Interval:
    left, right = known.operands(value)
    name = value.op.name
    return combined(left, right, lambda a, b: a.op(name, b))


def _mod(known: Intervals, value: Value) -> Interval | None:
    """Of a block that is not negative by a positive scalar; else it is reduced."""
    left, right = known.operands(value)
    if not right.is_one:
        return None
    known.conditions += [left.low >= 0, right.low > 0]
    return Interval(number(0), left.high.minimum(right.low - 1))


def _div(known: Intervals, value: Value) -> Interval | None:
    left, right = known.operands(value)
    if not right.is_one or element_of(value.ty).kind not in "iu":
        return None
    divisor = right.low.maximum(1)
    known.conditions += [left.low >= 0, right.low > 0]
    return Interval(left.low.op("div", divisor), left.high.op("div", divisor))


def _and(known: Intervals, value: Value) -> Interval | None:
    """With a constant that is not negative."""
    for operand in value.op.operands:
        if isinstance(operand, Const) and int(operand.value) >= 0:
            return Interval(number(0), number(int(operand.value)))
    return None


def _cast(known: Intervals, value: Value) -> Interval | None:
    """Between ints."""
    (operand,) = value.op.operands
    assert operand is not None
    source, target = element_of(operand.ty), element_of(value.ty)
    if source.kind not in "biu" or target.kind not in "iu":
        return None
    if source.kind == "b":
        return Interval(number(0), number(1))
    assert isinstance(target, ScalarType)
    found = known.fitted(operand)
    if target.bits < 64:
        known.within(found, target.min_int, target.max_int)
    return found


def _addptr(known: Intervals, value: Value) -> Interval:
    base, offset = value.op.operands
    moved = known.fitted(offset)
    known.within(moved, -FAR, FAR)
    size = pointee(value.ty).itemsize
    scaled = combined(moved, one(number(size)), lambda a, b: a * b)
    return combined(known.of(base), scaled, lambda a, b: a + b)


MODULAR = frozenset(("add", "sub", "mul"))
"""The ops whose interval is right modulo 2 ** bits only."""
SCALAR = frozenset(("addptr",))
"""The ops that are looked into though they are scalars."""
RULES: dict[str, Rule] = {
    "arange": _arange,
    **dict.fromkeys(("broadcast", "hint", "reshape", "trans", "slice", "split"), _same),
    **dict.fromkeys(("select", "join", "cat"), _either),
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    **dict.fromkeys(("minimum", "maximum"), _extremum),
    "mod": _mod,
    "div": _div,
    "and": _and,
    "cast": _cast,
    "addptr": _addptr,
}
