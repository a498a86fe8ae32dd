"""Spinning: which loops may wait until another program writes.

Such a loop gives way to other programs on targets that run several on one thread, and it acquires
and releases (`dependence`). One that only takes work from a queue ends by itself.
"""

from __future__ import annotations

from ..ir.effects import accesses_memory, is_sync_point
from ..ir.nodes import Const, Op, Operand, Param, Value, walk


def may_spin(op: Op) -> bool:
    """Whether the op is a loop that may wait for another program: what its condition depends on
    comes from memory, in the condition itself or from an iteration in which programs meet.

    A work queue waits for nobody: its condition compares a counter that each turn adds to, so the
    loop ends whatever the other programs do.
    """
    if op.name != "while":
        return False
    if any(map(accesses_memory, walk(op.regions[0]))):
        return True
    read = [inner for inner in _decides(op) if accesses_memory(inner)]
    meets = any(is_sync_point(inner) for inner in walk(op.regions[1]))
    return meets and bool(read) and not _takes_from_queue(op, read)


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


def _counts_up(op: Op) -> bool:
    if op.name != "atomic" or op.attrs.get("kind") != "add" or op.operands[2] is not None:
        return False
    step = op.operands[1]
    return isinstance(step, Const) and step.value > 0
