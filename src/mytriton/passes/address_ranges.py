"""Address ranges: which elements past a base an access touches, so that two can be told apart.

The offset of a block of pointers from its base is split into scalars that only the run will tell,
each times a known factor, and a known range that aranges and constants add:

    x + pid * 512 + arange(128, 256)      base x, terms {pid: 512}, range 128 … 255
    x + pid * 512 + arange(0, 128)        base x, terms {pid: 512}, range 0 … 127: no common element

Ints wrap, so this holds modulo 2 ** bits of the narrowest int on the way. Two ranges of one base
and equal terms are apart if they have no number in common and together span less than 2 ** bits:
then no two of their offsets are the same modulo 2 ** bits, so no two are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass

from ..ir.nodes import Const, Op, Operand, Param, Value
from ..ir.types import Element, PointerType, element_of, shape_of

Terms = frozenset[tuple[Value | Param, int]]


@dataclass(frozen=True)
class Range:
    """Ints that are ≡ terms + low … high (modulo 2 ** bits)."""

    terms: Terms
    low: int
    high: int
    bits: int


@dataclass(frozen=True)
class AddressRange:
    """Elements of one type past a scalar base address."""

    base: Value | Param
    element: Element
    offset: Range

    def apart(self, other: AddressRange) -> bool:
        """Whether the two certainly have no element in common."""
        if self.base is not other.base or self.element != other.element:
            return False
        one, two = self.offset, other.offset
        if one.terms != two.terms or not (one.high < two.low or two.high < one.low):
            return False
        span = max(one.high, two.high) - min(one.low, two.low)
        return span < 1 << min(one.bits, two.bits)


class AddressRanges:
    """The ranges of the addresses of one function, computed as they are asked for."""

    def __init__(self) -> None:
        self._ints: dict[Value, Range | None] = {}
        self._addresses: dict[Value, AddressRange | None] = {}

    def of(self, pointer: Operand) -> AddressRange | None:
        """The range of a block of pointers, or of a scalar one; None where it is no such sum."""
        if isinstance(pointer, Param) or not isinstance(pointer, Value):
            return _at_base(pointer) if isinstance(pointer, Param) else None
        for value in _chain(pointer, _FORWARDS | {"addptr"}, self._addresses):
            self._addresses[value] = self._address(value)
        return self._addresses[pointer]

    def _address(self, value: Value) -> AddressRange | None:
        op = value.op
        if op.name == "addptr":
            start, offset = self._known(op.operands[0]), self.int_range(op.operands[1])
            if start is None or offset is None:
                return None
            return AddressRange(start.base, start.element, _sum(start.offset, offset, 64))
        if op.name in _FORWARDS:
            return self._known(op.operands[0])
        return _at_base(value)

    def _known(self, operand: Operand) -> AddressRange | None:
        return self._addresses[operand] if isinstance(operand, Value) else _at_base(operand)

    def int_range(self, operand: Operand) -> Range | None:
        """The range of an int or a block of ints."""
        if isinstance(operand, Const):
            return Range(frozenset(), int(operand.value), int(operand.value), 64)
        if isinstance(operand, Param):
            return Range(frozenset({(operand, 1)}), 0, 0, element_of(operand.ty).bits)
        if not isinstance(operand, Value):
            return None
        for value in _chain(operand, _FOLLOWED, self._ints):
            rule = _RULES.get(value.op.name)
            self._ints[value] = (rule and rule(self, value.op)) or _opaque(value)
        return self._ints[operand]


def _chain(value: Value, followed: frozenset[str], done: Container[Value]) -> list[Value]:
    """The values under one through the ops named, operands first."""
    found: dict[Value, None] = {}
    stack = [(value, False)]
    while stack:
        one, below = stack.pop()
        if one in found or one in done:
            continue
        if below or one.op.name not in followed:
            found[one] = None
            continue
        stack.append((one, True))
        stack.extend((o, False) for o in one.op.operands if isinstance(o, Value))
    return list(found)


def _at_base(operand: Operand) -> AddressRange | None:
    """A scalar pointer is its own base."""
    if not isinstance(operand, (Value, Param)) or shape_of(operand.ty):
        return None
    pointer = element_of(operand.ty)
    if not isinstance(pointer, PointerType):
        return None
    return AddressRange(operand, pointer.element, Range(frozenset(), 0, 0, 64))


def _opaque(value: Value) -> Range | None:
    """A scalar that only the run will tell; nothing is known of a block of different ones."""
    element = element_of(value.ty)
    if shape_of(value.ty) or element.kind not in ("i", "u"):
        return None
    return Range(frozenset({(value, 1)}), 0, 0, element.bits)


def _sum(one: Range, two: Range, bits: int) -> Range:
    terms = Counter(dict(one.terms))
    for value, factor in two.terms:
        terms[value] += factor
    kept = frozenset((value, factor) for value, factor in terms.items() if factor)
    bits = min(one.bits, two.bits, bits)
    return Range(kept, one.low + two.low, one.high + two.high, bits)


def _scaled(one: Range, factor: int, bits: int) -> Range:
    low, high = sorted((one.low * factor, one.high * factor))
    terms = frozenset((value, own * factor) for value, own in one.terms if factor)
    return Range(terms, low, high, min(one.bits, bits))


def _bits(op: Op) -> int:
    return element_of(op.types[0]).bits


def _add(ranges: AddressRanges, op: Op) -> Range | None:
    one, two = map(ranges.int_range, op.operands)
    return _sum(one, two, _bits(op)) if one and two else None


def _sub(ranges: AddressRanges, op: Op) -> Range | None:
    one, two = map(ranges.int_range, op.operands)
    return _sum(one, _scaled(two, -1, 64), _bits(op)) if one and two else None


def _mul(ranges: AddressRanges, op: Op) -> Range | None:
    one, two = map(ranges.int_range, op.operands)
    if one is None or two is None:
        return None
    if one.low == one.high and not one.terms:
        one, two = two, one
    if two.low != two.high or two.terms:
        return None
    return _scaled(one, two.low, _bits(op))


def _arange(ranges: AddressRanges, op: Op) -> Range | None:
    return Range(frozenset(), op.attrs["start"], op.attrs["end"] - 1, 64)


def _same(ranges: AddressRanges, op: Op) -> Range | None:
    return ranges.int_range(op.operands[0])


def _cast(ranges: AddressRanges, op: Op) -> Range | None:
    """Between ints: what fits into the narrower of the two stays."""
    (value,) = op.operands
    assert value is not None
    source, one = element_of(value.ty), ranges.int_range(value)
    if one is None or source.kind not in ("i", "u") or element_of(op.types[0]).kind not in "iu":
        return None
    return Range(one.terms, one.low, one.high, min(one.bits, source.bits, _bits(op)))


_FORWARDS = frozenset(("broadcast", "hint", "reshape", "trans", "slice"))
_RULES: dict[str, Callable[[AddressRanges, Op], Range | None]] = {
    "add": _add,
    "arange": _arange,
    "cast": _cast,
    "mul": _mul,
    "sub": _sub,
    **dict.fromkeys(_FORWARDS, _same),
}
_FOLLOWED = frozenset(_RULES)
