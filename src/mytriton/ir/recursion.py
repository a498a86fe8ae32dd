"""Recursion without Python's stack, for walks over trees and regions thousands of levels deep.

A chain of a thousand `elif` is a thousand nested `if` ops, more than Python's recursion limit. A
walk over them is written as a recursive function all the same, but as a generator: it yields the
call that it needs made, and is sent what that returns (a trampoline).

    def depth(region: Region) -> Walk[int]:
        deepest = 0
        for op in region.ops:
            for inner in op.regions:
                deepest = max(deepest, 1 + (yield depth(inner)))
        return deepest

    run(depth(function.body))
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import Any, TypeVar

Result = TypeVar("Result")
Walk = Generator["Walk[Any]", Any, Result]
DEEPEST = 20_000
"""How deep Python itself may recurse where a call is made `deeply`."""


def run(walk: Walk[Result]) -> Result:
    """What the walk returns, its calls made on a list instead of Python's stack."""
    stack: list[Walk[Any]] = [walk]
    value: Any = None
    while stack:
        try:
            call = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
        else:
            stack.append(call)
            value = None
    result: Result = value
    return result


def done(result: Result) -> Walk[Result]:
    """A walk that calls nothing, where one is asked for."""
    yield from ()
    return result


def deeply(call: Callable[[], Result]) -> Result:
    """Makes a call that recurses over a tree on Python's own stack: `compile`, `ast.parse`, or a
    lowering that emits a region inside a region.

    The limit on Python's calls is raised where it does not do; the call is then made again.
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
