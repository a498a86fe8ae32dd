"""How each op passes on what is known of its operands.

One idea: one small rule an op, found by its name, from the operands' facts to the result's. An op
without a rule keeps only what is equal in all its operands along a run (if it is element-wise).

    add   contiguous where one side is and the other is constant;  bounds add up
    div   by a constant d, of ints not below 0: a contiguous run that starts at a multiple of d
          becomes constant runs of d
    <     of a contiguous run that starts at a multiple of its length, with a multiple of it: all
          true or all false
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import gcd, lcm
from operator import add, mul, sub
from typing import Any

from ..ir.nodes import Op
from ..ir.ops import TABLE
from ..ir.structural import pointee
from ..ir.types import ScalarType, Type, element_of, shape_of
from .algebra import constant_of
from .known import MOST, Axes, Facts, extents, gcds, power_of_two, type_bounds, unknown

Known = Sequence[Any]
Rule = Callable[[Op, Known], Facts | None]


def stretched(facts: Facts, ty: Type, shape: Axes) -> Facts:
    """The facts of a value of that type broadcast to a shape."""
    given = shape_of(ty)
    if given == shape:
        return facts
    if not given:
        ones, multiple = (1,) * len(shape), facts.multiple * len(shape)
        return Facts(multiple, ones, shape, facts.low, facts.high)
    constant = tuple(n if g == 1 else c for n, g, c in zip(shape, given, facts.constant))
    return replace(facts, constant=constant)


def _operands(op: Op, known: Known) -> list[Facts]:
    """The facts of the operands that are there, at the result's shape."""
    shape = extents(op.types[0])
    pairs = zip(op.operands, known)
    return [stretched(fact, v.ty, shape) for v, fact in pairs if v is not None]


def alike(op: Op, known: Known) -> Facts:
    """Where all operands are constant, so is the result."""
    constants = (fact.constant for fact in _operands(op, known))
    return unknown(op.types[0], reduce(gcds, constants, extents(op.types[0])))


def _bounds(meaning: Callable[[int, int], int], *operands: Facts) -> tuple[Any, Any]:
    """The least and greatest of a monotone (in each operand) function of ints."""
    left, right = operands
    ends = [left.low, left.high], [right.low, right.high]
    if None in ends[0] or None in ends[1]:
        return None, None
    corners = [meaning(a, b) for a in ends[0] for b in ends[1]]  # type: ignore[arg-type]
    return min(corners), max(corners)


def _sum(meaning: Callable[[int, int], int], flips: bool) -> Rule:
    """Of x + y or x - y (`flips`: a contiguous right side runs backwards)."""

    def rule(op: Op, known: Known) -> Facts:
        left, right = _operands(op, known)
        runs = gcds(left.contiguous, right.constant)
        if not flips:
            runs = tuple(map(max, runs, gcds(right.contiguous, left.constant)))
        multiple = (gcd(left.at(i, run), right.at(i, run)) for i, run in enumerate(runs))
        constant = gcds(left.constant, right.constant)
        bounds = _bounds(meaning, left, right)
        return Facts(tuple(multiple), runs, constant, *bounds)

    return rule


def _product(op: Op, known: Known) -> Facts:
    left, right = _operands(op, known)
    for one, other in ((left, right), (right, left)):
        if one.low == one.high == 1:
            return other
    axes = range(len(left.constant))
    multiple = tuple(min(left.at(i, 1) * right.at(i, 1), MOST) for i in axes)
    constant = gcds(left.constant, right.constant)
    return Facts(multiple, (1,) * len(constant), constant, *_bounds(mul, left, right))


def _divisor(op: Op) -> int | None:
    """A positive constant right operand."""
    known = constant_of(op.operands[1])
    positive = known is not None and known.ty.kind in "iu" and known.value > 0
    return int(known.value) if known is not None and positive else None


