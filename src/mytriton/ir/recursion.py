"""Recursion without Python's stack: for walks over nested regions, which may be thousands deep.

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

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")
Walk = Generator["Walk[Any]", Any, Result]


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
