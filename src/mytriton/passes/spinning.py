"""Spinning: which loops may wait until another program writes.

Such a loop gives way to other programs on targets that run several on one thread, and it acquires
and releases (`dependence`). One that only takes work from a queue ends by itself.
"""

from __future__ import annotations

from ..ir.effects import accesses_memory, is_sync_point
from ..ir.nodes import Const, Op, Operand, Param, Region, Value, walk


def may_spin(op: Op) -> bool:
    """Whether the op is a loop that may wait for another program: what its condition depends on
    comes from memory, in the condition itself or from an iteration in which programs meet.

    A work queue waits for nobody: it ends when a counter that each turn adds to has reached a
    bound, whatever the other programs do; by its condition, or by a `break`.
    """
    if op.name != "while":
        return False
    if any(map(accesses_memory, walk(op.regions[0]))):
        return True
    read = [inner for inner in _decides(op) if accesses_memory(inner)]
    meets = any(is_sync_point(inner) for inner in walk(op.regions[1]))
    return meets and bool(read) and not (_takes_from_queue(op, read) or _breaks_when_empty(op))


def _decides(loop: Op) -> list[Op]:
    """The ops of a `while` that its condition depends on, over any number of turns."""
    test, body = loop.regions
    carried = {param: n for part in (test, body) for n, param in enumerate(part.params)}
    inside = {inner for part in (test, body) for inner in walk(part)}
    found: dict[Op, None] = {}
    seen: set[Operand] = set()
    waiting: list[Operand] = [test.results[0]]
    while waiting:
        value = waiting.pop()
        if value in seen or not isinstance(value, (Value, Param)):
            continue
        seen.add(value)
        if isinstance(value, Param):
            waiting += [body.results[carried[value]]] if value in carried else []
        elif value.op in inside and value.op not in found:
            found.update(dict.fromkeys([value.op, *_inner(value.op)]))
            waiting += [
                operand for one in (value.op, *_inner(value.op)) for operand in one.operands
            ]
    return list(found)


def _inner(op: Op) -> list[Op]:
    return [inner for region in op.regions for inner in walk(region)]


def _takes_from_queue(loop: Op, read: list[Op]) -> bool:
    """Whether all that decides about the next turn is that a counter, which the turn adds to, is
    still below a bound."""
    test, body = loop.regions
    (condition,) = test.results[:1]
    if not isinstance(condition, Value) or condition.op.name not in ("cmp_lt", "cmp_le"):
        return False
    counter, bound = condition.op.operands
    outside = not isinstance(bound, Value) or bound.op not in {*walk(test), *walk(body)}
    if counter not in test.params or bound in test.params or not outside:
        return False
    taken = body.results[test.params.index(counter)]
    return isinstance(taken, Value) and read == [taken.op] and _counts_up(taken.op)


def _breaks_when_empty(loop: Op) -> bool:
    """Whether the loop ends after a turn whose counter has reached a bound.

    while not done:  taken = atomic_add(counter, 1);  done = taken >= n or …
    """
    test, body = loop.regions
    counters = {op.results[0] for op in body.ops if _counts_up(op)}
    ends = [body.results[test.params.index(flag)] for flag in _ending_flags(test)]
    return any(_true_when_empty(loop, value, counters) for value in ends)


def _ending_flags(test: Region) -> list[Param]:
    """The carried flags of which each, when it is set, makes the condition false."""
    found: list[Param] = []
    waiting: list[Operand] = [test.results[0]]
    while waiting:
        value = waiting.pop()
        if not isinstance(value, Value):
            continue
        if value.op.name == "and":
            waiting += value.op.operands
        elif _negates(value.op):
            found += [param for param in test.params if param is value.op.operands[0]]
    return found


def _negates(op: Op) -> bool:
    """Whether the op is `not` of a bool, which a target may have written as `xor true`."""
    flips = op.name == "xor" and isinstance(op.operands[1], Const) and op.operands[1].value is True
    return op.name == "not" or flips


def _true_when_empty(loop: Op, value: Operand, counters: set[Value]) -> bool:
    """Whether a bool is true in every turn whose counter has reached a bound from outside the loop,
    or passed it.
    """
    if isinstance(value, Const):
        return bool(value.value)
    if not isinstance(value, Value):
        return False
    op = value.op
    if op.name == "if":
        ways = [region.results[value.index] for region in op.regions]
        known = _true_when_empty(loop, op.operands[0], counters)
        return all(_true_when_empty(loop, way, counters) for way in (ways[:1] if known else ways))
    if op.name in ("or", "and"):
        decide = any if op.name == "or" else all
        return decide(_true_when_empty(loop, part, counters) for part in op.operands)
    if op.name not in _REACHED:
        return False
    counter, bound = op.operands if _REACHED[op.name] else op.operands[::-1]
    inside = isinstance(bound, Value) and bound.op in {*_inner(loop)}
    carried = isinstance(bound, Param) and any(bound in region.params for region in loop.regions)
    return counter in counters and not inside and not carried


_REACHED = {"cmp_ge": True, "cmp_gt": True, "cmp_le": False, "cmp_lt": False}
"""The comparisons that say that their first operand has reached the second, or the other way."""


def _counts_up(op: Op) -> bool:
    if op.name != "atomic" or op.attrs.get("kind") != "add" or op.operands[2] is not None:
        return False
    step = op.operands[1]
    return isinstance(step, Const) and step.value > 0