def _quotient(op: Op, known: Known) -> Facts:
    """Of x / d for a constant d > 0: see the top of the file."""
    left, divisor = _operands(op, known)[0], _divisor(op)
    if divisor is None or left.low is None or left.high is None or left.low < 0:
        return alike(op, known)
    constant, multiple = list(left.constant), []
    for axis, run in enumerate(left.contiguous):
        aligned = gcd(run, gcd(left.multiple[axis], divisor))
        constant[axis] = max(constant[axis], aligned)
        whole = divisor == power_of_two(divisor)
        multiple.append(max(left.at(axis, 1) // divisor, 1) if whole else 1)
    ones = (1,) * len(constant)
    bounds = left.low // divisor, left.high // divisor
    return Facts(tuple(multiple), ones, tuple(constant), *bounds)


def _rest(op: Op, known: Known) -> Facts:
    """Of x % d for a constant d > 0: contiguous runs stay so where they do not pass a multiple of
    d."""
    left, divisor = _operands(op, known)[0], _divisor(op)
    if divisor is None or left.low is None or left.high is None or left.low < 0:
        return alike(op, known)
    return _modulo(left, divisor)


def _modulo(left: Facts, divisor: int) -> Facts:
    power = power_of_two(divisor)
    starts = [gcd(left.multiple[axis], power) for axis in range(len(left.constant))]
    runs = tuple(gcd(run, start) for run, start in zip(left.contiguous, starts))
    multiple = tuple(gcd(left.at(axis, run), power) for axis, run in enumerate(runs))
    high = min(divisor - 1, left.high) if left.high is not None else divisor - 1
    return Facts(multiple, runs, left.constant, 0, high)


def _and(op: Op, known: Known) -> Facts:
    """Of x & (a power of two - 1) as of a remainder; other bits keep only bounds."""
    left, right = _operands(op, known)
    mask = constant_of(op.operands[1])
    bits = int(mask.value) if mask is not None and mask.ty.kind in "iu" else 0
    if bits > 0 and bits & bits + 1 == 0:
        return replace(_modulo(left, bits + 1), high=bits)
    facts = alike(op, known)
    ends = [side.high for side in (left, right) if side.low is not None and side.low >= 0]
    highs = [end for end in ends if end is not None]
    return replace(facts, low=0, high=min(highs)) if highs else facts


def _shift(left: bool) -> Rule:
    """As a product with, or quotient by, a power of two."""

    def rule(op: Op, known: Known) -> Facts:
        value, by = _operands(op, known)
        count = constant_of(op.operands[1])
        element = element_of(op.types[0])
        if count is None or not 0 <= int(count.value) < element.bits - 1:
            return alike(op, known)
        factor = 1 << int(count.value)
        if left:
            axes = range(len(value.constant))
            multiple = tuple(min(value.at(axis, 1) * factor, MOST) for axis in axes)
            ends = _bounds(mul, value, replace(by, low=factor, high=factor))
            return Facts(multiple, (1,) * len(multiple), value.constant, *ends)
        if value.low is None or value.high is None:
            return alike(op, known)
        constant = tuple(
            max(same, gcd(run, gcd(value.multiple[axis], factor)))
            for axis, (same, run) in enumerate(zip(value.constant, value.contiguous))
        )
        multiple = tuple(max(value.at(a, 1) // factor, 1) for a in range(len(constant)))
        ends = value.low // factor, value.high // factor
        return Facts(multiple, (1,) * len(constant), constant, *ends)

    return rule


def _extreme(pick: Callable[[int, int], int]) -> Rule:
    def rule(op: Op, known: Known) -> Facts:
        left, right = _operands(op, known)
        axes = range(len(left.constant))
        multiple = tuple(gcd(left.at(i, 1), right.at(i, 1)) for i in axes)
        low, high = _bounds(pick, left, right)
        return replace(alike(op, known), multiple=multiple, low=low, high=high)

    return rule


def _negation(op: Op, known: Known) -> Facts:
    (value,) = _operands(op, known)
    multiple = tuple(value.at(axis, 1) for axis in range(len(value.constant)))
    low, high = (None if end is None else -end for end in (value.high, value.low))
    return Facts(multiple, (1,) * len(multiple), value.constant, low, high)


def _comparison(run_on_left: bool, decide: Callable[[Facts, Facts], int | None]) -> Rule:
    """Of x < y and the like: which side may be the contiguous run, and when the answer is known."""

    def rule(op: Op, known: Known) -> Facts:
        left, right = _operands(op, known)
        facts = alike(op, known)
        run, level = (left, right) if run_on_left else (right, left)
        constant = tuple(
            max(same, gcd(_run(run, i), gcd(level.constant[i], level.at(i, 1))))
            for i, same in enumerate(facts.constant)
        )
        answer = decide(left, right)
        low, high = (0, 1) if answer is None else (answer, answer)
        return Facts(facts.multiple, facts.contiguous, constant, low, high)

    return rule


def _run(facts: Facts, axis: int) -> int:
    """The length of contiguous runs that start at multiples of their length."""
    return gcd(facts.contiguous[axis], facts.multiple[axis])


def _below(left: Facts, right: Facts) -> int | None:
    """1 or 0 where left < right is always true or false."""
    if left.low is None or left.high is None or right.low is None or right.high is None:
        return None
    if left.high < right.low:
        return 1
    return 0 if left.low >= right.high else None


def _selected(op: Op, known: Known) -> Facts:
    condition, left, right = _operands(op, known)
    runs = tuple(
        gcd(c, gcd(a, b)) for c, a, b in zip(condition.constant, left.contiguous, right.contiguous)
    )
    multiple = tuple(gcd(left.at(i, run), right.at(i, run)) for i, run in enumerate(runs))
    constant = alike(op, known).constant
    lows, highs = (left.low, right.low), (left.high, right.high)
    low = None if None in lows else min(lows)  # type: ignore[type-var]
    high = None if None in highs else max(highs)  # type: ignore[type-var]
    return Facts(multiple, runs, constant, low, high)


def _cast(op: Op, known: Known) -> Facts:
    """Between ints: all stays, but what the target cannot hold."""
    (value,) = known
    source, target = element_of(op.operands[0].ty), op.attrs["to"]  # type: ignore[union-attr]
    ints = isinstance(source, ScalarType) and isinstance(target, ScalarType)
    if not ints or source.kind not in "iub" or target.kind not in "iu":
        return alike(op, known)
    low, high = type_bounds(target)
    if None not in (value.low, value.high) and low <= value.low and value.high <= high:
        same: Facts = value
        return same
    limit = power_of_two(1 << target.bits - 1)
    runs = tuple(gcd(_run(value, i), limit) for i in range(len(value.constant)))
    multiple = tuple(gcd(value.at(i, run), limit) for i, run in enumerate(runs))
    return Facts(multiple, runs, value.constant)


def _addptr(op: Op, known: Known) -> Facts:
    """In elements for runs, in bytes for multiples."""
    base, offset = _operands(op, known)
    size = pointee(op.types[0]).itemsize
    along = gcds(offset.contiguous, base.constant), gcds(base.contiguous, offset.constant)
    runs = tuple(map(max, *along))
    scale = power_of_two(size)
    multiple = tuple(
        gcd(base.at(i, run), min(offset.at(i, run) * scale, MOST)) for i, run in enumerate(runs)
    )
    return Facts(multiple, runs, gcds(base.constant, offset.constant))


def _arange(op: Op, known: Known) -> Facts:
    start, end = op.attrs["start"], op.attrs["end"]
    return Facts((power_of_two(start),), (end - start,), (1,), start, end - 1)


def _program_id(op: Op, known: Known) -> Facts:
    low = 1 if op.name == "num_programs" else 0
    return replace(unknown(op.types[0]), low=low)


def _broadcast(op: Op, known: Known) -> Facts:
    return _operands(op, known)[0]


def _reshape(op: Op, known: Known) -> Facts:
    """Axes of extent 1 come and go; any other change keeps bounds and what holds everywhere."""
    (value,) = known
    old, new = extents(op.operands[0].ty), extents(op.types[0])  # type: ignore[union-attr]
    every = value.everywhere
    if [n for n in old if n != 1] != [n for n in new if n != 1]:
        ones = (1,) * len(new)
        return Facts((every,) * len(new), ones, ones, value.low, value.high)
    axes = iter([i for i, n in enumerate(old) if n != 1])
    places = [next(axes) if n != 1 else None for n in new]
    return Facts(
        tuple(every if i is None else value.multiple[i] for i in places),
        tuple(1 if i is None else value.contiguous[i] for i in places),
        tuple(1 if i is None else value.constant[i] for i in places),
        value.low,
        value.high,
    )


def _trans(op: Op, known: Known) -> Facts:
    (value,), order = known, op.attrs["order"]
    columns = (value.multiple, value.contiguous, value.constant)
    multiple, runs, constant = (tuple(column[axis] for axis in order) for column in columns)
    return Facts(multiple, runs, constant, value.low, value.high)


def _hint(op: Op, known: Known) -> Facts:
    """What the kernel's author promises; a contiguous promise takes the multiples that were known
    of every element."""
    (value,) = known
    axes = range(len(value.constant))

    def told(name: str) -> Axes:
        given = tuple(op.attrs.get(name, ()))
        return given if len(given) == len(axes) else (1,) * len(axes)

    runs = tuple(lcm(value.contiguous[i], told("contiguous")[i]) for i in axes)
    runs = tuple(gcd(run, n) for run, n in zip(runs, extents(op.types[0])))
    multiple = tuple(max(value.at(i, runs[i]), power_of_two(told("multiple")[i])) for i in axes)
    same = gcds(told("constant"), extents(op.types[0]))
    constant = tuple(map(lcm, value.constant, same))
    return Facts(multiple, runs, constant, value.low, value.high)


RULES: dict[str, Rule] = {name: alike for name, row in TABLE.items() if row.element} | {
    "add": _sum(add, flips=False),
    "sub": _sum(sub, flips=True),
    "mul": _product,
    "div": _quotient,
    "mod": _rest,
    "and": _and,
    "shl": _shift(left=True),
    "shr": _shift(left=False),
    "neg": _negation,
    "minimum": _extreme(min),
    "maximum": _extreme(max),
    "cmp_lt": _comparison(True, lambda x, y: _below(x, y)),
    "cmp_ge": _comparison(True, lambda x, y: _opposite(_below(x, y))),
    "cmp_gt": _comparison(False, lambda x, y: _below(y, x)),
    "cmp_le": _comparison(False, lambda x, y: _opposite(_below(y, x))),
    "select": _selected,
    "cast": _cast,
    "bitcast": alike,
    "addptr": _addptr,
    "arange": _arange,
    "program_id": _program_id,
    "num_programs": _program_id,
    "broadcast": _broadcast,
    "reshape": _reshape,
    "trans": _trans,
    "hint": _hint,
    "load": alike,
}
"""From the facts of an op's operands to those of its first result."""


def _opposite(answer: int | None) -> int | None:
    return None if answer is None else 1 - answer
