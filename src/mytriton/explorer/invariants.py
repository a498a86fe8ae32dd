"""What left a loop while the kernel was traced.

The builder puts a pure op as far out of the enclosing loops as its operands allow, so this
loop-invariant code motion is no pass. It is seen by comparison: an op whose kernel line stands in a
Python loop that became a loop of the IR, and which is not in that loop, was moved out of it.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import cache

from ..errors import Location
from ..ir.nodes import Function, Op, Region

Lines = frozenset[int]


def moved_out(function: Function) -> frozenset[Op]:
    """The ops of a traced function that stand outside a loop whose lines they came from."""
    loops = {(at.file, at.line) for op, _ in _nested(function.body) if op.row.is_loop
             for at in op.where[:1]}  # fmt: skip
    return frozenset(
        op
        for op, around in _nested(function.body)
        if not op.regions and any(_outside(at, loops, around) for at in op.where)
    )


def _nested(body: Region) -> Iterator[tuple[Op, frozenset[tuple[str, int]]]]:
    """Every op with the kernel lines of the loops around it."""
    stack: list[tuple[Region, frozenset[tuple[str, int]]]] = [(body, frozenset())]
    while stack:
        region, around = stack.pop()
        for op in region.ops:
            yield op, around
            own = {(at.file, at.line) for at in op.where[:1]} if op.row.is_loop else set()
            stack += [(inner, around | own) for inner in op.regions]


def _outside(at: Location, loops: set[tuple[str, int]], around: frozenset[tuple[str, int]]) -> bool:
    """Whether a loop of the IR has the line in its Python body, and is not around the op."""
    inside = {(at.file, first) for first, body in _loops(at.file) if at.line in body}
    return bool(inside & loops - around)


@cache
def _loops(file: str) -> tuple[tuple[int, range], ...]:
    """The loops of a file: the line of each head, and the lines of its body."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, RecursionError):
        return ()
    return tuple(
        (node.lineno, range(node.body[0].lineno, (node.body[-1].end_lineno or node.lineno) + 1))
        for node in ast.walk(tree)
        if isinstance(node, (ast.For, ast.While))
    )
