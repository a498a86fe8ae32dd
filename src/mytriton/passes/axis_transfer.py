"""What each op makes of the axis information of its operands: one rule an op, found by its name.

    add   contiguous where one side is and the other is constant; bounds add up
    div   by a constant d, of ints not below 0: a contiguous run that starts at a multiple of d
          becomes constant runs of d
    <     of a contiguous run that starts at a multiple of its length, with a multiple of it: all
          true or all false

An element-wise op without a rule keeps the runs in which all its operands are constant. Rules give
mathematical bounds; those that the type does not hold are dropped after (`clamp_to_type`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import gcd, lcm
from operator import add, mul, sub

from ..ir.effects import must_see_memory
from ..ir.nodes import Op
from ..ir.ops import TABLE
from ..ir.structural import pointee
from ..ir.types import Type, element_of, shape_of
from .algebra import constant_of
from .axis_lattice import (
    MAX_DIVISOR,
    Axes,
    AxisInfo,
    equal_to,
    extents,
    gcds,
    power_of_two,
    top,
    type_bounds,
)

Infos = Sequence[AxisInfo | None]
Rule = Callable[[Op, Infos], AxisInfo | None]
Shaped = Callable[..., AxisInfo | None]
"""A rule on the operands' information at the result's shape."""
Bounds = tuple[int, int] | tuple[None, None]
NO_BOUNDS: Bounds = (None, None)


def stretched(info: AxisInfo, ty: Type, shape: Axes) -> AxisInfo:
    """The information of a value of that type broadcast to a shape."""
    given = shape_of(ty)
    if given == shape or not shape:
        return info
    if not given:
        ones, divisibility = (1,) * len(shape), info.divisibility * len(shape)
        return AxisInfo(divisibility, ones, shape, info.low, info.high)
    constancy = tuple(n if g == 1 else c for n, g, c in zip(shape, given, info.constancy))
    return replace(info, constancy=constancy)


def operands(op: Op, infos: Infos) -> list[AxisInfo]:
    """The information of the operands that are there, at the result's shape."""
    shape, pairs = shape_of(op.types[0]), zip(op.operands, infos)
    return [stretched(info, v.ty, shape) for v, info in pairs if v is not None and info is not None]


def elementwise_default(op: Op, infos: Infos) -> AxisInfo:
    """Where all operands are constant, so is the result."""
    constants = (info.constancy for info in operands(op, infos))
    return top(op.types[0], reduce(gcds, constants, extents(op.types[0])))


def at_shape(rule: Shaped) -> Rule:
    """The rule as one on the operands as they stand; what it knows nothing of is the default."""

    def whole(op: Op, infos: Infos) -> AxisInfo:
        return rule(op, *operands(op, infos)) or elementwise_default(op, infos)

    return whole


def constant_operand(op: Op) -> int | None:
    """The right operand, where it is a constant int."""
    known = constant_of(op.operands[1])
    return int(known.value) if known is not None and known.ty.kind in "iu" else None


# -- bounds


def corners(meaning: Callable[[int, int], int], left: AxisInfo, right: AxisInfo) -> Bounds:
    """The bounds of a function of ints that is monotone in each operand."""
    one, two = left.bounded(), right.bounded()
    if one is None or two is None:
        return NO_BOUNDS
    found = [meaning(a, b) for a in one for b in two]
    return min(found), max(found)


def hull(left: AxisInfo, right: AxisInfo) -> Bounds:
    one, two = left.bounded(), right.bounded()
    if one is None or two is None:
        return NO_BOUNDS
    return min(one[0], two[0]), max(one[1], two[1])


# -- arithmetic


def _sum(op: Op, left: AxisInfo, right: AxisInfo) -> AxisInfo:
    runs = tuple(
        max(gcd(a, c), gcd(b, d))
        for a, b, c, d in zip(left.contiguity, right.contiguity, right.constancy, left.constancy)
    )
    return _linear(left, right, runs, corners(add, left, right))


def _difference(op: Op, left: AxisInfo, right: AxisInfo) -> AxisInfo:
    """A contiguous right side runs backwards."""
    return _linear(left, right, gcds(left.contiguity, right.constancy), corners(sub, left, right))


