"""What a pass did to a function: how the lines of its result relate to those of the text before.

Passes keep the ops that they do not change, so an op of the result that was there before is
unchanged; only its region may be another. One that is not is paired with an op of the same name and
kernel lines that is gone: the same op on other operands. What is left is new, or gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..ir.nodes import Function, Op, Operand, Region, Value
from ..ir.text import OpLine


@dataclass(frozen=True)
class Change:
    """A line of the result with its op and mark; see `Column.marks`."""

    line: str
    op: Op | None
    mark: str = ""


def changes(
    before: Function, after: Function, old: Sequence[OpLine], new: Sequence[OpLine]
) -> list[Change]:
    """The lines of `after` (`new`) with their marks; those of `before` (`old`) that have no
    counterpart stand among them, where they stood."""
    pairs = matched(before, after)
    was, now = dict(_owners(before.body, None)), dict(_owners(after.body, None))
    gone = _gone(old, pairs)
    result = [Change(*gone_line) for gone_line in gone.pop(None, ())]
    last = {op: at for at, (_, op) in enumerate(new) if op is not None}
    for at, (line, op) in enumerate(new):
        result.append(Change(line, op, _mark(op, pairs, was, now)))
        if op is not None and last[op] == at:
            result += [Change(*gone_line) for gone_line in gone.get(pairs.get(op), ())]
    return result


def matched(before: Function, after: Function) -> dict[Op, Op]:
    """For each op of the result that has one, its counterpart in the function before."""
    olds = dict.fromkeys(op for op, _ in _owners(before.body, None))
    news = [op for op, _ in _owners(after.body, None)]
    pairs = {op: op for op in news if op in olds}
    free: dict[object, list[Op]] = {}
    for op in reversed(olds):
        if op not in pairs:
            free.setdefault((op.name, op.where), []).append(op)
    for op in news:
        candidates = free.get((op.name, op.where))
        if op not in pairs and candidates:
            pairs[op] = candidates.pop()
    return pairs


def _owners(region: Region, owner: Op | None) -> Iterator[tuple[Op, Op | None]]:
    """Every op with the op whose region it is in."""
    stack = [(region, owner)]
    while stack:
        inside, around = stack.pop()
        for op in inside.ops:
            yield op, around
            stack += [(inner, op) for inner in reversed(op.regions)]


def _mark(
    op: Op | None, pairs: dict[Op, Op], was: dict[Op, Op | None], now: dict[Op, Op | None]
) -> str:
    if op is None:
        return ""
    old = pairs.get(op)
    if old is None:
        return "new"
    around = now[op]
    if (None if around is None else pairs.get(around, around)) is not was[old]:
        return "moved"
    same = op.attrs == old.attrs and len(op.operands) == len(old.operands)
    same = same and all(_same(new, was, pairs) for new, was in zip(op.operands, old.operands))
    return "" if old is op or same else "operands"


def _same(new: Operand, old: Operand, pairs: dict[Op, Op]) -> bool:
    """Whether an operand is what it was, or the counterpart of that."""
    if isinstance(new, Value) and isinstance(old, Value):
        return pairs.get(new.op) is old.op and new.index == old.index
    return new is old or new == old


def _gone(
    old: Sequence[OpLine], pairs: dict[Op, Op]
) -> dict[Op | None, list[tuple[str, Op | None, str]]]:
    """The lines of ops without a counterpart, by the op before them that has one."""
    kept, anchor = set(pairs.values()), None
    found: dict[Op | None, list[tuple[str, Op | None, str]]] = {}
    for line, op in old:
        if op in kept:
            anchor = op
        elif op is not None:
            found.setdefault(anchor, []).append((line, op, "gone"))
    return found
