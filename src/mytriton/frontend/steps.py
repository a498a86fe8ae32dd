"""Recursive walks over trees of any depth.

A walk is written as a generator: where it would call itself, it yields the walk of the child and
is sent its result. `walk` drives it with a stack of its own, so a chain of a thousand `elif` arms,
or a sum of thousands of terms, which are trees as deep, do not reach Python's recursion limit.

    def depth(node):                            walk(depth(tree))
        inner = [(yield depth(child)) for child in node.children]
        return 1 + max(inner, default=0)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import Any, TypeVar

R = TypeVar("R")
DEEPEST = 20_000
"""How deep Python itself may recurse over a tree."""
Steps = Generator[Any, Any, R]
"""A walk with a result; it yields the walks of children."""


def walk(steps: Steps[R]) -> R:
    """The result of a walk."""
    stack: list[Steps[Any]] = [steps]
    value: Any = None
    while True:
        try:
            child = stack[-1].send(value)
        except StopIteration as done:
            stack.pop()
            value = done.value
            if not stack:
                result: R = value
                return result
        else:
            stack.append(child)
            value = None


def deeply(call: Callable[[], R]) -> R:
    """The call of one of Python's own walks over a tree, which recurse: `compile`, `ast.parse`.

    Until Python 3.12 these count against the limit of Python's own calls; it is raised for this
    call where it does not do.
    """
    try:
        return call()
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEPEST))
        try:
            return call()
        finally:
            sys.setrecursionlimit(limit)
