"""Canonicalisation: algebra, repeated loads, branches and loops whose way is known.

Each op is emitted again unless a rule knows something better, in loops and branches as outside;
what that makes known is folded on the way. It is repeated while something changes. The rules for
values are those of `algebra`. Those here look at memory and control flow:

- loads of one address with one mask are one load as long as nothing between them writes (redundant
  load elimination); what is always masked off is not accessed;
- an `if` of a known condition is the branch taken, one of empty branches a `select`;
- a loop of no iteration is what it starts with, of one iteration its body; a value that a loop
  carries but never changes is its init.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..ir.build import emit
from ..ir.effects import own_effect
from ..ir.fold import fold
from ..ir.nodes import Const, Function, Op, Operand, Region, walk
from ..ir.ops import Effect
from ..ir.recursion import Walk, done
from ..ir.types import PointerType, ScalarType, element_of
from . import loop_values
from .algebra import ALGEBRA, constant_of, full, made_by, narrow, shaped
from .rebuild import Rebuild, Results, note

ROUNDS = 8
"""Enough for what one simplification lets another see; a deeper one is left alone."""


def simplify(function: Function) -> Function:
    """The function simplified."""
    for _ in range(ROUNDS):
        before, function = function, Simplify().function(function)
        if function is before:
            break
    return function


class Simplify(Rebuild):
    """A rebuild that remembers which loads still hold what memory does."""

    def __init__(self) -> None:
        super().__init__(RULES)
        self.loaded: dict[Any, Sequence[Operand]] = {}
        self.uses: Counter[Operand] | None = None

    def function(self, function: Function) -> Function:
        self.old = function
        return super().function(function)

    def used_once(self, operand: Operand) -> bool:
        """Whether a value of the old function has one use."""
        if self.uses is None:
            self.uses = Counter(v for op in walk(self.old.body) for v in op.operands)
        return self.uses[operand] == 1

    def op(self, op: Op) -> Sequence[Operand]:
        results = super().op(op)
        self.forget(op)
        return results

    def with_regions(self, op: Op) -> Walk[Sequence[Operand]]:
        results: Sequence[Operand] = yield super().with_regions(op)
        self.forget(op)
        return results

    def forget(self, op: Op) -> None:
        """After an op that writes, nothing is known of memory."""
        if self.loaded and self.effects[op] is Effect.WRITE:
            self.loaded = {}

    def region(self, op: Op, region: Region) -> Walk[Region]:
        """Loads available before a region stay available inside it, except in a loop whose body may
        write memory or wait for another program to write."""
        before = self.loaded
        again = op.name == "while" or self.effects[op] is Effect.WRITE
        self.loaded = {} if again and op.row.is_loop else dict(before)
        made: Region = yield super().region(op, region)
        self.loaded = before
        return made


def _value(ctx: Simplify, op: Op, operands: tuple[Operand, ...]) -> Results:
    folded = fold(op.row, operands, {**op.row.attrs, **op.attrs}, op.types[0])
    if folded is not None:
        return (folded,)
    for rule in ALGEBRA[op.name]:
        value = rule.rewrite(op, operands)
        if value is not None:
            note(rule.name, op)
            return (shaped(value, op.types[0]),)
    return None


def _add(ctx: Simplify, op: Op, operands: tuple[Operand, ...]) -> Results:
    """acc + dot(a, b, 0), both of the same rounds of a loop, is dot(a, b, acc): one rounding less,
    as in Triton."""
    for place, other in ((1, 0), (0, 1)):
        dot, acc = made_by(operands[place], "dot"), operands[other]
        if dot is None or acc is None or acc.ty != op.types[0] or dot.types != op.types:
            continue
        zero = constant_of(dot.operands[2])
        here = ctx.builder.level_of(dot.results) == ctx.builder.level
        if zero is not None and not zero.value and here and ctx.used_once(op.operands[place]):
            note("dot accumulates", op)
            return ctx.builder.make(dot.row, (*dot.operands[:2], acc), dot.attrs)
    return _value(ctx, op, operands)


def _fewer(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands of a memory access, the pointer first, whose shape implies the others'."""
    return (operands[0], *map(narrow, operands[1:]))


def _always(mask: Operand) -> bool | None:
    """What a mask always is; None where only the run will tell."""
    known = constant_of(mask)
    return None if known is None else bool(known.value)


def _load(ctx: Simplify, op: Op, operands: tuple[Operand, ...]) -> Results:
    pointer, mask, other = _fewer(operands)
    if _always(mask) is False and (absent := _absent(op, other)) is not None:
        note("load of nothing", op)
        return (absent,)
    operands = (pointer, None if _always(mask) else mask, other)
    if own_effect(op) is Effect.WRITE:
        return ctx.keep(op, operands)
    key = (*map(_key, operands), *sorted(op.attrs.items()))
    if key not in ctx.loaded:
        ctx.loaded[key] = ctx.keep(op, operands)
    else:
        note("repeated load", op)
    return ctx.loaded[key]