def _linear(left: AxisInfo, right: AxisInfo, runs: Axes, ends: Bounds) -> AxisInfo:
    divisors = gcds(left.divisors(runs), right.divisors(runs))
    return AxisInfo(divisors, runs, gcds(left.constancy, right.constancy), *ends)


def _product(op: Op, left: AxisInfo, right: AxisInfo) -> AxisInfo:
    for one, other in ((left, right), (right, left)):
        if one.low == one.high == 1:
            return other
    divisors = tuple(min(a * b, MAX_DIVISOR) for a, b in zip(left.every, right.every))
    return _scattered(divisors, gcds(left.constancy, right.constancy), corners(mul, left, right))


def _scattered(divisors: Axes, constancy: Axes, ends: Bounds) -> AxisInfo:
    """Of elements that are not consecutive."""
    return AxisInfo(divisors, (1,) * len(divisors), constancy, *ends)


def _quotient(op: Op, left: AxisInfo, right: AxisInfo) -> AxisInfo | None:
    return _divided(left, constant_operand(op))


def _divided(left: AxisInfo, divisor: int | None) -> AxisInfo | None:
    """x / d for a positive constant d and x not below 0."""
    ends = left.bounded()
    if divisor is None or divisor <= 0 or ends is None or ends[0] < 0:
        return None
    runs = (gcd(left.aligned_run(axis), power_of_two(divisor)) for axis in left.axes)
    constancy = tuple(map(max, left.constancy, runs))
    power = divisor if divisor == power_of_two(divisor) else MAX_DIVISOR
    divisors = tuple(max(every // power, 1) for every in left.every)
    return _scattered(divisors, constancy, (ends[0] // divisor, ends[1] // divisor))


def _remainder(op: Op, left: AxisInfo, right: AxisInfo) -> AxisInfo | None:
    divisor = constant_operand(op)
    if left.low is None or left.low < 0:
        return None
    return _modulo(left, divisor) if divisor is not None and divisor > 0 else _wrapped(left, right)


def _wrapped(left: AxisInfo, right: AxisInfo) -> AxisInfo:
    """x % d for x not below 0: a contiguous run that starts at a multiple of its length stays one,
    where its length divides the d that all its elements have."""
    same = (gcd(d, c) for d, c in zip(right.every, right.constancy))
    runs = tuple(gcd(left.aligned_run(axis), n) for axis, n in zip(left.axes, same))
    divisors = gcds(left.divisors(runs), right.every)
    return AxisInfo(divisors, runs, gcds(left.constancy, right.constancy), 0, left.high)


def _modulo(left: AxisInfo, divisor: int) -> AxisInfo:
    """x % d, or the low bits of any x for a power of two d: a contiguous run stays one where it
    does not pass a multiple of d."""
    power = power_of_two(divisor)
    runs = tuple(gcd(left.aligned_run(axis), power) for axis in left.axes)
    divisors = tuple(gcd(divisor, power) for divisor in left.divisors(runs))
    inside = left.low is not None and left.low >= 0 and left.high is not None
    high = min(divisor - 1, left.high) if inside and left.high is not None else divisor - 1
    return AxisInfo(divisors, runs, left.constancy, 0, high)


def _and(op: Op, left: AxisInfo, right: AxisInfo) -> AxisInfo | None:
    """x & (a power of two - 1) is a remainder; other bits give only bounds."""
    mask = constant_operand(op)
    if mask is not None and mask > 0 and mask & mask + 1 == 0:
        return _modulo(left, mask + 1)
    constancy = gcds(left.constancy, right.constancy)
    highs = [v.high for v in (left, right) if v.low is not None and v.low >= 0]
    known = [high for high in highs if high is not None]
    ends: Bounds = (0, min(known)) if known else type_bounds_of(op)
    return replace(top(op.types[0], constancy), low=ends[0], high=ends[1])


def type_bounds_of(op: Op) -> Bounds:
    low, high = type_bounds(op.types[0])
    return NO_BOUNDS if low is None or high is None else (low, high)


def _shift_left(op: Op, value: AxisInfo, count: AxisInfo) -> AxisInfo | None:
    factor = _power(op)
    if factor is None:
        return None
    divisors = tuple(min(every * factor, MAX_DIVISOR) for every in value.every)
    scale = equal_to(op.types[0], factor)
    return _scattered(divisors, value.constancy, corners(mul, value, scale))


def _shift_right(op: Op, value: AxisInfo, count: AxisInfo) -> AxisInfo | None:
    """A quotient, of negative numbers too, which round down."""
    factor, ends = _power(op), value.bounded()
    if factor is None or ends is None:
        return None
    found = _divided(replace(value, low=0, high=0), factor)
    return found and replace(found, low=ends[0] // factor, high=ends[1] // factor)


def _power(op: Op) -> int | None:
    """2 ** the count of a shift by a constant that is less than the width."""
    count, element = constant_operand(op), element_of(op.types[0])
    return 1 << count if count is not None and 0 <= count < element.bits - 1 else None


def _extreme(pick: Callable[[int, int], int]) -> Rule:
    def rule(op: Op, left: AxisInfo, right: AxisInfo) -> AxisInfo:
        constancy = gcds(left.constancy, right.constancy)
        return _scattered(gcds(left.every, right.every), constancy, corners(pick, left, right))

    return at_shape(rule)


def _negation(op: Op, value: AxisInfo) -> AxisInfo:
    ends = value.bounded()
    return _scattered(value.every, value.constancy, (-ends[1], -ends[0]) if ends else NO_BOUNDS)


# -- comparisons and choices


def _comparison(swap: bool, negate: bool) -> Rule:
    """x < y; `swap`: y < x, whose contiguous run is the right side; `negate`: not that."""

    def rule(op: Op, left: AxisInfo, right: AxisInfo) -> AxisInfo:
        constancy = gcds(left.constancy, right.constancy)
        run, level = (right, left) if swap else (left, right)
        aligned = (
            gcd(run.aligned_run(i), gcd(level.constancy[i], level.divisor_at(i, 1)))
            for i in run.axes
        )
        answer = _below(run, level)
        ends = (0, 1) if answer is None else (int(answer != negate),) * 2
        ones = (1,) * len(constancy)
        return AxisInfo(ones, ones, tuple(map(max, constancy, aligned)), *ends)

    return at_shape(rule)


def _below(left: AxisInfo, right: AxisInfo) -> bool | None:
    """Whether left < right, where that is known of all elements."""
    one, two = left.bounded(), right.bounded()
    if one is None or two is None:
        return None
    return True if one[1] < two[0] else False if one[0] >= two[1] else None


def _selected(op: Op, condition: AxisInfo, left: AxisInfo, right: AxisInfo) -> AxisInfo:
    runs = gcds(condition.constancy, gcds(left.contiguity, right.contiguity))
    constancy = gcds(condition.constancy, gcds(left.constancy, right.constancy))
    divisors = gcds(left.divisors(runs), right.divisors(runs))
    return AxisInfo(divisors, runs, constancy, *hull(left, right))


# -- casts and addresses


def _cast(op: Op, infos: Infos) -> AxisInfo | None:
    """Between ints: a wider target tells apart what wrapped, a narrower one cuts runs."""
    (value,), info, target = op.operands, infos[0], element_of(op.types[0])
    assert value is not None and info is not None
    source = element_of(value.ty)
    if source.kind not in "iub" or target.kind not in "iu":
        return elementwise_default(op, infos)
    if target.bits > source.bits:
        return info.unwrapped(value.ty)
    limit = (1 << target.bits - 1,) * len(info.constancy)
    runs = gcds(info.contiguity, limit)
    return replace(info, contiguity=runs, divisibility=info.divisors(runs))


def _addptr(op: Op, infos: Infos) -> AxisInfo:
    """In elements for runs, in bytes for divisors."""
    base, moved = operands(op, infos)
    assert op.operands[1] is not None
    moved = moved.unwrapped(op.operands[1].ty)
    runs = tuple(
        max(gcd(a, c), gcd(b, d))
        for a, b, c, d in zip(moved.contiguity, base.contiguity, base.constancy, moved.constancy)
    )
    size = power_of_two(pointee(op.types[0]).itemsize)
    steps = tuple(min(divisor * size, MAX_DIVISOR) for divisor in moved.divisors(runs))
    divisors = gcds(base.divisors(runs), steps)
    return AxisInfo(divisors, runs, gcds(base.constancy, moved.constancy))


# -- sources and shapes


def _arange(op: Op, infos: Infos) -> AxisInfo:
    start, end = op.attrs["start"], op.attrs["end"]
    return AxisInfo((power_of_two(start),), (end - start,), (1,), start, end - 1)


def _program_id(op: Op, infos: Infos) -> AxisInfo:
    return replace(top(op.types[0]), low=0)


def _num_programs(op: Op, infos: Infos) -> AxisInfo:
    return replace(top(op.types[0]), low=1)


def _broadcast(op: Op, infos: Infos) -> AxisInfo:
    return operands(op, infos)[0]


def _bounds_of(count: int) -> Rule:
    """Elements of the first operands in another arrangement."""

    def rule(op: Op, infos: Infos) -> AxisInfo | None:
        given = [info for info in infos[:count] if info is not None]
        low, high = hull(given[0], given[-1])
        return replace(top(op.types[0]), low=low, high=high)

    return rule


def _load(op: Op, infos: Infos) -> AxisInfo | None:
    """One address gives one value, unless it must be read anew each time."""
    return None if must_see_memory(op) else elementwise_default(op, infos)


def _reshape(op: Op, infos: Infos) -> AxisInfo | None:
    """Axes of extent 1 come and go; any other change keeps bounds and what divides all."""
    (value,), info, new = op.operands, infos[0], extents(op.types[0])
    assert value is not None and info is not None
    old = extents(value.ty)
    every = max(info.every)
    if [n for n in old if n != 1] != [n for n in new if n != 1]:
        ones = (1,) * len(new)
        return AxisInfo((every,) * len(new), ones, ones, info.low, info.high)
    wide = iter([axis for axis, n in enumerate(old) if n != 1])
    places = [next(wide) if n != 1 else None for n in new]
    return AxisInfo(
        tuple(every if i is None else info.divisibility[i] for i in places),
        tuple(1 if i is None else info.contiguity[i] for i in places),
        tuple(1 if i is None else info.constancy[i] for i in places),
        info.low,
        info.high,
    )


def _trans(op: Op, infos: Infos) -> AxisInfo | None:
    info, order = infos[0], op.attrs["order"]
    assert info is not None
    columns = (info.divisibility, info.contiguity, info.constancy)
    divisors, runs, constancy = (tuple(column[axis] for axis in order) for column in columns)
    return AxisInfo(divisors, runs, constancy, info.low, info.high)


def _hint(op: Op, infos: Infos) -> AxisInfo | None:
    """What the kernel's author promises, beside what is known; a contiguous promise takes the
    divisors that were known of every element."""
    info, shape = infos[0], extents(op.types[0])
    assert info is not None

    def promised(name: str) -> Axes:
        given = tuple(op.attrs.get(name, ()))
        return given if len(given) == len(shape) else (1,) * len(shape)

    runs = gcds(tuple(map(lcm, info.contiguity, promised("contiguous"))), shape)
    divisors = tuple(map(max, info.divisors(runs), map(power_of_two, promised("multiple"))))
    constancy = tuple(map(lcm, info.constancy, gcds(promised("constant"), shape)))
    return AxisInfo(divisors, runs, constancy, info.low, info.high)


RULES: dict[str, Rule] = {
    **{name: elementwise_default for name, row in TABLE.items() if row.element},
    "add": at_shape(_sum),
    "sub": at_shape(_difference),
    "mul": at_shape(_product),
    "div": at_shape(_quotient),
    "mod": at_shape(_remainder),
    "and": at_shape(_and),
    "shl": at_shape(_shift_left),
    "shr": at_shape(_shift_right),
    "neg": at_shape(_negation),
    "minimum": _extreme(min),
    "maximum": _extreme(max),
    "cmp_lt": _comparison(swap=False, negate=False),
    "cmp_ge": _comparison(swap=False, negate=True),
    "cmp_gt": _comparison(swap=True, negate=False),
    "cmp_le": _comparison(swap=True, negate=True),
    "select": at_shape(_selected),
    "cast": _cast,
    "bitcast": elementwise_default,
    "addptr": _addptr,
    "arange": _arange,
    "program_id": _program_id,
    "num_programs": _num_programs,
    "broadcast": _broadcast,
    "reshape": _reshape,
    "trans": _trans,
    "hint": _hint,
    "load": _load,
    "gather": _bounds_of(1),
    "slice": _bounds_of(1),
    "split": _bounds_of(1),
    "join": _bounds_of(2),
    "cat": _bounds_of(2),
}
"""From the information of an op's operands to that of its first result."""
