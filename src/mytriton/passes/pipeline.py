"""What is done to a traced function before a target gets it.

`PASSES` is the table of contents of this package. Every pass takes and gives a function with
regions and keeps its meaning; with MYTRITON_CHECK=1 the verifier runs after each and names the pass
whose result it refuses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..ir.check import check
from ..ir.nodes import Function
from .dead_code import drop_dead
from .hoist import hoist
from .order import order
from .rebuild import Applied, recording_rules
from .simplify import simplify

Pass = Callable[[Function], Function]

PASSES: tuple[Pass, ...] = (simplify, drop_dead, hoist, order)


def optimize(function: Function) -> Function:
    """The function that targets compile."""
    checking = os.environ.get("MYTRITON_CHECK") == "1"
    for step in PASSES:
        function = step(function)
        if checking:
            check(function, f"after {step.__name__}")
    return function


@dataclass(frozen=True)
class Step:
    """What a pass did: its name, the rules that it applied, and its result."""

    name: str
    applied: tuple[Applied, ...]
    function: Function


def explain(function: Function) -> Iterator[Step]:
    """What each pass does to a traced function, in order."""
    for step in PASSES:
        with recording_rules() as applied:
            function = step(function)
        yield Step(step.__name__, tuple(applied), function)
