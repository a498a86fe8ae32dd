"""Which names a block binds, and which are still read after it: what control flow has to carry.

After `jumps.py` every block is left at its end, so liveness is one backward walk over the
statements, with a fixed point at each loop. What is found is written onto the nodes.

    if: `after`    names live after it          for, while: `head`   names live at the loop head
        `other`    names live into the else                 `after`  names live after the loop

A name that a nested function reads counts as live everywhere. Read by `rewrite.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..ir.recursion import Walk

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def uses(node: ast.AST) -> set[str]:
    """Every name that is read anywhere inside."""
    return {
        name.id
        for inner in ast.walk(node)
        for name in (inner.target if isinstance(inner, ast.AugAssign) else inner,)
        if isinstance(name, ast.Name)
        and (isinstance(inner, ast.AugAssign) or not isinstance(name.ctx, ast.Store))
    }


def _bound(waiting: list[ast.AST]) -> Iterator[str]:
    """The names that these nodes bind in their own scope."""
    while waiting:
        match waiting.pop():
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Lambda():
                pass
            case ast.Name(id=name, ctx=context):
                if not isinstance(context, ast.Load):
                    yield name
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() as node:
                walrus = (inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
                yield from (inner.target.id for inner in walrus)
            case node:
                waiting += ast.iter_child_nodes(node)


def _blocks(statement: ast.AST) -> list[ast.stmt]:
    """The statements inside an `if` or a loop."""
    if isinstance(statement, (ast.If, ast.For, ast.While)):
        return [*statement.body, *statement.orelse]
    return []


def note_bindings(body: Iterable[ast.stmt]) -> None:
    """Writes onto every statement, as `bound`, the names that it binds in its own scope."""
    order: list[Any] = []
    waiting = list(body)
    while waiting:
        order.append(waiting.pop())
        waiting += _blocks(order[-1])
    for statement in reversed(order):
        inner: list[Any] = [*_blocks(statement)]
        header = ("test", "target", "iter") if inner else ()
        own = [getattr(statement, name) for name in header if hasattr(statement, name)]
        names = set(_bound(own if inner else [statement]))
        statement.bound = frozenset(names.union(*(each.bound for each in inner)))


def bindings(block: Iterable[Any]) -> set[str]:
    """The names that noted statements bind."""
    return set().union(*(node.bound for node in block))


def likely(block: Iterable[ast.stmt]) -> set[str]:
    """The names bound outside the block's ifs: those that a run of a loop's body changes."""
    names: set[str] = set()
    waiting: list[Any] = list(block)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.For, ast.While)) or hasattr(node, "flags"):
            waiting += node.body
        elif not isinstance(node, ast.If):
            names |= node.bound
    return names


def captured(body: Iterable[ast.AST]) -> set[str]:
    """The names that functions defined inside read."""
    inner = (node for statement in body for node in ast.walk(statement))
    return {name for node in inner if isinstance(node, SCOPES) for name in uses(node)}


def defs(statement: ast.stmt) -> set[str]:
    """The names whose old value the statement makes unreadable."""
    match statement:
        case ast.Assign(targets=targets):
            stores: list[ast.AST] = list(targets)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            stores = [target]
        case ast.FunctionDef(name=name):
            return {name}
        case _:
            return set()
    return {
        node.id
        for target in stores
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


@dataclass
class Liveness:
    """Annotates the blocks of one function."""

    always: set[str] = field(default_factory=set)

    def block(self, block: list[ast.stmt], live: set[str]) -> Walk[set[str]]:
        """The names live before the block, given those live after it."""
        for statement in reversed(block):
            if isinstance(statement, ast.If):
                live = yield self.branches(statement, live)
            elif isinstance(statement, ast.For):
                live = (yield self.loop(statement, live)) | uses(statement.iter)
            elif isinstance(statement, ast.While):
                live = yield self.loop(statement, live)
            else:
                live = (live - defs(statement)) | uses(statement) | self.always
        return live

    def branches(self, statement: Any, live: set[str]) -> Walk[set[str]]:
        statement.after = live | self.always
        other = yield self.block(statement.orelse, live)
        statement.other = other | self.always
        then = yield self.block(statement.body, live)
        return then | other | uses(statement.test)  # type: ignore[no-any-return]

    def loop(self, statement: Any, live: set[str]) -> Walk[set[str]]:
        statement.after = live | self.always
        test = uses(statement.test) if isinstance(statement, ast.While) else set()
        head = live | test | set(statement.flags)
        while True:
            before = (yield self.block(statement.body, head)) | head
            if before == head:
                break
            head = before
        statement.head = head | self.always
        return head
