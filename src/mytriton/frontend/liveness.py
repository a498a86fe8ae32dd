"""Which names a block binds, and which are still read after it: what control flow has to carry.

One idea: after `jumps.py` every block is left at its end, so liveness is one backward walk over the
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

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def loads(node: ast.AST) -> set[str]:
    """Every name that is read anywhere inside."""
    return {
        name.id
        for inner in ast.walk(node)
        for name in (inner.target if isinstance(inner, ast.AugAssign) else inner,)
        if isinstance(name, ast.Name)
        and (isinstance(inner, ast.AugAssign) or not isinstance(name.ctx, ast.Store))
    }


def bound(node: ast.AST) -> Iterator[str]:
    """The names a statement or expression binds in its own scope."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return
        case ast.Lambda():
            return
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
    if isinstance(node, COMPREHENSIONS):
        walrus = (inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
        yield from (inner.target.id for inner in walrus)
        return
    for child in ast.iter_child_nodes(node):
        yield from bound(child)


def bindings(block: Iterable[ast.AST]) -> set[str]:
    return {name for node in block for name in bound(node)}


def likely(block: Iterable[ast.stmt]) -> set[str]:
    """The names bound outside the block's ifs: those that a run of a loop's body changes."""
    names: set[str] = set()
    for node in block:
        if isinstance(node, (ast.For, ast.While)) or hasattr(node, "flags"):
            names |= likely(node.body)  # type: ignore[attr-defined]
        elif not isinstance(node, ast.If):
            names |= bindings([node])
    return names


def captured(body: Iterable[ast.AST]) -> set[str]:
    """The names that functions defined inside read."""
    inner = (node for statement in body for node in ast.walk(statement))
    return {name for node in inner if isinstance(node, SCOPES) for name in loads(node)}


def killed(statement: ast.stmt) -> set[str]:
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

    def block(self, block: list[ast.stmt], live: set[str]) -> set[str]:
        """The names live before the block, given those live after it."""
        for statement in reversed(block):
            live = self.statement(statement, live)
        return live

    def statement(self, statement: Any, live: set[str]) -> set[str]:
        if isinstance(statement, ast.If):
            return self.branches(statement, live)
        if isinstance(statement, ast.For):
            return self.loop(statement, live) | loads(statement.iter)
        if isinstance(statement, ast.While):
            return self.loop(statement, live)
        return (live - killed(statement)) | loads(statement) | self.always

    def branches(self, statement: Any, live: set[str]) -> set[str]:
        statement.after = live | self.always
        other = self.block(statement.orelse, live)
        statement.other = other | self.always
        return self.block(statement.body, live) | other | loads(statement.test)

    def loop(self, statement: Any, live: set[str]) -> set[str]:
        statement.after = live | self.always
        test = loads(statement.test) if isinstance(statement, ast.While) else set()
        head = live | test | set(statement.flags)
        while True:
            before = self.block(statement.body, head) | head
            if before == head:
                break
            head = before
        statement.head = head | self.always
        return head