def _key(operand: Operand) -> Any:
    return operand.key if isinstance(operand, Const) else operand


def _absent(op: Op, other: Operand) -> Operand:
    """What a load gives where it reads nothing; None of pointers."""
    ty = op.types[0]
    if other is not None:
        return shaped(other, ty)
    return full(0, ty) if isinstance(element_of(ty), ScalarType) else None


def _store(ctx: Simplify, op: Op, operands: tuple[Operand, ...]) -> Results:
    pointer, value, mask = _fewer(operands)
    if _always(mask) is False and not op.types:
        note("store of nothing", op)
        return ()
    return ctx.keep(op, (pointer, value, None if _always(mask) else mask))


def _condition(ctx: Simplify, op: Op, operands: tuple[Operand, ...]) -> Results:
    return () if _always(operands[0]) else None


# -- branches and loops


def _if(ctx: Simplify, op: Op, operands: tuple[Operand, ...]) -> Walk[Results]:
    condition, (then, other) = operands[0], op.regions
    if isinstance(condition, Const):
        note("known branch", op)
        return ctx.inline(then if condition.value else other, ())
    negated = made_by(condition, "not")
    if negated is not None:
        note("negated branch", op)
        swapped = Op(op.row, op.operands, op.types, op.attrs, (other, then), op.where)
        return ctx.keep_regions(swapped, negated.operands)
    if len(then.ops) == len(other.ops) == 1 and not _pointers(op):
        note("branch of nothing but values", op)
        pairs = zip(map(ctx.operand, then.results), map(ctx.operand, other.results))
        return done([emit("select", condition, left, right) for left, right in pairs])
    return _without_equal(ctx, op)


def _pointers(op: Op) -> bool:
    return any(isinstance(element_of(ty), PointerType) for ty in op.types)


def _without_equal(ctx: Simplify, op: Op) -> Walk[Results]:
    """Results that are one and the same value in both branches are that value."""
    sides = [[ctx.operand(result) for result in region.results] for region in op.regions]
    kept = [k for k, (left, right) in enumerate(zip(*sides)) if left != right]
    return _with_results(ctx, op, kept, sides[0])


def _with_results(
    ctx: Simplify, op: Op, kept: Sequence[int], values: Sequence[Operand]
) -> Walk[Results]:
    """The op with only the results kept; `values` are what the others (and their iter_args) are."""
    if len(kept) == len(op.types):
        return None
    note("result known", op)
    for k in set(range(len(op.types))) - set(kept):
        ctx.new.update((param, values[k]) for param in loop_values.iter_args(op, k))
    fewer = loop_values.keep(op, kept)
    made = dict(zip(kept, (yield ctx.keep_regions(fewer, ctx.operands(fewer)))))
    return [made.get(k, value) for k, value in enumerate(values)]


def trips(operands: Sequence[Operand]) -> int | None:
    """How often a `for` of these operands runs; None where only the run will tell."""
    low, high, step = operands[:3]
    if isinstance(step, Const) and step.value:
        if low == high:
            return 0
        if isinstance(low, Const) and isinstance(high, Const):
            return len(range(int(low.value), int(high.value), int(step.value)))
    return None


def _for(ctx: Simplify, op: Op, operands: tuple[Operand, ...]) -> Walk[Results]:
    (body,), inits = op.regions, operands[3:]
    count = trips(operands)
    if count == 0:
        note("loop of no iteration", op)
        return done(inits)
    if count == 1:
        note("loop of one iteration", op)
        return ctx.inline(body, (operands[0], *inits))
    return _without_constant(ctx, op, inits)


def _while(ctx: Simplify, op: Op, operands: tuple[Operand, ...]) -> Walk[Results]:
    (more,), test = op.regions[0].results, op.regions[0]
    if isinstance(more, Const) and not more.value and len(test.ops) == 1:
        return done(operands)
    return _without_constant(ctx, op, operands)


def _without_constant(ctx: Simplify, op: Op, inits: Sequence[Operand]) -> Walk[Results]:
    """A carried value that the body yields as it was, or as it started, is its init."""
    kept = []
    for k, start in enumerate(inits):
        result = loop_values.yielded(op, k)
        if result is not loop_values.iter_args(op, k)[-1] and ctx.operand(result) != start:
            kept.append(k)
    return _with_results(ctx, op, kept, inits)


RULES = dict.fromkeys(ALGEBRA, _value) | {
    "add": _add,
    "load": _load,
    "store": _store,
    "atomic": _store,
    "assert": _condition,
    "assume": _condition,
    "if": _if,
    "for": _for,
    "while": _while,
}
"""What is emitted in place of an op."""
